//! The objects of a definition that goes.

use super::{lifecycle::AGENT, resources};
use crate::{
    auth::User,
    registry::{self, Call, Verb},
    server::Core,
    store::Range,
};
use bytes::Bytes;
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

/// Deletes the objects of `crd`. False while some are left, because of their finalizers.
pub(super) fn delete(core: &Core, crd: &Value) -> bool {
    let Some(resource) = resources::stored(crd).map(Arc::new) else {
        return true;
    };
    let range = Range::new(&registry::store_name(&resource), "");
    let left = || match core.store.list(&range, None, None, 0) {
        Ok(page) => page.records,
        // Listing the present cannot fail: it is never compacted.
        Err(_) => Vec::new(),
    };
    let namespaces: BTreeSet<String> = left().iter().map(|record| record.key.namespace.clone()).collect();
    for namespace in namespaces {
        let call = Call {
            verb: Verb::DeleteCollection,
            resource: resource.clone(),
            namespace,
            name: String::new(),
            subresource: String::new(),
            query: Vec::new(),
            content_type: String::new(),
            user_agent: AGENT.to_owned(),
            body: Bytes::new(),
            user: User::admin(),
        };
        // What cannot be deleted now is left, and seen below.
        _ = registry::perform(core, &call);
    }
    left().is_empty()
}
