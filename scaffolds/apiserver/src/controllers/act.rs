//! What controllers do, each a request as a client would send it.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::{
    auth::User,
    registry::{self, Call, Reply, Verb},
    resource::Resource,
    server::Core,
    status::Status,
    store::Key,
};

/// Who writes, by the user agent: the manager that managedFields name.
pub(super) const MANAGER: &str = "kube-controller-manager";

/// The resource of a key, in the version that the store keeps; `None` while it is not served.
pub(super) fn resource(core: &Core, stored: &str) -> Option<Arc<Resource>> {
    core.catalogue.snapshot().stored(stored).cloned()
}

/// DELETE with these options.
pub(super) fn delete(core: &Core, key: &Key, options: &Value) -> Result<Reply, Status> {
    send(core, (Verb::Delete, "", "application/json"), key, options)
}

/// PATCH with a merge patch.
pub(super) fn merge(core: &Core, key: &Key, patch: &Value) -> Result<Reply, Status> {
    send(core, (Verb::Patch, "", "application/merge-patch+json"), key, patch)
}

/// PATCH that applies an object by force, in the name of a manager.
pub(super) fn apply(core: &Core, key: &Key, manager: &str, object: &Value) -> Result<Reply, Status> {
    let mut call = call(core, (Verb::Patch, "", "application/apply-patch+yaml"), key, object)?;
    call.query = [("fieldManager", manager), ("force", "true")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    registry::serve_write(core, &call, &mut Vec::new())
}

/// PUT of a subresource.
pub(super) fn put(core: &Core, (key, subresource): (&Key, &str), object: &Value) -> Result<Reply, Status> {
    send(core, (Verb::Update, subresource, "application/json"), key, object)
}

/// POST of an object into the namespace of the key.
pub(super) fn post(core: &Core, key: &Key, object: &Value) -> Result<Reply, Status> {
    send(core, (Verb::Create, "", "application/json"), key, object)
}

fn send(core: &Core, how: (Verb, &str, &str), key: &Key, body: &Value) -> Result<Reply, Status> {
    registry::serve_write(core, &call(core, how, key, body)?, &mut Vec::new())
}

fn call(
    core: &Core,
    (verb, subresource, content_type): (Verb, &str, &str),
    key: &Key,
    body: &Value,
) -> Result<Call, Status> {
    let resource = resource(core, &key.resource).ok_or_else(Status::no_such_resource)?;
    Ok(Call {
        verb,
        resource,
        namespace: key.namespace.clone(),
        name: if verb == Verb::Create {
            String::new()
        } else {
            key.name.clone()
        },
        subresource: subresource.to_owned(),
        query: Vec::new(),
        content_type: content_type.to_owned(),
        user_agent: MANAGER.to_owned(),
        body: Bytes::from(body.to_string()),
        user: User::admin(),
    })
}
