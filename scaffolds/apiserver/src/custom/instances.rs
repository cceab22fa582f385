//! Deletes the objects of a definition that is being deleted.

use super::resources;
use crate::{
    call::{Call, Verb},
    meta, registry,
    release::AGENT,
    resource::Resource,
    state::Core,
    store::{Key, Range},
};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

/// Whether objects of `crd` exist.
pub(super) fn exist(core: &Core, crd: &Value) -> bool {
    let Some(resource) = resources::stored(core, crd) else {
        return false;
    };
    let one = core.store.list(&Range::new(&resource.store_name(), ""), None, None, 1);
    one.is_ok_and(|page| !page.records.is_empty())
}

/// Whether [`delete`] has objects to delete.
pub(super) fn are_pending(core: &Core, crd: &Value, emptied: Option<u64>) -> bool {
    let resource = resources::stored(core, crd);
    match resource.and_then(|resource| changed(core, &resource.store_name(), emptied)) {
        Some(changed) => !changed.is_empty(),
        None => exist(core, crd),
    }
}

/// Deletes the objects of `crd`. `emptied` is the revision up to which an earlier call did this: only later changes are
/// processed then. Returns the revision up to which objects were deleted; `None` if a deletion was refused.
pub(super) async fn delete(core: &Core, crd: &Value, emptied: Option<u64>) -> Option<u64> {
    let now = core.store.revision();
    let Some(resource) = resources::stored(core, crd).map(Arc::new) else {
        return Some(now);
    };
    let are_deleted = match changed(core, &resource.store_name(), emptied) {
        Some(keys) => {
            let mut are_deleted = true;
            for key in keys {
                are_deleted &= delete_one(core, &resource, key).await;
            }
            are_deleted
        }
        None => delete_all(core, &resource).await,
    };
    are_deleted.then_some(now)
}

/// The objects that were created or changed since an earlier call and are not being deleted; `None` if all objects are to be
/// deleted.
fn changed(core: &Core, stored: &str, emptied: Option<u64>) -> Option<BTreeSet<Key>> {
    let changes = core.store.since(stored, emptied?).ok()?;
    let keys = changes.iter().map(|change| &change.record.key);
    let stays = |key: &&Key| {
        let record = core.store.get(key);
        let object = record.and_then(|record| serde_json::from_slice::<Value>(&record.object).ok());
        object.is_some_and(|object| !meta::is_deleting(&object))
    };
    Some(keys.filter(stays).cloned().collect())
}

async fn delete_all(core: &Core, resource: &Arc<Resource>) -> bool {
    // Cannot fail: the present revision is never compacted.
    let all = core.store.list(&Range::new(&resource.store_name(), ""), None, None, 0);
    let records = all.into_iter().flat_map(|page| page.records);
    let namespaces: BTreeSet<String> = records.map(|record| record.key.namespace.clone()).collect();
    let mut are_deleted = true;
    for namespace in namespaces {
        let call = Call::by_server(AGENT, Verb::DeleteCollection, Arc::clone(resource));
        are_deleted &= perform(core, &Call { namespace, ..call }).await;
    }
    are_deleted
}

async fn delete_one(core: &Core, resource: &Arc<Resource>, key: Key) -> bool {
    let call = Call {
        namespace: key.namespace,
        name: key.name,
        ..Call::by_server(AGENT, Verb::Delete, Arc::clone(resource))
    };
    perform(core, &call).await
}

/// Whether the deletion was not refused.
async fn perform(core: &Core, call: &Call) -> bool {
    let done = registry::write(core, call, &mut Vec::new()).await;
    !done.is_err_and(|status| status.code != 404)
}
