//! The scale of the controllers of Pods, as their scale subresources say.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{
    Workloads, budget,
    fields::{controller, text},
    replica_set::Pod,
    write::PODS,
};
use crate::{effects::Cluster, meta, state::Core, status::Status, store::Key};

impl Workloads {
    pub(super) async fn budget(&mut self, cluster: &Arc<Cluster>, key: &Key, budget: &Value) -> Result<(), Status> {
        let pods = self.families.dependents(key, PODS);
        cluster.core.store.look(pods.len());
        let pods: Vec<Pod> = pods.iter().map(|(_, pod)| Pod::of(pod.value())).collect();
        let scale = match budget::needs_scale(budget) {
            true => total(&cluster.core, &pods),
            false => Ok(0),
        };
        let decision = budget::decide(budget, &pods, scale, cluster.core.now());
        self.act(cluster, key, decision).await
    }
}

/// The sum of the replicas that the controllers of Pods want; Pods without a controller do not count.
fn total(core: &Core, pods: &[Pod]) -> Result<i64, String> {
    let mut scales = BTreeMap::new();
    for pod in pods {
        let Some(owner) = controller(&pod.object) else { continue };
        let found = scale(core, meta::text(&pod.object, "namespace"), owner)?;
        let missing = || format!("found no controllers for pod {:?}", meta::text(&pod.object, "name"));
        let (uid, replicas) = found.ok_or_else(missing)?;
        scales.insert(uid, replicas);
    }
    Ok(scales.values().sum())
}

/// The key and the wanted replicas of an object that a reference names by kind.
pub(super) fn named(core: &Core, namespace: &str, reference: &Value) -> Result<(Key, i64), String> {
    let found = find(core, namespace, reference)?;
    let missing = || format!("{:?} not found", text(reference, "/name"));
    let (key, _, replicas) = found.ok_or_else(missing)?;
    Ok((key, replicas))
}

/// The uid and the wanted replicas of a controller; of its Deployment, if it is the ReplicaSet of one. `None` if it is gone.
fn scale(core: &Core, namespace: &str, owner: &Value) -> Result<Option<(String, i64)>, String> {
    let found = find(core, namespace, owner)?;
    let Some((_, object, replicas)) = found.filter(|it| meta::text(&it.1, "uid") == text(owner, "/uid")) else {
        return Ok(None);
    };
    let deployment = controller(&object).filter(|it| owner["kind"] == "ReplicaSet" && it["kind"] == "Deployment");
    match deployment {
        Some(deployment) => scale(core, namespace, deployment),
        None => Ok(Some((meta::text(&object, "uid").to_owned(), replicas))),
    }
}

/// An object that a reference names, with its key and the replicas of its scale.
fn find(core: &Core, namespace: &str, reference: &Value) -> Result<Option<(Key, Value, i64)>, String> {
    let (version, kind) = (text(reference, "/apiVersion"), text(reference, "/kind"));
    let (group, number) = version.split_once('/').unwrap_or(("", version));
    let snapshot = core.catalogue.snapshot();
    let unknown = || format!("no matches for kind {kind:?} in version {version:?}");
    let resource = snapshot.kind(group, number, kind).ok_or_else(unknown)?;
    let Some(scale) = &resource.rules().scale else {
        return Err(format!(
            "{} does not implement the scale subresource",
            resource.qualified()
        ));
    };
    let key = Key::new(&resource.store_name(), namespace, text(reference, "/name"));
    let Some(record) = core.store.get(&key) else {
        return Ok(None);
    };
    let object = record.value();
    let replicas = object.pointer(&scale.spec_replicas.replace('.', "/"));
    let replicas = replicas.and_then(Value::as_i64).unwrap_or_default();
    Ok(Some((key, object, replicas)))
}
