//! Reads what a decision about a Service needs, and sends its writes.

use std::sync::Arc;

use serde_json::Value;

use super::{ServiceView, address};
use crate::{
    controllers::workloads::{
        Workloads,
        fields::annotation,
        replica_set::Pod,
        write::{ENDPOINTS, PODS, SERVICES, SLICES, Write},
    },
    effects::Cluster,
    meta,
    status::Status,
    store::Key,
};

/// The annotation of Endpoints that are a lease of former releases.
const LEADER: &str = "control-plane.alpha.kubernetes.io/leader";

impl Workloads {
    pub(in crate::controllers::workloads) async fn service(
        &mut self,
        cluster: &Arc<Cluster>,
        key: &Key,
        service: &Value,
    ) -> Result<(), Status> {
        self.act(cluster, key, address::decide(service)).await?;
        let spec = &service["spec"];
        if spec["type"] == "ExternalName" || !spec["selector"].is_object() {
            return Ok(());
        }
        let pods = self.families.dependents(key, PODS);
        let slices = self.families.dependents(key, SLICES);
        cluster.core.store.look(pods.len() + slices.len());
        let mut pods: Vec<Pod> = pods.iter().map(|(_, pod)| Pod::of(pod.value())).collect();
        pods.sort_by_cached_key(|pod| meta::text(&pod.object, "name").to_owned());
        let slices: Vec<Value> = slices.iter().map(|(_, slice)| slice.value()).collect();
        let observed = ServiceView {
            service,
            pods: &pods,
            nodes: &self.nodes,
        };
        let endpoints = Key::new(ENDPOINTS, &key.namespace, &key.name);
        let endpoints = cluster.core.store.get(&endpoints).map(|record| record.value());
        let mut writes = observed.slices(&slices);
        writes.extend(observed.endpoints(endpoints.as_ref()));
        self.act(cluster, key, writes.into()).await
    }

    /// Deletes Endpoints whose Service is gone.
    pub(in crate::controllers::workloads) async fn endpoints(
        &mut self,
        cluster: &Arc<Cluster>,
        key: &Key,
        endpoints: &Value,
    ) -> Result<(), Status> {
        let service = Key::new(SERVICES, &key.namespace, &key.name);
        let is_needed = cluster.core.store.get(&service).is_some() || annotation(endpoints, LEADER).is_some();
        match is_needed {
            true => Ok(()),
            false => {
                self.act(cluster, key, Write::Delete(endpoints.clone(), None).into())
                    .await
            }
        }
    }
}
