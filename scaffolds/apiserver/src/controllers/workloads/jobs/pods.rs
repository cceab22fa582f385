//! The Pods of a Job, and new ones.

use std::cmp::{Ordering, Reverse};

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::super::{
    fields::{self, annotation, int, items, text},
    replica_set,
    write::{TRACKING, Write, without_finalizer},
};
use crate::meta;

/// The annotation and the label with the completion index of a Pod.
const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// The annotations with the number of failures of an index before this Pod.
const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";
const IGNORED: &str = "batch.kubernetes.io/job-index-ignored-failure-count";
/// The variable with the completion index in the environment of each container.
const VARIABLE: &str = "JOB_COMPLETION_INDEX";

/// A Pod of a Job.
#[derive(Clone, Debug, Default)]
pub(super) struct JobPod {
    pub object: Value,
    pub index: Option<i64>,
    /// Whether the Pod has the finalizer, so that it is not yet counted.
    pub is_tracked: bool,
    ready: Option<i64>,
}

impl JobPod {
    pub fn of(object: Value) -> Self {
        let index = annotation(&object, INDEX).and_then(|index| index.parse().ok());
        let ready = fields::condition(&object["status"], "Ready").filter(|it| it["status"] == "True");
        let ready = ready.map(|it| time::seconds(text(it, "/lastTransitionTime")).unwrap_or_default());
        Self {
            index: index.filter(|index| *index >= 0),
            is_tracked: meta::texts(&object, "finalizers").contains(&TRACKING),
            ready,
            object,
        }
    }

    pub fn uid(&self) -> &str {
        meta::text(&self.object, "uid")
    }

    fn phase(&self) -> &str {
        text(&self.object, "/status/phase")
    }

    pub fn is_deleting(&self) -> bool {
        meta::is_deleting(&self.object)
    }

    pub fn has_succeeded(&self) -> bool {
        self.phase() == "Succeeded"
    }

    /// Whether the Pod has failed. A Pod that is being deleted has, unless the Job waits for its end.
    pub fn has_failed(&self, waits: bool) -> bool {
        self.phase() == "Failed" || (!waits && self.is_deleting() && !self.has_succeeded())
    }

    fn is_finished(&self) -> bool {
        ["Succeeded", "Failed"].contains(&self.phase())
    }

    pub fn is_active(&self) -> bool {
        !self.is_finished() && !self.is_deleting()
    }

    pub fn is_terminating(&self) -> bool {
        !self.is_finished() && self.is_deleting()
    }

    pub fn is_ready(&self) -> bool {
        self.ready.is_some()
    }

    /// The restarts of its containers, while it may restart them.
    pub fn restarts(&self) -> i64 {
        if self.is_finished() {
            return 0;
        }
        let lists = ["/status/initContainerStatuses", "/status/containerStatuses"];
        let statuses = lists.iter().flat_map(|list| items(&self.object, list));
        statuses.map(|it| int(it, "/restartCount")).sum()
    }

    /// When its last container ended, or it stopped being ready, or its deletion was requested.
    pub fn finished(&self) -> i64 {
        let ends = items(&self.object, "/status/containerStatuses").iter();
        let ends: Option<Vec<i64>> = ends
            .map(|it| time::seconds(text(it, "/state/terminated/finishedAt")))
            .collect();
        let ended = ends.and_then(|ends| ends.into_iter().max());
        let unready = || {
            let ready = fields::condition(&self.object["status"], "Ready")?;
            time::seconds(text(ready, "/lastTransitionTime")).filter(|_| ready["status"] == "False")
        };
        let deleted = || {
            let end = time::seconds(meta::text(&self.object, "deletionTimestamp"))?;
            Some(end - meta::number(&self.object, "deletionGracePeriodSeconds").unwrap_or_default())
        };
        let finished = ended.or_else(unready).or_else(deleted);
        finished.unwrap_or_else(|| fields::created(&self.object))
    }

    /// The counted and the ignored failures of its index before it.
    pub fn failures_before(&self) -> [i64; 2] {
        [FAILURES, IGNORED].map(|name| {
            let count = annotation(&self.object, name).and_then(|count| count.parse::<i32>().ok());
            i64::from(count.unwrap_or_default().max(0))
        })
    }

    /// Removes the finalizer.
    pub fn release(&self) -> Option<Write> {
        let tracked = self.is_tracked.then(|| self.object.clone());
        tracked.map(|object| Write::Update(without_finalizer(object, TRACKING)))
    }

    /// Deletes the Pod without counting it.
    pub fn remove(&self) -> impl Iterator<Item = Write> {
        let delete = Write::Delete(self.object.clone(), None);
        self.release().into_iter().chain([delete])
    }
}

/// The order in which active Pods are deleted: without a node, not running, not ready, ready for a shorter time, restarted
/// more often, younger.
pub(super) fn first_to_go(one: &JobPod, other: &JobPod) -> Ordering {
    let state = |pod: &JobPod| {
        let phase = match pod.phase() {
            "Pending" => 0,
            "Running" => 2,
            _ => 1,
        };
        let has_node = !text(&pod.object, "/spec/nodeName").is_empty();
        let (ready, age) = (Reverse(pod.ready), Reverse(fields::created(&pod.object)));
        (has_node, phase, pod.is_ready(), ready, Reverse(pod.restarts()), age)
    };
    state(one).cmp(&state(other))
}

/// A Pod of a Job, with this index and with this Pod of the same index before it.
pub(super) fn new_pod(job: &Value, index: Option<i64>) -> Value {
    let mut pod = replica_set::new_pod(job);
    let mut finalizers = meta::texts(&pod, "finalizers");
    if !finalizers.contains(&TRACKING) {
        finalizers.push(TRACKING);
    }
    let finalizers = json!(finalizers);
    meta::set(&mut pod, "finalizers", Some(finalizers));
    if let Some(index) = index {
        set_index(&mut pod, meta::text(job, "name"), index);
    }
    pod
}

fn set_index(pod: &mut Value, job: &str, index: i64) {
    for field in ["annotations", "labels"] {
        pod["metadata"][field][INDEX] = json!(index.to_string());
    }
    pod["metadata"]["generateName"] = json!(generate_name(job, index));
    pod["spec"]["hostname"] = json!(format!("{job}-{index}"));
    for list in ["initContainers", "containers"] {
        let containers = pod["spec"].get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            if items(container, "/env").iter().all(|it| it["name"] != VARIABLE) {
                let field = json!({"fieldRef": {"fieldPath": format!("metadata.labels['{INDEX}']")}});
                let variable = json!({"name": VARIABLE, "valueFrom": field});
                match container["env"].as_array_mut() {
                    Some(env) => env.push(variable),
                    None => container["env"] = json!([variable]),
                }
            }
        }
    }
}

/// The prefix of the names of an index's Pods. The server appends five characters to at most 58.
fn generate_name(job: &str, index: i64) -> String {
    let suffix = format!("-{index}-");
    let room = 58_usize.saturating_sub(suffix.len());
    format!("{}{suffix}", job.get(..room).unwrap_or(job))
}

/// Sets the failures of the index before the Pod.
pub(super) fn set_failures(pod: &mut Value, [counted, ignored]: [i64; 2]) {
    pod["metadata"]["annotations"][FAILURES] = json!(counted.to_string());
    if ignored > 0 {
        pod["metadata"]["annotations"][IGNORED] = json!(ignored.to_string());
    }
}
