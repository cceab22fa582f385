//! What the garbage collector writes into objects: owners that it takes away, and its finalizers.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    act,
    graph::{Node, Object},
};
use crate::{effects::Cluster, meta, state::Core, status::Status, store::Record};

/// How often a change is tried when others write the same object.
const TRIES: usize = 16;

/// The record of an object as it is now, if it is still that one.
pub(super) fn current(core: &Core, node: &Node) -> Option<Arc<Record>> {
    let record = core.store.get(&node.record.key)?;
    let is_same = record.revision == node.record.revision
        || Object::of(&record).is_some_and(|object| object.metadata.uid == *node.uid);
    is_same.then_some(record)
}

/// Takes all owners away that are not to be kept.
///
/// # Errors
/// What the write was refused with.
pub(super) async fn keep_owners(
    cluster: &Arc<Cluster>,
    node: &Node,
    kept: &(dyn Fn(&str) -> bool + Sync),
) -> Result<(), Status> {
    let left = |object: &Value| {
        let references = meta::of(object).get("ownerReferences").and_then(Value::as_array);
        let owner = |reference: &&Value| kept(reference.get("uid").and_then(Value::as_str).unwrap_or_default());
        let left: Vec<&Value> = references.into_iter().flatten().filter(owner).collect();
        ("ownerReferences", json!(left))
    };
    change(cluster, node, &left).await
}

/// Takes a finalizer away.
///
/// # Errors
/// What the write was refused with.
pub(super) async fn remove_finalizer(cluster: &Arc<Cluster>, node: &Node, finalizer: &str) -> Result<(), Status> {
    let left = |object: &Value| {
        let all = meta::texts(object, "finalizers").into_iter();
        let left: Vec<&str> = all.filter(|it| *it != finalizer).collect();
        ("finalizers", json!(left))
    };
    change(cluster, node, &left).await
}

/// The name of a list of the metadata and what it is to be, from the object as it is.
type List<'l> = dyn Fn(&Value) -> (&'static str, Value) + Sync + 'l;

/// Writes a list of the metadata, made from the object as it is now, and once more when another writer came first. An
/// empty list is taken away.
async fn change(cluster: &Arc<Cluster>, node: &Node, list: &List<'_>) -> Result<(), Status> {
    let mut last = Ok(());
    for _ in 0..TRIES {
        let Some(record) = current(&cluster.core, node) else {
            return Ok(());
        };
        let object: Value = serde_json::from_slice(&record.object).unwrap_or_default();
        let (field, mut left) = list(&object);
        if left.as_array().is_some_and(Vec::is_empty) {
            left = Value::Null;
        }
        let mut patch = json!({"metadata": {"uid": &*node.uid, "resourceVersion": record.revision.to_string()}});
        patch["metadata"][field] = left;
        match act::merge(cluster, &record.key, &patch).await {
            // Another came first, it is gone, or its kind is not served now: the next try tells.
            Err(status) if [404, 409].contains(&status.code) => last = Err(status),
            other => return other.map(|_| ()),
        }
    }
    last
}
