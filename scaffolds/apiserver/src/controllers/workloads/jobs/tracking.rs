//! Counts the finished Pods of a Job, each once: their uids are written into the status, then they lose the finalizer, and
//! then they are counted. At last the Job is complete, or has failed.

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{
    super::{Decision, fields, fields::int},
    decide::{JobEnd, Observed, PodCounts},
    indexed::JobIndexes,
    pods::JobPod,
    policy::{self, Consequence},
};
use crate::meta;

/// The maximum number of uids in the status.
const MOST: usize = 500;

/// The conclusions of the step before the status is written.
pub(super) struct Tracked {
    pub end: Option<JobEnd>,
    pub counts: PodCounts,
    pub indexes: JobIndexes,
}

/// The uids of finished Pods that are not yet counted.
struct Uncounted {
    succeeded: Vec<String>,
    failed: Vec<String>,
}

impl Uncounted {
    fn of(status: &Value) -> Self {
        let list = |name: &str| {
            let uids = fields::items(status, &format!("/uncountedTerminatedPods/{name}")).iter();
            uids.filter_map(|uid| uid.as_str().map(str::to_owned)).collect()
        };
        Self {
            succeeded: list("succeeded"),
            failed: list("failed"),
        }
    }

    fn count(&self) -> usize {
        self.succeeded.len() + self.failed.len()
    }

    /// Counts the Pods that have lost the finalizer.
    fn count_released(&mut self, status: &mut Value, pods: &[JobPod]) {
        let is_tracked = |uid: &String| pods.iter().any(|pod| pod.is_tracked && pod.uid() == uid);
        for (field, uids) in [("succeeded", &mut self.succeeded), ("failed", &mut self.failed)] {
            let before = uids.len();
            uids.retain(is_tracked);
            let released = i64::try_from(before - uids.len()).unwrap_or_default();
            let count = int(status, &format!("/{field}")) + released;
            fields::set_count(status, field, count);
        }
    }

    fn write(&self, status: &mut Value) {
        let mut uncounted = json!({});
        for (field, uids) in [("succeeded", &self.succeeded), ("failed", &self.failed)] {
            if !uids.is_empty() {
                uncounted[field] = json!(uids);
            }
        }
        status["uncountedTerminatedPods"] = uncounted;
    }
}

/// Writes the status if it differs, otherwise releases the Pods that it accounts for.
pub(super) fn track(observed: &Observed<'_>, mut status: Value, tracked: &Tracked) -> Decision {
    let mut uncounted = Uncounted::of(&status);
    uncounted.count_released(&mut status, observed.pods);
    let (released, is_full) = release(observed, tracked, &mut uncounted);
    uncounted.write(&mut status);
    write_indexes(&mut status, observed, tracked, &released);
    let is_over = released.is_empty() && !is_full && uncounted.count() == 0 && tracked.counts.terminating == 0;
    if let Some(end) = &tracked.end {
        write_end(&mut status, end, is_over, observed.now);
    }
    let decision = Decision::about_status(observed.job, status, None);
    if !decision.writes.is_empty() {
        return decision;
    }
    released
        .iter()
        .filter_map(|pod| pod.release())
        .collect::<Vec<_>>()
        .into()
}

/// The Pods that can lose the finalizer once the status accounts for them, and whether there are more.
fn release<'a>(observed: &Observed<'a>, tracked: &Tracked, uncounted: &mut Uncounted) -> (Vec<&'a JobPod>, bool) {
    let mut pods: Vec<&JobPod> = observed.pods.iter().filter(|pod| pod.is_tracked).collect();
    if observed.is_indexed() {
        pods.sort_by_key(|pod| pod.index);
    }
    let is_ending = tracked.end.is_some() || meta::is_deleting(observed.job);
    let fails = tracked.end.as_ref().is_some_and(|end| !end.is_success);
    // The Pods that the success of the Job has stopped have not failed.
    let has_succeeded = observed.decided().is_some_and(|end| end.is_success);
    let mut released = Vec::new();
    let mut new_indexes = 0;
    for pod in pods {
        let has_failed = pod.has_failed(observed.waits());
        let keeps = !has_failed || tracked.indexes.keeps(pod);
        if keeps && !is_ending && !pod.has_succeeded() {
            continue;
        }
        released.push(pod);
        let (uid, is_valid) = (pod.uid().to_owned(), observed.is_valid(pod));
        if pod.has_succeeded() && !uncounted.failed.contains(&uid) {
            if observed.is_indexed() {
                let is_counted = pod.index.is_some_and(|index| tracked.indexes.counted.has(index));
                new_indexes += usize::from(is_valid && !is_counted);
            } else if !uncounted.succeeded.contains(&uid) {
                uncounted.succeeded.push(uid);
            }
        } else if (fails || (has_failed && !has_succeeded))
            && is_valid
            && !uncounted.failed.contains(&uid)
            && policy::consequence(observed.job, &pod.object) != Consequence::Ignored
        {
            uncounted.failed.push(uid);
        }
        if uncounted.count() + new_indexes >= MOST {
            return (released, true);
        }
    }
    (released, false)
}

/// Writes the indexes of the released Pods into the status: they are counted by that.
fn write_indexes(status: &mut Value, observed: &Observed<'_>, tracked: &Tracked, released: &[&JobPod]) {
    if !observed.is_indexed() {
        return;
    }
    let mut counted = tracked.indexes.counted.clone();
    let succeeded = released
        .iter()
        .filter(|pod| pod.has_succeeded() && observed.is_valid(pod));
    counted.extend(succeeded.filter_map(|pod| pod.index));
    fields::set_count(status, "succeeded", counted.count());
    match counted.is_empty() {
        true => {
            _ = status
                .as_object_mut()
                .and_then(|status| status.remove("completedIndexes"))
        }
        false => status["completedIndexes"] = json!(counted.to_string()),
    }
    if let Some(failed) = &tracked.indexes.failed {
        status["failedIndexes"] = json!(failed.to_string());
    }
}

/// Writes the conditions of the end: the first of them before the last Pods are counted, the other one afterwards.
fn write_end(status: &mut Value, end: &JobEnd, is_over: bool, now: i64) {
    let (first, last) = match end.is_success {
        true => ("SuccessCriteriaMet", "Complete"),
        false => ("FailureTarget", "Failed"),
    };
    let now = time::text(now);
    if fields::condition(status, first).is_none() {
        set(status, first, ["True", &end.reason, &end.message], &now);
    }
    if is_over {
        set(status, last, ["True", &end.reason, &end.message], &now);
        if end.is_success {
            status["completionTime"] = json!(now);
        }
    }
}

/// Sets a condition, and returns whether that changes it. Nothing is not changed to `False`.
pub(super) fn set(status: &mut Value, name: &str, values: [&str; 3], now: &str) -> bool {
    let found = fields::condition(status, name);
    let before = found.map(|it| ["/status", "/reason", "/message"].map(|field| fields::text(it, field)));
    if before == Some(values) || (before.is_none() && values[0] == "False") {
        return false;
    }
    let [is, reason, message] = values;
    let new = json!({
        "type": name, "status": is, "lastProbeTime": now, "lastTransitionTime": now, "reason": reason, "message": message,
    });
    let conditions = status.get_mut("conditions").and_then(Value::as_array_mut);
    match conditions {
        None => status["conditions"] = json!([new]),
        Some(conditions) => match conditions.iter_mut().find(|it| it["type"] == name) {
            Some(old) => *old = new,
            None => conditions.push(new),
        },
    }
    true
}
