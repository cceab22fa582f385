//! The garbage collector's changes of objects: it removes owner references and its own finalizers.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    act,
    graph::{Node, OwnedObject},
};
use crate::{effects::Cluster, meta, state::Core, status::Status, store::Record};

/// The number of attempts of a change while other writers change the same object.
const TRIES: usize = 16;

/// The present record of an object, if the object still has the same uid.
pub(super) fn current(core: &Core, node: &Node) -> Option<Arc<Record>> {
    let record = core.store.get(&node.record.key)?;
    let is_same = record.revision == node.record.revision
        || OwnedObject::of(&record).is_some_and(|object| object.metadata.uid == *node.uid);
    is_same.then_some(record)
}

/// Removes all owner references that are not to be kept.
///
/// # Errors
/// The Status of the refused write.
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

/// Changes all owner references so that the deletion of no owner waits for the object.
///
/// # Errors
/// The Status of the refused write.
pub(super) async fn unblock_owners(cluster: &Arc<Cluster>, node: &Node) -> Result<(), Status> {
    let unblocked = |object: &Value| {
        let mut references = meta::of(object).get("ownerReferences").cloned().unwrap_or_default();
        for reference in references.as_array_mut().into_iter().flatten() {
            reference["blockOwnerDeletion"] = json!(false);
        }
        ("ownerReferences", references)
    };
    change(cluster, node, &unblocked).await
}

/// Removes a finalizer.
///
/// # Errors
/// The Status of the refused write.
pub(super) async fn remove_finalizer(cluster: &Arc<Cluster>, node: &Node, finalizer: &str) -> Result<(), Status> {
    let left = |object: &Value| {
        let all = meta::texts(object, "finalizers").into_iter();
        let left: Vec<&str> = all.filter(|it| *it != finalizer).collect();
        ("finalizers", json!(left))
    };
    change(cluster, node, &left).await
}

/// Computes the name and next value of a list in the metadata from the present object.
type List<'l> = dyn Fn(&Value) -> (&'static str, Value) + Sync + 'l;

/// Writes a list in the metadata, computed from the present object; tries again when another writer came first. An
/// empty list is removed.
async fn change(cluster: &Arc<Cluster>, node: &Node, list: &List<'_>) -> Result<(), Status> {
    let mut last = Ok(());
    for _ in 0..TRIES {
        let Some(record) = current(&cluster.core, node) else {
            return Ok(());
        };
        let object = record.value();
        let (field, mut left) = list(&object);
        if left.as_array().is_some_and(Vec::is_empty) {
            left = Value::Null;
        }
        let mut patch = json!({"metadata": {"uid": &*node.uid, "resourceVersion": record.revision.to_string()}});
        patch["metadata"][field] = left;
        match act::merge(cluster, &record.key, &patch).await {
            Err(status) if act::has_changed(&cluster.core, &record) => last = Err(status),
            other => return other.map(|_| ()),
        }
    }
    last
}
