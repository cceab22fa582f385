//! The etcd keys of the real server, which some answers quote.

use super::work::Work;
use crate::{resource::Resource, status::Status, store::Key};

/// The key that the real server uses for an object. Some resources have older names there; the keys of custom kinds and
/// CustomResourceDefinitions contain the group.
pub fn quoted(resource: &Resource, key: &Key) -> String {
    let plural = resource.names.plural.as_str();
    let directory = match resource.rules().etcd_directory {
        Some(directory) => directory.to_owned(),
        None if resource.rules().is_built_in => plural.to_owned(),
        None => format!("{}/{plural}", resource.group),
    };
    match key.namespace.as_str() {
        "" => format!("/registry/{directory}/{}", key.name),
        namespace => format!("/registry/{directory}/{namespace}/{}", key.name),
    }
}

/// 409 for an object that is not the one that a request means; `failed` says what differs.
pub fn failed_precondition(work: &Work, name: &str, failed: &str) -> Status {
    let key = quoted(work.resource(), &work.key(name));
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: \
         {failed}"
    );
    Status::conflict(work.subject(), name, &why)
}
