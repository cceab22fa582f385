//! Deletes the objects of a definition that is being deleted.

use super::resources;
use crate::{
    call::{Call, Verb},
    meta,
    registry::{DeleteOptions, direct},
    release::AGENT,
    state::Core,
    store::{Range, Record},
};
use serde_json::Value;
use std::sync::Arc;

/// Deletes the objects of `crd`, and returns whether none is left, as finalizers may keep some. As upstream, no webhook and no
/// policy is called. An object that a webhook would convert is changed as it is stored.
pub(super) fn delete(core: &Core, crd: &Value) -> bool {
    let Some(resource) = resources::stored(core, crd).map(Arc::new) else {
        return true;
    };
    let range = Range::new(&resource.store_name(), "");
    // Cannot fail: the present revision is never compacted.
    let list = |limit| {
        let page = core.store.list(&range, None, None, limit);
        page.map(|page| page.records).unwrap_or_default()
    };
    // Then all are, unless a creation was admitted earlier: that object is deleted once it is the first.
    if list(1).first().is_some_and(|first| !is_deleting(first)) {
        for record in list(0) {
            let call = Call {
                namespace: record.key.namespace.clone(),
                name: record.key.name.clone(),
                ..Call::by_server(AGENT, Verb::Delete, Arc::clone(&resource))
            };
            // An object that cannot be deleted keeps the definition.
            drop(direct::delete(core, &call, &DeleteOptions::default()));
        }
    }
    list(1).is_empty()
}

fn is_deleting(record: &Record) -> bool {
    meta::is_deleting(&record.value())
}
