//! The node `dev`, on which Pods run, other nodes with a kubelet, and the scheduler of one rule: a Pod is assigned to
//! `dev`, or to the node that its required affinity names.

use std::sync::Arc;

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{
    Decision, Workloads,
    fields::{self, items, text},
    kubelet,
    placement::{self, NodeView},
    storage, value,
    write::{DAEMON_SETS, PODS, SERVICES, Write},
};
use crate::{effects::Cluster, meta, release::KUBERNETES, state::Core, status::Status, store::Key};

pub(super) const NAME: &str = "dev";

/// The write that creates the node.
pub(super) fn create() -> Write {
    Write::Create(json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": NAME, "labels": {
            "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": NAME, "kubernetes.io/os": "linux",
        }},
    }))
}

/// Reports a new node with a kubelet. It has the taint of one that is not ready, which the node controller removes.
fn report(node: &Value, now: i64) -> Decision {
    if fields::condition(&node["status"], "Ready").is_some() {
        return Decision::default();
    }
    let is_other = |taint: &&Value| taint["key"] != "node.kubernetes.io/not-ready";
    let left: Vec<&Value> = items(node, "/spec/taints").iter().filter(is_other).collect();
    if left.len() < items(node, "/spec/taints").len() {
        let mut untainted = node.clone();
        untainted["spec"]["taints"] = json!(left);
        return Write::Update(untainted).into();
    }
    let condition = |name: &str, status: &str, reason: &str| {
        json!({
            "type": name, "status": status, "reason": reason, "message": "", "lastHeartbeatTime": time::text(now),
            "lastTransitionTime": time::text(now),
        })
    };
    let mut ready = node.clone();
    ready["status"] = json!({
        "addresses": [{"type": "InternalIP", "address": ADDRESS}, {"type": "Hostname", "address": meta::text(node, "name")}],
        "capacity": {"cpu": "64", "memory": "256Gi", "pods": "10000", "ephemeral-storage": "1Ti"},
        "allocatable": {"cpu": "64", "memory": "256Gi", "pods": "10000", "ephemeral-storage": "1Ti"},
        "conditions": [
            condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
            condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
            condition("PIDPressure", "False", "KubeletHasSufficientPID"),
            condition("Ready", "True", "KubeletReady"),
        ],
        "nodeInfo": {
            "architecture": "amd64", "bootID": "", "containerRuntimeVersion": "none://0", "kernelVersion": "",
            "kubeProxyVersion": "", "kubeletVersion": KUBERNETES, "machineID": "", "operatingSystem": "linux",
            "osImage": "none", "systemUUID": "",
        },
    });
    Write::Status(ready).into()
}

/// The address of every node; nothing listens there.
pub(super) const ADDRESS: &str = "192.0.2.1";

/// Whether a Pod waits for the scheduler.
pub(super) fn is_unassigned(pod: &Value) -> bool {
    let is_gated = pod["spec"]["schedulingGates"]
        .as_array()
        .is_some_and(|gates| !gates.is_empty());
    let scheduler = text(pod, "/spec/schedulerName");
    let is_ours = ["", "default-scheduler"].contains(&scheduler);
    text(pod, "/spec/nodeName").is_empty() && !is_gated && is_ours && !meta::is_deleting(pod)
}

impl Workloads {
    /// Indexes the present state of a node, and queues what depends on it.
    pub(super) fn look_at_node(&mut self, core: &Core, key: &Key) {
        let node = core.store.get(key).map(|record| value(&record));
        let view = node.as_ref().and_then(NodeView::of);
        let before = match view.clone() {
            Some(view) => self.nodes.insert(key.name.clone(), view),
            None => self.nodes.remove(&key.name),
        };
        self.queue.add(key.clone());
        if before == view {
            return;
        }
        for (namespace, name) in std::mem::take(&mut self.unassigned) {
            self.queue.add(Key::new(PODS, &namespace, &name));
        }
        for resource in [DAEMON_SETS, SERVICES] {
            let owners = self.families.owners(resource);
            owners.into_iter().for_each(|owner| self.queue.add(owner));
        }
    }

    pub(super) async fn node(&mut self, cluster: &Arc<Cluster>, key: &Key, node: &Value) -> Result<(), Status> {
        match self.nodes.get(&key.name).is_some_and(|view| view.has_kubelet) {
            true => self.act(cluster, key, report(node, cluster.core.now())).await,
            false => Ok(()),
        }
    }

    pub(super) async fn pod(&mut self, cluster: &Arc<Cluster>, key: &Key, pod: &Value) -> Result<(), Status> {
        self.untrack(cluster, key, pod).await?;
        let now = cluster.core.now();
        let name = placement::target(pod).unwrap_or(NAME);
        let node = self.nodes.get(name);
        if !is_unassigned(pod) {
            let is_reported = name == NAME || node.is_some_and(|node| node.has_kubelet);
            let decision = if is_reported {
                kubelet::decide(pod, now)
            } else {
                return Ok(());
            };
            return self.act(cluster, key, decision).await;
        }
        let waits = storage::waits(&cluster.core, key, pod);
        let is_open = node.is_some_and(|node| node.takes(pod));
        let decision = match waits {
            None if is_open => kubelet::decide(pod, now),
            waits => {
                self.unassigned.insert((key.namespace.clone(), key.name.clone()));
                let unschedulable = waits.map(|why| kubelet::unschedulable(pod, &why, now));
                unschedulable.unwrap_or_default()
            }
        };
        self.act(cluster, key, decision).await
    }
}
