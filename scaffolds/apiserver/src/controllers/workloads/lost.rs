//! Nodes that are lost, as the node controllers of kube-controller-manager handle them: a kubelet that no longer reports, and
//! a node that does not exist. Their Pods are evicted, or deleted.

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{
    Decision,
    fields::{self, int, items, text},
    placement::tolerates,
    write::Write,
};
use crate::meta;

/// The seconds without a report after which a node is unknown (`--node-monitor-grace-period`).
const GRACE: i64 = 50;
/// The seconds that the Pods of a missing node stay (quarantineTime of the Pod garbage collector).
const QUARANTINE: i64 = 40;
/// The taint of a node that is lost.
pub(super) const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const CONDITIONS: [&str; 4] = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/// The next write for a node whose kubelet stopped reporting at `since`.
pub(super) fn decide(node: &Value, [since, now]: [i64; 2]) -> Decision {
    if now < since + GRACE {
        return Decision::at(since + GRACE);
    }
    let mut unknown = node.clone();
    let conditions = unknown["status"]["conditions"].as_array_mut().into_iter().flatten();
    for condition in conditions.filter(|it| CONDITIONS.contains(&text(it, "/type")) && it["status"] != "Unknown") {
        condition["status"] = json!("Unknown");
        condition["reason"] = json!("NodeStatusUnknown");
        condition["message"] = json!("Kubelet stopped posting node status.");
        condition["lastTransitionTime"] = json!(time::text(now));
    }
    if unknown != *node {
        return Write::Status(unknown).into();
    }
    let mut taints = items(node, "/spec/taints").to_vec();
    for effect in ["NoSchedule", "NoExecute"] {
        let is_same = |it: &Value| it["key"] == UNREACHABLE && it["effect"] == effect;
        if !taints.iter().any(is_same) {
            taints.push(json!({"key": UNREACHABLE, "effect": effect, "timeAdded": time::text(now)}));
        }
    }
    if taints.len() == items(node, "/spec/taints").len() {
        return Decision::default();
    }
    unknown["spec"]["taints"] = json!(taints);
    Write::Update(unknown).into()
}

/// The next write for a Pod on a node with these taints.
pub(super) fn evict(pod: &Value, taints: &[Value], now: i64) -> Decision {
    let is_unknown = taints
        .iter()
        .any(|it| it["key"] == UNREACHABLE && it["effect"] == "NoExecute");
    let mut unready = pod.clone();
    let conditions = unready["status"]["conditions"].as_array_mut().into_iter().flatten();
    for ready in conditions.filter(|it| is_unknown && it["type"] == "Ready" && it["status"] == "True") {
        ready["status"] = json!("False");
        ready["lastTransitionTime"] = json!(time::text(now));
    }
    if unready != *pod {
        return Write::Status(unready).into();
    }
    if meta::is_deleting(pod) {
        return Decision::default();
    }
    let evicting = taints.iter().filter(|it| it["effect"] == "NoExecute");
    match evicting.filter_map(|taint| end(&pod["spec"], taint)).min() {
        None => Decision::default(),
        Some(end) if now < end => Decision::at(end),
        Some(_) => {
            let why = [
                "DeletionByTaintManager",
                "Taint manager: deleting due to NoExecute taint",
            ];
            vec![
                Write::Status(disrupted(pod, why, now)),
                Write::Delete(pod.clone(), None),
            ]
            .into()
        }
    }
}

/// When a Pod must leave a node with this taint; `None` if it tolerates the taint for ever.
fn end(spec: &Value, taint: &Value) -> Option<i64> {
    let matching = items(spec, "/tolerations").iter().filter(|it| tolerates(it, taint));
    let seconds: Vec<Option<i64>> = matching.map(|it| it["tolerationSeconds"].as_i64()).collect();
    let added = time::seconds(text(taint, "/timeAdded"));
    match seconds.iter().flatten().min() {
        Some(seconds) => match fields::go_seconds(*seconds.max(&0)) {
            // Upstream, a duration that has wrapped has no end.
            ..0 => None,
            seconds => added.map(|added| added.saturating_add(seconds)),
        },
        None if seconds.is_empty() => Some(0),
        None => None,
    }
}

/// The next write for a Pod whose node does not exist since `since`.
pub(super) fn collect(pod: &Value, [since, now]: [i64; 2]) -> Decision {
    if now < since + QUARANTINE {
        return Decision::at(since + QUARANTINE);
    }
    let deletion = Write::Delete(pod.clone(), Some(0));
    if ["Succeeded", "Failed"].contains(&text(pod, "/status/phase")) {
        return deletion.into();
    }
    let mut failed = disrupted(pod, ["DeletionByPodGC", "PodGC: node no longer exists"], now);
    failed["status"]["phase"] = json!("Failed");
    vec![Write::Status(failed), deletion].into()
}

/// The Pod with the condition that says why it is deleted.
fn disrupted(pod: &Value, [reason, message]: [&str; 2], now: i64) -> Value {
    let mut pod = pod.clone();
    let condition = json!({
        "type": "DisruptionTarget", "status": "True", "reason": reason, "message": message,
        "lastTransitionTime": time::text(now), "observedGeneration": int(&pod, "/metadata/generation"),
    });
    // Unchanged if an earlier attempt to delete the Pod has set it.
    fields::set_condition(&mut pod["status"], condition);
    pod
}
