//! ReplicaSets and ReplicationControllers: creates and deletes Pods until as many are active as the spec wants, and counts them
//! in the status.

use std::cmp::Reverse;

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{
    Decision, fields,
    fields::{int, text},
    write::Write,
};
use crate::meta;

/// A replica failure, as a condition of the ReplicaSet and of its Deployment.
pub(super) const FAILURE: &str = "ReplicaFailure";

/// A Pod of a ReplicaSet.
#[derive(Clone, Debug, Default)]
pub(super) struct Pod {
    pub object: Value,
    /// Since when it is ready.
    pub ready: Option<i64>,
}

impl Pod {
    pub fn of(object: Value) -> Self {
        let ready = fields::condition(&object["status"], "Ready").filter(|it| it["status"] == "True");
        let ready = ready.map(|it| time::seconds(text(it, "/lastTransitionTime")).unwrap_or_default());
        Self { object, ready }
    }

    /// Whether the Pod has ended: its containers will not run again.
    pub fn is_finished(&self) -> bool {
        ["Succeeded", "Failed"].contains(&text(&self.object, "/status/phase"))
    }

    fn is_active(&self) -> bool {
        !self.is_finished() && !meta::is_deleting(&self.object)
    }

    fn is_terminating(&self) -> bool {
        !self.is_finished() && meta::is_deleting(&self.object)
    }

    pub fn is_available(&self, seconds: i64, now: i64) -> bool {
        self.ready.is_some_and(|ready| seconds == 0 || ready + seconds <= now)
    }

    fn restarts(&self) -> i64 {
        let all = fields::items(&self.object, "/status/containerStatuses").iter();
        all.map(|it| int(it, "/restartCount")).max().unwrap_or_default()
    }

    fn cost(&self) -> i64 {
        let cost = fields::annotation(&self.object, "controller.kubernetes.io/pod-deletion-cost");
        cost.and_then(|cost| cost.parse().ok()).unwrap_or_default()
    }
}

/// The writes that bring the number of active Pods to the wanted one. Pods that are deleted first: without a node, not
/// running, not ready, of the least deletion cost, ready for a shorter time, restarted more often, younger. As upstream,
/// times are compared by their orders of magnitude, and uids decide last: upstream, where the times of being ready have the
/// same magnitude and differ, uids decide at once, which is no order of more than two Pods.
pub(super) fn manage(set: &Value, pods: &[Pod], now: i64) -> Vec<Write> {
    if meta::is_deleting(set) {
        return Vec::new();
    }
    let mut active: Vec<&Pod> = pods.iter().filter(|pod| pod.is_active()).collect();
    let wanted = usize::try_from(int(set, "/spec/replicas")).unwrap_or_default();
    if active.len() <= wanted {
        return (active.len()..wanted).map(|_| Write::Create(new_pod(set))).collect();
    }
    active.sort_by_cached_key(|pod| first_to_go(pod, now));
    let surplus = active.iter().take(active.len() - wanted);
    surplus.map(|pod| Write::Delete(pod.object.clone(), None)).collect()
}

/// The status, and when it has to be computed again because Pods become available. `failure` says why Pods could not be
/// created or deleted.
pub(super) fn status(set: &Value, pods: &[Pod], failure: Option<&Failure>, now: i64) -> Decision {
    let active: Vec<&Pod> = pods.iter().filter(|pod| pod.is_active()).collect();
    let count =
        |is: &dyn Fn(&Pod) -> bool| i64::try_from(active.iter().filter(|pod| is(pod)).count()).unwrap_or(i64::MAX);
    let seconds = int(set, "/spec/minReadySeconds");
    let template = set.pointer("/spec/template/metadata/labels").and_then(Value::as_object);
    let is_labeled = |pod: &Pod| {
        let mut labels = template.into_iter().flatten();
        labels.all(|(name, value)| pod.object["metadata"]["labels"].get(name) == Some(value))
    };
    let mut new = set["status"].clone();
    new["replicas"] = json!(active.len());
    fields::set_count(&mut new, "fullyLabeledReplicas", count(&is_labeled));
    fields::set_count(&mut new, "readyReplicas", count(&|pod| pod.ready.is_some()));
    fields::set_count(
        &mut new,
        "availableReplicas",
        count(&|pod| pod.is_available(seconds, now)),
    );
    fields::set_count(
        &mut new,
        "observedGeneration",
        meta::number(set, "generation").unwrap_or_default(),
    );
    if set["kind"] == "ReplicaSet" {
        new["terminatingReplicas"] = json!(pods.iter().filter(|pod| pod.is_terminating()).count());
    }
    match failure {
        Some(failure) => fields::set_condition(&mut new, failure.condition(now)),
        None => fields::remove_condition(&mut new, FAILURE),
    }
    let ready = active.iter().filter_map(|pod| pod.ready);
    let again = ready.map(|ready| ready + seconds).filter(|at| *at > now).min();
    Decision::about_status(set, new, again)
}

/// A write that was refused.
pub(super) struct Failure {
    pub creates: bool,
    pub message: String,
}

impl Failure {
    fn condition(&self, now: i64) -> Value {
        let reason = if self.creates { "FailedCreate" } else { "FailedDelete" };
        json!({
            "type": FAILURE, "status": "True", "lastTransitionTime": time::text(now), "reason": reason,
            "message": self.message,
        })
    }
}

/// A new Pod with the template of its owner.
pub(super) fn new_pod(set: &Value) -> Value {
    let template = &set["spec"]["template"];
    let mut metadata = json!({
        "generateName": format!("{}-", meta::text(set, "name")),
        "namespace": meta::text(set, "namespace"),
        "ownerReferences": [fields::reference(set)],
    });
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template["metadata"].get(field) {
            metadata[field] = value.clone();
        }
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]})
}

/// The key by which Pods are sorted: those that are deleted come first.
fn first_to_go(pod: &Pod, now: i64) -> impl Ord + use<> {
    let phase = match text(&pod.object, "/status/phase") {
        "Pending" => 0,
        "Running" => 2,
        _ => 1,
    };
    let magnitude = |time: i64| (now - time).max(0).checked_ilog2();
    (
        !text(&pod.object, "/spec/nodeName").is_empty(),
        phase,
        pod.ready.is_some(),
        pod.cost(),
        magnitude(pod.ready.unwrap_or_default()),
        Reverse(pod.restarts()),
        magnitude(fields::created(&pod.object)),
        meta::text(&pod.object, "uid").to_owned(),
    )
}
