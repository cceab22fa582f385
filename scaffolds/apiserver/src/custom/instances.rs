//! Deletes the objects of a definition that is being deleted.

use super::resources;
use crate::{
    call::{Call, Verb},
    meta, registry,
    release::AGENT,
    resource::Resource,
    state::Core,
    store::{ChangeKind, Key, Range},
};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

/// Deletes the objects of `crd`. Returns false while finalizers keep some of them. `emptied` is the revision up to
/// which an earlier call did this: only later changes are processed then.
pub(super) async fn delete(core: &Core, crd: &Value, emptied: &mut Option<u64>) -> bool {
    let Some(resource) = resources::stored(core, crd).map(Arc::new) else {
        return true;
    };
    let stored = resource.store_name();
    let now = core.store.revision();
    let changes = emptied.and_then(|emptied| core.store.since(&stored, emptied).ok());
    match changes {
        Some(changes) => {
            let keys: BTreeSet<(&str, &str)> = changes
                .iter()
                .filter(|change| change.kind != ChangeKind::Deleted)
                .map(|change| (change.record.key.namespace.as_str(), change.record.key.name.as_str()))
                .collect();
            for (namespace, name) in keys {
                delete_one(core, &resource, namespace, name).await;
            }
        }
        None => delete_all(core, &resource).await,
    }
    *emptied = Some(now);
    let one = core.store.list(&Range::new(&stored, ""), None, None, 1);
    one.is_ok_and(|page| page.records.is_empty())
}

async fn delete_all(core: &Core, resource: &Arc<Resource>) {
    // Cannot fail: the present revision is never compacted.
    let all = core.store.list(&Range::new(&resource.store_name(), ""), None, None, 0);
    let records = all.into_iter().flat_map(|page| page.records);
    let namespaces: BTreeSet<String> = records.map(|record| record.key.namespace.clone()).collect();
    for namespace in namespaces {
        let call = Call::by_server(AGENT, Verb::DeleteCollection, Arc::clone(resource));
        perform(core, &Call { namespace, ..call }).await;
    }
}

/// Deletes an object that was created or changed during the deletion, unless its own deletion has begun.
async fn delete_one(core: &Core, resource: &Arc<Resource>, namespace: &str, name: &str) {
    let record = core.store.get(&Key::new(&resource.store_name(), namespace, name));
    let object = record.and_then(|record| serde_json::from_slice::<Value>(&record.object).ok());
    if object.is_some_and(|object| !meta::is_deleting(&object)) {
        let call = Call {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..Call::by_server(AGENT, Verb::Delete, Arc::clone(resource))
        };
        perform(core, &call).await;
    }
}

async fn perform(core: &Core, call: &Call) {
    // An object that cannot be deleted now remains, and the caller finds it afterwards.
    _ = registry::write(core, call, &mut Vec::new()).await;
}
