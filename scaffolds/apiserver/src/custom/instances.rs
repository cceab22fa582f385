//! Deletes the objects of a definition that is being deleted.

use super::resources;
use crate::{
    call::{Call, Verb},
    meta,
    registry::{DeleteOptions, direct},
    release::AGENT,
    state::Core,
    store::{Key, Range},
};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

/// Deletes the objects of `crd`, and returns whether none is left, as finalizers may keep some. As upstream, no webhook and no
/// policy is called. An object that a webhook would convert is changed as it is stored. `emptied` is the revision up to which an
/// earlier call did this: only later changes are processed then, as of an object whose creation was admitted before.
pub(super) fn delete(core: &Core, crd: &Value, emptied: &mut Option<u64>) -> bool {
    let Some(resource) = resources::stored(core, crd).map(Arc::new) else {
        return true;
    };
    let (stored, now) = (resource.store_name(), core.store.revision());
    let changes = emptied.and_then(|revision| core.store.since(&stored, revision).ok());
    let keys: BTreeSet<Key> = match changes {
        Some(changes) => changes.iter().map(|change| change.record.key.clone()).collect(),
        None => core
            .store
            .all(&stored, "")
            .iter()
            .map(|record| record.key.clone())
            .collect(),
    };
    for key in keys.into_iter().filter(|key| stays(core, key)) {
        let call = Call {
            namespace: key.namespace,
            name: key.name,
            ..Call::by_server(AGENT, Verb::Delete, Arc::clone(&resource))
        };
        // An object that cannot be deleted keeps the definition.
        drop(direct::delete(core, &call, &DeleteOptions::default()));
    }
    *emptied = Some(now);
    // Cannot fail: the present revision is never compacted.
    let first = core.store.list(&Range::new(&stored, ""), None, None, 1);
    first.is_ok_and(|page| page.records.is_empty())
}

/// Whether an object exists and is not being deleted.
fn stays(core: &Core, key: &Key) -> bool {
    let record = core.store.get(key);
    record.is_some_and(|record| !meta::is_deleting(&record.value()))
}
