//! Parts of an operator besides its controllers, for crates that add such a part, as `kubewright-webhooks` adds webhooks and policies. An
//! operator's own code does not need this module.
//!
//! A part is a [`Component`]: the manager keeps one of each type ([`Manager::component`](crate::Manager::component)), `make manifests`
//! writes what it declares, and the operator runs it on every replica.

pub use crate::{
    informer::decode::{NOT_CONVERTIBLE, unconverted},
    isolate::{Authored, Panic, isolated_future},
    kind::KindId,
    manager::{Component, ComponentManifests, Drain, ManifestFolder, Process, StorageVersion},
};

/// Certificates that the operator makes and renews for one of its servers, and the objects that name their authorities.
pub mod certificates {
    pub use crate::certificates::{
        Affixes, CONFIGURATIONS, CertificateStatus, Configured, Converting, Keeper, Lifetimes, RenewalTiming,
        ServerIdentity, Settings, WebhookAddress, keep,
    };
    #[cfg(feature = "testing")]
    #[doc(hidden)] // For the tests of components.
    pub use crate::certificates::{REVISION, State, empty_review, secret};
}

/// A server for API servers, with limits of connections, sizes, times and memory.
pub mod http {
    #[cfg(feature = "testing")]
    #[doc(hidden)] // For the tests of components.
    pub use crate::server::serve_without_tls;
    pub use crate::server::{
        Answer, AnswerBody, Handler, Held, Identity, Question, Reserved, Share, serve_api_servers, text,
    };
}
