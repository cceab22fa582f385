//! The writes of controllers, as requests that a client could send.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::{
    actions::Action,
    call::{Call, Verb},
    effects::Cluster,
    registry::Reply,
    resource::Resource,
    state::Core,
    status::Status,
    store::{Key, Record},
};

/// The user agent of the writes, from which managedFields take the manager.
pub(super) const MANAGER: &str = "kube-controller-manager";

/// Whether an object has changed since it was read, or is gone: that change is in the feed. A refused write may have any code, as
/// webhooks choose it.
pub(super) fn has_changed(core: &Core, record: &Record) -> bool {
    let now = core.store.get(&record.key);
    now.is_none_or(|now| now.revision != record.revision)
}

/// The present object of a key.
pub(super) fn object(core: &Core, key: &Key) -> Option<Value> {
    let record = core.store.get(key)?;
    record.read().ok()
}

/// The resource of a key, in the storage version; `None` while it is not served.
pub(super) fn resource(core: &Core, stored: &str) -> Option<Arc<Resource>> {
    core.catalogue.snapshot().stored(stored).cloned()
}

/// DELETE with these options.
pub(super) async fn delete(cluster: &Arc<Cluster>, key: &Key, options: &Value) -> Result<Reply, Status> {
    let call = call(&cluster.core, Verb::Delete, key, options)?;
    send(cluster, call, "application/json").await
}

/// PATCH with a merge patch.
pub(super) async fn merge(cluster: &Arc<Cluster>, key: &Key, patch: &Value) -> Result<Reply, Status> {
    let call = call(&cluster.core, Verb::Patch, key, patch)?;
    send(cluster, call, "application/merge-patch+json").await
}

/// PATCH that applies an object by force as this field manager.
pub(super) async fn apply(cluster: &Arc<Cluster>, key: &Key, manager: &str, object: &Value) -> Result<Reply, Status> {
    let call = applied(&cluster.core, key, manager, object)?;
    send(cluster, call, "application/apply-patch+yaml").await
}

/// Like [`apply`], of the status.
pub(super) async fn apply_status(
    cluster: &Arc<Cluster>,
    key: &Key,
    manager: &str,
    object: &Value,
) -> Result<Reply, Status> {
    let mut call = applied(&cluster.core, key, manager, object)?;
    "status".clone_into(&mut call.subresource);
    send(cluster, call, "application/apply-patch+yaml").await
}

fn applied(core: &Core, key: &Key, manager: &str, object: &Value) -> Result<Call, Status> {
    let mut call = call(core, Verb::Patch, key, object)?;
    call.query = [("fieldManager", manager), ("force", "true")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    Ok(call)
}

/// PUT of a subresource.
pub(super) async fn put(cluster: &Arc<Cluster>, key: &Key, subresource: &str, object: &Value) -> Result<Reply, Status> {
    let mut call = call(&cluster.core, Verb::Update, key, object)?;
    subresource.clone_into(&mut call.subresource);
    send(cluster, call, "application/json").await
}

/// POST of an object into the namespace of `key`.
pub(super) async fn post(cluster: &Arc<Cluster>, key: &Key, object: &Value) -> Result<Reply, Status> {
    let call = call(&cluster.core, Verb::Create, key, object)?;
    send(cluster, call, "application/json").await
}

/// POST of a Binding, which assigns the Pod of `key` to a node.
pub(super) async fn bind(cluster: &Arc<Cluster>, key: &Key, node: &str) -> Result<(), Status> {
    let binding = json!({"metadata": {"name": key.name}, "target": {"kind": "Node", "name": node}});
    let mut call = call(&cluster.core, Verb::Create, key, &binding)?;
    key.name.clone_into(&mut call.name);
    "binding".clone_into(&mut call.subresource);
    "application/json".clone_into(&mut call.content_type);
    Action::Bind.run(cluster, call, &mut Vec::new()).await?;
    Ok(())
}

async fn send(cluster: &Arc<Cluster>, mut call: Call, content_type: &str) -> Result<Reply, Status> {
    content_type.clone_into(&mut call.content_type);
    cluster.write(call, &mut Vec::new()).await
}

/// A request about the object of a key; its body is yet without a content type.
fn call(core: &Core, verb: Verb, key: &Key, body: &Value) -> Result<Call, Status> {
    let resource = resource(core, &key.resource).ok_or_else(Status::no_such_resource)?;
    let name = if verb == Verb::Create { "" } else { &key.name };
    Ok(Call {
        namespace: key.namespace.clone(),
        name: name.to_owned(),
        body: Bytes::from(body.to_string()),
        ..Call::by_server(MANAGER, verb, resource)
    })
}
