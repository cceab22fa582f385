//! The condition `Dangling` of FlowSchemas, which says whether their priority level exists. Upstream, kube-apiserver itself writes it.

use std::sync::Arc;

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::act;
use crate::{
    effects::Cluster,
    flow::{LEVELS, SCHEMAS, bootstrap, dangling, level_of},
    store::{Key, Range, Record},
};

/// Brings the conditions up to date after a change of an object.
pub(super) async fn follow(cluster: &Arc<Cluster>, record: &Record) {
    match &*record.key.resource {
        SCHEMAS => settle(cluster, &record.key).await,
        LEVELS => {
            let schemas = cluster.core.store.list(&Range::new(SCHEMAS, ""), None, None, 0);
            for schema in schemas.into_iter().flat_map(|page| page.records) {
                settle(cluster, &schema.key).await;
            }
        }
        _ => {}
    }
}

async fn settle(cluster: &Arc<Cluster>, key: &Key) {
    let store = &cluster.core.store;
    let Some(record) = store.get(key) else { return };
    let schema: Value = serde_json::from_slice(&record.object).unwrap_or_default();
    let level = level_of(&schema);
    let wanted = dangling(level, store.get(&Key::new(LEVELS, "", level)).is_some());
    let conditions = schema["status"]["conditions"].as_array();
    let mut present = conditions.into_iter().flatten();
    if present.any(|condition| wanted.iter().all(|(field, value)| condition[*field] == *value)) {
        return;
    }
    let condition = bootstrap::with_time(&wanted, &time::text(cluster.core.now()));
    let object = json!({
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "FlowSchema", "metadata": {"name": key.name},
        "status": {"conditions": [condition]},
    });
    // If the schema is gone or has changed meanwhile, that change causes another look.
    let _ = act::apply_status(cluster, key, bootstrap::CONSUMER, &object).await;
}
