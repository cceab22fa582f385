//! The indexes of an indexed Job: succeeded, failed, and the next ones to run.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    super::fields::{int, text},
    backoff,
    decide::{JobEnd, Observed},
    indexes::IndexSet,
    pods::{JobPod, new_pod, set_failures},
    policy::{self, Consequence},
};

/// The indexes of a Job; empty for one that is not indexed.
#[derive(Default)]
pub(super) struct JobIndexes {
    /// The succeeded indexes in the status.
    pub counted: IndexSet,
    /// These indexes, and the succeeded indexes of Pods that are not yet counted.
    pub succeeded: IndexSet,
    /// The failed indexes, if each has a limit.
    pub failed: Option<IndexSet>,
    /// The uids of failed Pods that stay tracked until their index has another Pod, by index: that one continues to count
    /// the failures of the index.
    waiting: BTreeMap<i64, JobPod>,
}

impl JobIndexes {
    pub fn of(observed: &Observed<'_>) -> Self {
        if !observed.is_indexed() {
            return Self::default();
        }
        let [succeeded_pods, failed_pods] = observed.finished();
        let completions = observed.completions().unwrap_or_default();
        let counted = IndexSet::parse(text(observed.job, "/status/completedIndexes"), completions);
        let mut indexes = Self {
            succeeded: counted.clone(),
            counted,
            ..Self::default()
        };
        indexes
            .succeeded
            .extend(succeeded_pods.iter().filter_map(|pod| pod.index));
        if let Some(limit) = observed.limit_per_index() {
            let mut failed = IndexSet::parse(text(observed.job, "/status/failedIndexes"), completions);
            let is_last = |pod: &&&JobPod| match policy::consequence(observed.job, &pod.object) {
                Consequence::FailsIndex => true,
                Consequence::Ignored => false,
                _ => pod.failures_before()[0] >= limit,
            };
            failed.extend(failed_pods.iter().filter(is_last).filter_map(|pod| pod.index));
            indexes.failed = Some(failed);
            indexes.wait(observed, &failed_pods);
        }
        indexes
    }

    fn wait(&mut self, observed: &Observed<'_>, failed: &[&JobPod]) {
        let active: Vec<_> = observed.pods.iter().filter(|pod| pod.is_active()).collect();
        let order = |pod: &JobPod| (pod.failures_before().iter().sum::<i64>(), pod.finished());
        for pod in failed {
            let Some(index) = pod.index else { continue };
            let is_done = self.succeeded.has(index) || self.has_failed(index);
            let is_earlier = |other: &JobPod| order(pod) < order(other);
            if is_done
                || active.iter().any(|it| it.index == pod.index)
                || self.waiting.get(&index).is_some_and(is_earlier)
            {
                continue;
            }
            self.waiting.insert(index, (*pod).clone());
        }
    }

    fn has_failed(&self, index: i64) -> bool {
        self.failed.as_ref().is_some_and(|failed| failed.has(index))
    }

    /// Whether the Pod stays tracked until its index has another one.
    pub fn keeps(&self, pod: &JobPod) -> bool {
        let waiting = pod.index.and_then(|index| self.waiting.get(&index));
        waiting.is_some_and(|waiting| waiting.uid() == pod.uid())
    }

    /// The failure because of failed indexes.
    pub fn end(&self, observed: &Observed<'_>) -> Option<JobEnd> {
        let failed = self.failed.as_ref()?.count();
        let most = observed.job.pointer("/spec/maxFailedIndexes").and_then(Value::as_i64);
        if most.is_some_and(|most| failed > most) {
            let message = "Job has exceeded the specified maximal number of failed indexes".to_owned();
            return Some(JobEnd::failure("MaxFailedIndexesExceeded", message));
        }
        let is_over = failed > 0 && failed + self.succeeded.count() >= int(observed.job, "/spec/completions");
        is_over.then(|| JobEnd::failure("FailedIndexes", "Job has failed indexes".to_owned()))
    }

    /// At most so many new Pods for the first indexes that need one; when to look again if all of them have to wait.
    pub fn next_pods(&self, observed: &Observed<'_>, most: usize) -> (Vec<Value>, Option<i64>) {
        let occupies = |pod: &&JobPod| pod.is_active() || (observed.waits() && pod.is_terminating());
        let mut occupied = self.succeeded.clone();
        occupied.extend(observed.pods.iter().filter(occupies).filter_map(|pod| pod.index));
        let free = (0..observed.completions().unwrap_or_default()).filter(|index| !occupied.has(*index));
        let next: Vec<i64> = free.filter(|index| !self.has_failed(*index)).take(most).collect();
        let until = |index: &i64| {
            let before = self.waiting.get(index);
            before.map_or(0, |pod| {
                backoff::end(pod.failures_before().iter().sum::<i64>() + 1, pod.finished())
            })
        };
        let ready = next.iter().filter(|index| until(index) <= observed.now);
        let pods: Vec<Value> = ready.map(|index| self.new_pod(observed, *index)).collect();
        let again = next.iter().map(until).filter(|at| *at > observed.now).min();
        (pods, again)
    }

    fn new_pod(&self, observed: &Observed<'_>, index: i64) -> Value {
        let mut pod = new_pod(observed.job, Some(index));
        if observed.limit_per_index().is_some() {
            let before = self.waiting.get(&index).map(|before| {
                let [counted, ignored] = before.failures_before();
                match policy::consequence(observed.job, &before.object) {
                    Consequence::Ignored => [counted, ignored + 1],
                    _ => [counted + 1, ignored],
                }
            });
            set_failures(&mut pod, before.unwrap_or_default());
        }
        pod
    }
}
