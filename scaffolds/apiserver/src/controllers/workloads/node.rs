//! The node `dev`, on which Pods run, other nodes with a kubelet, and the scheduler: a Pod is assigned to the node that its
//! required affinity names, else to `dev`, or to another node with a kubelet while `dev` takes no Pods.

use std::sync::Arc;

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{
    Decision, Workloads,
    fields::{self, items, text},
    kubelet,
    lost::{self, UNREACHABLE},
    placement::{self, NodeView},
    storage,
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

/// Reports a new node with a kubelet, or one that was lost. The node controller removes the taint that it has.
fn report(node: &Value, now: i64) -> Decision {
    if fields::condition(&node["status"], "Ready").is_some_and(|ready| ready["status"] != "Unknown") {
        return Decision::default();
    }
    let is_other =
        |taint: &&Value| ![json!("node.kubernetes.io/not-ready"), json!(UNREACHABLE)].contains(&taint["key"]);
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
        "declaredFeatures": ["InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"],
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
        let node = core.store.get(key).map(|record| record.value());
        let view = node.as_ref().and_then(NodeView::of);
        let before = match view.clone() {
            Some(view) => self.nodes.insert(key.name.clone(), view),
            None => self.nodes.remove(&key.name),
        };
        self.queue.add(key.clone());
        if before == view {
            return;
        }
        let was_lost = before.as_ref().is_some_and(|before| before.is_lost);
        match &view {
            Some(view) if !view.is_lost => _ = self.lost.remove(&key.name),
            Some(_) if was_lost => {}
            _ => _ = self.lost.insert(key.name.clone(), core.now()),
        }
        let moves = |view: &Option<NodeView>| view.as_ref().is_none_or(NodeView::evicts);
        if before.is_some() && (moves(&before) || moves(&view)) {
            self.look_at_pods_of(core, &key.name);
        }
        for (namespace, name) in std::mem::take(&mut self.unassigned) {
            self.queue.add(Key::new(PODS, &namespace, &name));
        }
        for resource in [DAEMON_SETS, SERVICES] {
            let owners = self.families.owners(resource);
            owners.into_iter().for_each(|owner| self.queue.add(owner));
        }
    }

    /// Queues the Pods of a node that is lost, or has been.
    fn look_at_pods_of(&mut self, core: &Core, node: &str) {
        for record in core.store.all(PODS, "") {
            if text(&record.value(), "/spec/nodeName") == node {
                self.queue.add(record.key.clone());
            }
        }
    }

    pub(super) async fn node(&mut self, cluster: &Arc<Cluster>, key: &Key, node: &Value) -> Result<(), Status> {
        let now = cluster.core.now();
        let decision = match self.nodes.get(&key.name) {
            Some(view) if view.has_kubelet => report(node, now),
            Some(view) if view.is_lost => {
                let since = self.lost.get(&key.name).copied().unwrap_or(now);
                lost::decide(node, [since, now])
            }
            _ => return Ok(()),
        };
        self.act(cluster, key, decision).await
    }

    /// The decision about a Pod that is assigned to a node.
    fn assigned(&mut self, pod: &Value, now: i64) -> Decision {
        let name = text(pod, "/spec/nodeName");
        let Some(node) = self.nodes.get(name) else {
            let since = *self.lost.entry(name.to_owned()).or_insert(now);
            return lost::collect(pod, [since, now]);
        };
        let eviction = lost::evict(pod, &node.taints, now);
        if !node.has_kubelet || !eviction.writes.is_empty() {
            return eviction;
        }
        let report = kubelet::decide(pod, now);
        let again = [report.again, eviction.again].into_iter().flatten().min();
        Decision { again, ..report }
    }

    /// The node to which a Pod is assigned.
    fn choose(&self, pod: &Value) -> Option<String> {
        let takes = |name: &str| self.nodes.get(name).is_some_and(|node| node.takes(pod));
        if let Some(named) = placement::target(pod) {
            return takes(named).then(|| named.to_owned());
        }
        if takes(NAME) {
            return Some(NAME.to_owned());
        }
        let mut others = self
            .nodes
            .iter()
            .filter(|(_, node)| node.has_kubelet && node.takes(pod));
        others.next().map(|(name, _)| name.clone())
    }

    pub(super) async fn pod(&mut self, cluster: &Arc<Cluster>, key: &Key, pod: &Value) -> Result<(), Status> {
        self.untrack(cluster, key, pod).await?;
        let now = cluster.core.now();
        if !is_unassigned(pod) {
            let decision = match text(pod, "/spec/nodeName") {
                "" => return Ok(()),
                _ => self.assigned(pod, now),
            };
            return self.act(cluster, key, decision).await;
        }
        let waits = storage::waits(&cluster.core, key, pod);
        let chosen = self.choose(pod);
        let decision = match (waits, chosen) {
            (None, Some(node)) => {
                let mut decision = kubelet::decide(pod, now);
                if let Some(Write::Bind(assigned)) = decision.writes.first_mut() {
                    assigned["spec"]["nodeName"] = json!(node);
                }
                decision
            }
            (waits, _) => {
                self.unassigned.insert((key.namespace.clone(), key.name.clone()));
                let unschedulable = waits.map(|why| kubelet::unschedulable(pod, &why, now));
                unschedulable.unwrap_or_default()
            }
        };
        self.act(cluster, key, decision).await
    }
}
