//! The node `dev`, on which all Pods run, and the scheduler of one rule: every Pod is assigned to it.

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{fields::text, write::Write};
use crate::meta;

pub(super) const NAME: &str = "dev";

/// The writes that create the node.
pub(super) fn create(now: i64) -> [Write; 3] {
    let node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": NAME, "labels": {
            "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": NAME, "kubernetes.io/os": "linux",
        }},
    });
    let condition = |name: &str, status: &str, reason: &str| {
        json!({
            "type": name, "status": status, "reason": reason, "message": "", "lastHeartbeatTime": time::text(now),
            "lastTransitionTime": time::text(now),
        })
    };
    let mut ready = node.clone();
    ready["status"] = json!({
        "addresses": [{"type": "InternalIP", "address": ADDRESS}, {"type": "Hostname", "address": NAME}],
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
            "kubeProxyVersion": "", "kubeletVersion": "v1.36.3", "machineID": "", "operatingSystem": "linux",
            "osImage": "none", "systemUUID": "",
        },
    });
    // A new node has the taint `not-ready`, which the node controller removes.
    let untainted = json!({"apiVersion": "v1", "kind": "Node", "metadata": node["metadata"], "spec": {}});
    [Write::Create(node), Write::Update(untainted), Write::Status(ready)]
}

/// The address of the node; nothing listens there.
pub(super) const ADDRESS: &str = "192.0.2.1";

/// Whether Pods are assigned to the node.
pub(super) fn is_open(node: Option<&Value>) -> bool {
    node.is_some_and(|node| node["spec"]["unschedulable"] != true && !meta::is_deleting(node))
}

/// Whether a Pod waits for the scheduler.
pub(super) fn is_unassigned(pod: &Value) -> bool {
    let is_gated = pod["spec"]["schedulingGates"]
        .as_array()
        .is_some_and(|gates| !gates.is_empty());
    let scheduler = text(pod, "/spec/schedulerName");
    let is_ours = ["", "default-scheduler"].contains(&scheduler);
    text(pod, "/spec/nodeName").is_empty() && !is_gated && is_ours && !meta::is_deleting(pod)
}
