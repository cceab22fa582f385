//! The ServiceAccount `default` of every namespace.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{act, namespaces};
use crate::{effects::Cluster, meta, status::Status, store::Key};

pub(super) const RESOURCE: &str = "/serviceaccounts";
const NAME: &str = "default";

/// The key of the ServiceAccount of a namespace.
pub(super) fn key(namespace: &str) -> Key {
    Key::new(RESOURCE, namespace, NAME)
}

/// Creates the ServiceAccount of a namespace that is not terminating, if it does not exist.
///
/// # Errors
/// The Status of the refused write.
pub(super) async fn provide(cluster: &Arc<Cluster>, key: &Key) -> Result<(), Status> {
    let namespace = Key::new(namespaces::RESOURCE, "", &key.namespace);
    let Some(record) = cluster.core.store.get(&namespace) else {
        return Ok(());
    };
    let object: Value = serde_json::from_slice(&record.object).unwrap_or_default();
    if meta::is_deleting(&object) || cluster.core.store.get(key).is_some() {
        return Ok(());
    }
    act::post(cluster, key, &json!({"metadata": {"name": NAME}})).await?;
    Ok(())
}
