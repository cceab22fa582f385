//! The ServiceAccount `default` of every namespace.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{act, namespaces};
use crate::{effects::Cluster, meta, store::Key};

const RESOURCE: &str = "/serviceaccounts";
const NAME: &str = "default";

/// Whether this is such a ServiceAccount.
pub(super) fn is_one(key: &Key) -> bool {
    &*key.resource == RESOURCE && key.name == NAME
}

/// Creates the ServiceAccount of a namespace that is not terminating, if it does not exist.
pub(super) async fn provide(cluster: &Arc<Cluster>, namespace: &str) {
    let Some(record) = cluster.core.store.get(&Key::new(namespaces::RESOURCE, "", namespace)) else {
        return;
    };
    let object: Value = serde_json::from_slice(&record.object).unwrap_or_default();
    let key = Key::new(RESOURCE, namespace, NAME);
    if meta::is_deleting(&object) || cluster.core.store.get(&key).is_some() {
        return;
    }
    // If another client has created it meanwhile, the result is the same.
    let _ = act::post(cluster, &key, &json!({"metadata": {"name": NAME}})).await;
}
