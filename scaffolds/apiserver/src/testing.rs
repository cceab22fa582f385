//! Functions for the tests of this workspace, beyond the public API (feature `testing`). It may change with any release.

pub use crate::{
    request::body::LIMIT,
    resource::Resource,
    select::{FieldSelector, LabelSelector},
    status::Status,
    strategy::{Empties, Strategy},
};

/// Plugins of admission.
pub mod admission {
    pub use crate::admission::tolerate;
}

/// Server-side apply.
pub mod apply {
    pub use kubewright_schema::typed::Schema;

    pub use crate::apply::{Error, Writer, apply, keep_times, scale_entries, scaled_entries, update};
}

/// Certificates for servers of tests.
#[cfg(feature = "serve")]
pub mod certificates {
    pub use crate::serve::{
        certificate::{Authority, Issued},
        kubeconfig::pem,
    };
}

/// Reads JSON as the API server does.
pub mod json {
    pub use crate::json::{DEPTH, read};
}

/// The built-in kinds.
pub mod kinds {
    pub use crate::kinds::{name_of_kind, openapi_schema, resources};
}

/// OpenAPI documents in Protobuf.
pub mod openapi {
    pub use crate::openapi::{V2, V3, Version};
}

/// The patches that are no apply.
pub mod patch {
    pub use crate::patch::{Patched, json, merge, strategic};
}

/// Objects in Protobuf.
pub mod protobuf {
    pub use crate::kinds::protobuf::{MEDIA_TYPE, read, read_events};
}

/// The store, and what it hands out.
pub mod store {
    pub use crate::store::{Change, ChangeKind, HISTORY, HISTORY_BYTES, Key, Range, Store};
}

/// The kubelet that runs nothing, to drive Pods of another server.
pub mod kubelet {
    pub use crate::controllers::workloads::{Decision, Written, play, provisioned};
}

/// Reads YAML as the API server does.
pub mod yaml {
    pub use crate::request::yaml::read;
}
