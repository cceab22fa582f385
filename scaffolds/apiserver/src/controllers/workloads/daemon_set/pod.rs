//! The Pod of a DaemonSet on a node: its labels, its tolerations, and the affinity that leads it to the node.

use serde_json::{Value, json};

use crate::controllers::workloads::{
    fields::{annotation, items, text},
    history::REVISION,
    placement, replica_set,
};

const GENERATION: &str = "deprecated.daemonset.template.generation";
const GENERATION_LABEL: &str = "pod-template-generation";
/// The conditions of a node that the Pods of DaemonSets tolerate.
const TOLERATED: [(&str, &str); 6] = [
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
];

/// A new Pod for a node, with the hash of the present revision.
pub(super) fn create(set: &Value, hash: &str, node: &str) -> Value {
    let mut pod = replica_set::new_pod(set);
    if let Some(generation) = generation(set) {
        pod["metadata"]["labels"][GENERATION_LABEL] = json!(generation);
    }
    pod["metadata"]["labels"][REVISION] = json!(hash);
    pod["spec"] = tolerant(&pod["spec"]);
    pod["spec"]["affinity"] = placement::toward(&pod["spec"]["affinity"], node);
    pod
}

/// Whether a Pod has the present template.
pub(super) fn is_updated(set: &Value, hash: &str, pod: &Value) -> bool {
    let labels = &pod["metadata"]["labels"];
    let is_generation = generation(set).is_some_and(|generation| labels[GENERATION_LABEL] == generation);
    is_generation || labels[REVISION] == hash
}

fn generation(set: &Value) -> Option<&str> {
    annotation(set, GENERATION).filter(|text| text.parse::<i64>().is_ok())
}

/// The spec of a Pod that tolerates these conditions of its node.
pub(super) fn tolerant(spec: &Value) -> Value {
    let mut tolerations = items(spec, "/tolerations").to_vec();
    let network = spec["hostNetwork"] == true;
    let network = network.then_some(("network-unavailable", "NoSchedule"));
    for (condition, effect) in TOLERATED.into_iter().chain(network) {
        let key = format!("node.kubernetes.io/{condition}");
        let wanted = json!({"key": key, "operator": "Exists", "effect": effect});
        let is_same = |it: &&mut Value| {
            ["/key", "/operator", "/effect", "/value"]
                .iter()
                .all(|field| text(it, field) == text(&wanted, field))
        };
        match tolerations.iter_mut().find(is_same) {
            Some(present) => *present = wanted,
            None => tolerations.push(wanted),
        }
    }
    let mut spec = spec.clone();
    spec["tolerations"] = tolerations.into();
    spec
}
