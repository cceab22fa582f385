//! The condition `Dangling` of FlowSchemas, which says whether their priority level exists. Upstream, kube-apiserver itself writes it.

use std::sync::Arc;

use kubewright_machinery::time;
use serde_json::json;

use super::act;
use crate::{
    effects::Cluster,
    flow::{LEVELS, SCHEMAS, bootstrap, dangling, level_of},
    state::Core,
    status::Status,
    store::Key,
};

/// The FlowSchemas whose conditions may be out of date after a change of an object.
pub(super) fn concerned(core: &Core, key: &Key) -> Vec<Key> {
    match &*key.resource {
        SCHEMAS => vec![key.clone()],
        LEVELS => {
            let schemas = core.store.all(SCHEMAS, "").into_iter();
            schemas.map(|schema| schema.key.clone()).collect()
        }
        _ => Vec::new(),
    }
}

/// Brings the condition of a FlowSchema up to date.
///
/// # Errors
/// The Status of the refused write.
pub(super) async fn settle(cluster: &Arc<Cluster>, key: &Key) -> Result<(), Status> {
    let store = &cluster.core.store;
    let Some(schema) = act::object(&cluster.core, key) else {
        return Ok(());
    };
    let level = level_of(&schema);
    let wanted = dangling(level, store.get(&Key::new(LEVELS, "", level)).is_some());
    let conditions = schema["status"]["conditions"].as_array();
    let mut present = conditions.into_iter().flatten();
    if present.any(|condition| wanted.iter().all(|(field, value)| condition[*field] == *value)) {
        return Ok(());
    }
    let condition = bootstrap::with_time(&wanted, &time::text(cluster.core.now()));
    let object = json!({
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "FlowSchema", "metadata": {"name": key.name},
        "status": {"conditions": [condition]},
    });
    act::apply_status(cluster, key, bootstrap::CONSUMER, &object).await?;
    Ok(())
}
