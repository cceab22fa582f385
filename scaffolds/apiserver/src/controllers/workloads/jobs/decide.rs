//! The next step of a Job: Pods to create or to delete, and then its status.

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{
    super::{
        Decision,
        fields::{self, int, items, text},
        write::Write,
    },
    indexed::JobIndexes,
    pods::{JobPod, first_to_go, new_pod},
    policy::{self, Consequence},
    tracking,
};
use crate::meta;

/// The maximum number of Pods that one step creates.
const MOST: usize = 500;

/// A Job as the controller observes it.
#[derive(Clone, Copy)]
pub(super) struct Observed<'a> {
    pub job: &'a Value,
    pub pods: &'a [JobPod],
    /// When the next Pods may be created after failures.
    pub backoff: i64,
    pub now: i64,
}

/// The end of a Job: success or failure.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JobEnd {
    pub is_success: bool,
    pub reason: String,
    pub message: String,
}

/// The numbers of Pods in the status.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PodCounts {
    pub active: i64,
    pub ready: i64,
    pub terminating: i64,
    pub succeeded: i64,
    pub failed: i64,
}

/// The Pods to create and to delete.
#[derive(Default)]
struct Managed {
    writes: Vec<Write>,
    again: Option<i64>,
}

impl Observed<'_> {
    pub fn completions(&self) -> Option<i64> {
        self.job.pointer("/spec/completions").and_then(Value::as_i64)
    }

    pub fn is_indexed(&self) -> bool {
        text(self.job, "/spec/completionMode") == "Indexed"
    }

    /// The limit of failures for each index.
    pub fn limit_per_index(&self) -> Option<i64> {
        self.job.pointer("/spec/backoffLimitPerIndex").and_then(Value::as_i64)
    }

    /// Whether a Pod is replaced only after its end.
    pub fn waits(&self) -> bool {
        text(self.job, "/spec/podReplacementPolicy") == "Failed" || self.job["spec"]["podFailurePolicy"].is_object()
    }

    fn is_suspended(&self) -> bool {
        self.job["spec"]["suspend"] == true
    }

    /// Whether a Pod counts for the Job: in an indexed one, those with a valid index.
    pub fn is_valid(&self, pod: &JobPod) -> bool {
        !self.is_indexed()
            || pod
                .index
                .is_some_and(|index| index < self.completions().unwrap_or_default())
    }

    fn active(&self) -> impl Iterator<Item = &JobPod> {
        self.pods.iter().filter(|pod| pod.is_active())
    }

    /// The Pods that are tracked and have succeeded, and those that have failed.
    pub fn finished(&self) -> [Vec<&JobPod>; 2] {
        let tracked = self.pods.iter().filter(|pod| pod.is_tracked && self.is_valid(pod));
        let succeeded = tracked.clone().filter(|pod| pod.has_succeeded());
        [
            succeeded.collect(),
            tracked.filter(|pod| pod.has_failed(self.waits())).collect(),
        ]
    }

    fn counts(&self) -> PodCounts {
        let count =
            |is: &dyn Fn(&&JobPod) -> bool| i64::try_from(self.pods.iter().filter(is).count()).unwrap_or_default();
        let [succeeded, failed] = self.finished();
        let sum = |field: &str, pods: Vec<&JobPod>| {
            let uids = items(self.job, &format!("/status/uncountedTerminatedPods/{field}"));
            let new = pods.iter().filter(|pod| !uids.iter().any(|uid| uid == pod.uid()));
            let counts = |pod: &&&JobPod| policy::consequence(self.job, &pod.object) != Consequence::Ignored;
            let new = new.filter(|pod| field == "succeeded" || counts(pod)).count();
            int(self.job, &format!("/status/{field}")) + i64::try_from(new + uids.len()).unwrap_or_default()
        };
        PodCounts {
            active: count(&|pod| pod.is_active()),
            ready: count(&|pod| pod.is_active() && pod.is_ready()),
            terminating: count(&|pod| pod.is_terminating()),
            succeeded: sum("succeeded", succeeded),
            failed: sum("failed", failed),
        }
    }

    /// The end that the Job has reached.
    fn end(&self, counts: &PodCounts, indexes: &JobIndexes) -> Option<JobEnd> {
        let end = self.decided().or_else(|| self.failure(counts));
        if !self.is_indexed() || end.is_some() {
            return end;
        }
        let completions = self.completions().unwrap_or_default();
        let success = || policy::success(self.job, completions, &indexes.succeeded);
        let success = || success().map(|message| JobEnd::success("SuccessPolicy", message));
        indexes.end(self).or_else(success)
    }

    /// The end that the status contains.
    pub fn decided(&self) -> Option<JobEnd> {
        let conditions = items(self.job, "/status/conditions").iter();
        let mut named = conditions.filter(|it| it["status"] == "True");
        let found = named.find(|it| ["SuccessCriteriaMet", "FailureTarget"].contains(&text(it, "/type")))?;
        Some(JobEnd {
            is_success: text(found, "/type") == "SuccessCriteriaMet",
            reason: text(found, "/reason").to_owned(),
            message: text(found, "/message").to_owned(),
        })
    }

    fn failure(&self, counts: &PodCounts) -> Option<JobEnd> {
        let mut failed = self.pods.iter().filter(|pod| pod.has_failed(self.waits()));
        let fails = failed.find_map(|pod| match policy::consequence(self.job, &pod.object) {
            Consequence::FailsJob(message) => Some(message),
            _ => None,
        });
        if let Some(message) = fails {
            return Some(JobEnd::failure("PodFailurePolicy", message));
        }
        let limit = int(self.job, "/spec/backoffLimit");
        let restarts: i64 = match text(self.job, "/spec/template/spec/restartPolicy") {
            "OnFailure" => self.pods.iter().map(JobPod::restarts).sum(),
            _ => 0,
        };
        if counts.failed > limit || restarts >= limit.max(1) {
            let message = "Job has reached the specified backoff limit".to_owned();
            return Some(JobEnd::failure("BackoffLimitExceeded", message));
        }
        let late = self.deadline().is_some_and(|deadline| deadline <= self.now);
        late.then(|| {
            let message = "Job was active longer than specified deadline".to_owned();
            JobEnd::failure("DeadlineExceeded", message)
        })
    }

    /// When the Job fails because it has been active for too long.
    fn deadline(&self) -> Option<i64> {
        let seconds = self
            .job
            .pointer("/spec/activeDeadlineSeconds")
            .and_then(Value::as_i64)?;
        let started = time::seconds(text(self.job, "/status/startTime")).unwrap_or(self.now);
        (!self.is_suspended()).then_some(started.saturating_add(fields::go_seconds(seconds)))
    }

    /// The number of Pods that should be active.
    fn wanted(&self, counts: &PodCounts) -> i64 {
        let parallelism = int(self.job, "/spec/parallelism");
        match self.completions() {
            None if counts.succeeded > 0 => counts.active,
            None => parallelism,
            Some(completions) => (completions - counts.succeeded).clamp(0, parallelism),
        }
    }

    /// The Pods to delete, or those to create.
    fn manage(&self, counts: &PodCounts, indexes: &JobIndexes) -> Managed {
        let suspended = self.is_suspended();
        let wanted = if suspended { 0 } else { self.wanted(counts) };
        let surplus = self.surplus(usize::try_from(counts.active - wanted).unwrap_or_default());
        if suspended || !surplus.is_empty() {
            return Managed {
                writes: surplus.into_iter().flat_map(JobPod::remove).collect(),
                again: None,
            };
        }
        let terminating = if self.waits() { counts.terminating } else { 0 };
        let missing = usize::try_from(wanted - terminating - counts.active).unwrap_or_default();
        if missing == 0 {
            return Managed::default();
        }
        if self.backoff > self.now && self.limit_per_index().is_none() {
            return Managed {
                again: Some(self.backoff),
                ..Managed::default()
            };
        }
        let create = |pods: Vec<Value>| pods.into_iter().map(Write::Create).collect();
        match self.is_indexed() {
            true => {
                let (pods, again) = indexes.next_pods(self, missing.min(MOST));
                Managed {
                    writes: create(pods),
                    again,
                }
            }
            false => Managed {
                writes: create((0..missing.min(MOST)).map(|_| new_pod(self.job, None)).collect()),
                again: None,
            },
        }
    }

    /// The active Pods to delete: those with a repeated or invalid index, and at least so many.
    fn surplus(&self, least: usize) -> Vec<&JobPod> {
        let mut left: Vec<&JobPod> = self.active().collect();
        left.sort_by(|one, other| first_to_go(other, one));
        let mut indexes = std::collections::BTreeSet::new();
        let is_first = |pod: &&JobPod| self.is_valid(pod) && (!self.is_indexed() || indexes.insert(pod.index));
        let (mut left, mut gone): (Vec<&JobPod>, Vec<&JobPod>) = left.into_iter().partition(is_first);
        while gone.len() < least
            && let Some(pod) = left.pop()
        {
            gone.push(pod);
        }
        gone.truncate(MOST.max(least * usize::from(self.is_suspended())));
        gone
    }
}

impl JobEnd {
    pub fn success(reason: &str, message: String) -> Self {
        Self {
            is_success: true,
            reason: reason.to_owned(),
            message,
        }
    }

    pub fn failure(reason: &str, message: String) -> Self {
        Self {
            is_success: false,
            reason: reason.to_owned(),
            message,
        }
    }
}

impl PodCounts {
    /// Counts writes as if they had been done.
    fn after(mut self, writes: &[Write]) -> Self {
        for write in writes {
            match write {
                Write::Create(_) => self.active += 1,
                Write::Delete(pod, _) => {
                    self.active -= 1;
                    self.terminating += 1;
                    self.ready -= i64::from(JobPod::of(pod.clone()).is_ready());
                }
                _ => {}
            }
        }
        self
    }
}

/// The next step of a Job that has not finished. `manages` is false after a refused write: then the status alone is
/// written, from the Pods that there are.
pub(super) fn decide(observed: &Observed<'_>, manages: bool) -> Decision {
    let indexes = JobIndexes::of(observed);
    let mut counts = observed.counts();
    if observed.is_indexed() {
        counts.succeeded = indexes.succeeded.count();
    }
    let mut end = observed.end(&counts, &indexes);
    let mut status = observed.job["status"].clone();
    if status["startTime"].is_null() && !observed.is_suspended() {
        status["startTime"] = json!(time::text(observed.now));
    }
    let mut managed = Managed::default();
    let is_managed = end.is_none() && manages && !meta::is_deleting(observed.job);
    if end.is_some() {
        managed.writes = observed
            .active()
            .map(|pod| Write::Delete(pod.object.clone(), None))
            .collect();
    } else if is_managed {
        managed = observed.manage(&counts, &indexes);
    }
    counts = counts.after(&managed.writes);
    let is_complete = match observed.completions() {
        None => counts.succeeded > 0 && counts.active == 0,
        Some(completions) => counts.succeeded >= completions && counts.active == 0,
    };
    if end.is_none() && is_complete {
        let message = "Reached expected number of succeeded pods".to_owned();
        end = Some(JobEnd::success("CompletionsReached", message));
    } else if is_managed {
        suspend(&mut status, observed);
    }
    for (field, count) in [("ready", counts.ready), ("terminating", counts.terminating)] {
        status[field] = json!(count);
    }
    super::super::fields::set_count(&mut status, "active", counts.active);
    let deadline = observed.deadline().filter(|_| end.is_none());
    let again = [managed.again, deadline].into_iter().flatten().min();
    let tracked = tracking::track(observed, status, &tracking::Tracked { end, counts, indexes });
    Decision { again, ..tracked }.after(managed.writes)
}

/// Sets the condition `Suspended`, and the start time that depends on it.
fn suspend(status: &mut Value, observed: &Observed<'_>) {
    let now = time::text(observed.now);
    if observed.is_suspended() {
        if tracking::set(status, "Suspended", ["True", "JobSuspended", "Job suspended"], &now)
            && let Some(status) = status.as_object_mut()
        {
            status.remove("startTime");
        }
    } else if tracking::set(status, "Suspended", ["False", "JobResumed", "Job resumed"], &now) {
        status["startTime"] = json!(now);
    }
}
