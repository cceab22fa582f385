//! Jobs: creates Pods until enough of them have succeeded, counts each once, and deletes finished Jobs after their time to
//! live.

mod backoff;
mod decide;
mod indexed;
mod indexes;
mod pods;
mod policy;
mod tracking;

use std::sync::Arc;

use kubewright_machinery::time;
use serde_json::Value;

use super::{
    Decision, Workloads,
    fields::{controller, items, text},
    write::{PODS, TRACKING, Write, without_finalizer},
};
use crate::{
    effects::Cluster,
    meta,
    status::Status,
    store::{Key, Record},
};
pub(super) use backoff::BackoffRecord;
use decide::Observed;
use pods::JobPod;

pub(super) const JOBS: &str = "batch/jobs";

/// The condition of a Job that has ended.
pub(super) fn end(job: &Value) -> Option<&Value> {
    let is_end = |it: &&Value| ["Complete", "Failed"].contains(&text(it, "/type")) && it["status"] == "True";
    items(job, "/status/conditions").iter().find(is_end)
}

/// Deletes a Job that has ended after its time to live.
fn clean_up(job: &Value, now: i64) -> Decision {
    let live = job.pointer("/spec/ttlSecondsAfterFinished").and_then(Value::as_i64);
    let ended = end(job).and_then(|end| time::seconds(text(end, "/lastTransitionTime")));
    match live.zip(ended).map(|(live, ended)| ended + live) {
        Some(_) if meta::is_deleting(job) => Decision::default(),
        Some(at) if at <= now => Write::Cascade(job.clone(), "Foreground").into(),
        Some(at) => Decision::at(at),
        None => Decision::default(),
    }
}

impl Workloads {
    pub(super) async fn job(&mut self, cluster: &Arc<Cluster>, key: &Key, job: &Value) -> Result<(), Status> {
        let now = cluster.core.now();
        if end(job).is_some() {
            self.backoffs.remove(key);
            return self.act(cluster, key, clean_up(job, now)).await;
        }
        let manager = job.pointer("/spec/managedBy").and_then(Value::as_str);
        if manager.is_some_and(|manager| manager != "kubernetes.io/job-controller") {
            return Ok(());
        }
        let own = self.claim(cluster, key, job).await?;
        let pods = of(&own);
        let mut observed = Observed {
            job,
            pods: &pods,
            backoff: 0,
            now,
        };
        let [succeeded, failed] = observed.finished();
        let backoff = self.backoffs.entry(key.clone()).or_default();
        backoff.update(&succeeded, &failed);
        observed.backoff = backoff.end();
        let decision = decide::decide(&observed, true);
        let creates = matches!(decision.writes.first(), Some(Write::Create(_)));
        let done = self.act(cluster, key, decision).await;
        if done.is_err() && creates {
            // The status counts the Pods that could be created.
            let pods = self.families.dependents(key, PODS);
            let pods = of(&pods.into_iter().map(|(_, pod)| pod).collect::<Vec<_>>());
            let observed = Observed {
                pods: &pods,
                ..observed
            };
            self.act(cluster, key, decide::decide(&observed, false)).await?;
        }
        done
    }

    /// Removes the finalizer of a Pod that no Job counts: its Job is gone or has ended, or it has none.
    pub(super) async fn untrack(&mut self, cluster: &Arc<Cluster>, key: &Key, pod: &Value) -> Result<(), Status> {
        if !meta::texts(pod, "finalizers").contains(&TRACKING) {
            return Ok(());
        }
        let owner = controller(pod);
        if owner.is_some_and(|owner| owner["kind"] != "Job" || owner["apiVersion"] != "batch/v1") {
            return Ok(());
        }
        let job = owner.and_then(|owner| {
            let record = cluster
                .core
                .store
                .get(&Key::new(JOBS, &key.namespace, text(owner, "/name")))?;
            Some(record.value()).filter(|job| owner["uid"] == meta::text(job, "uid"))
        });
        match job.is_some_and(|job| end(&job).is_none()) {
            true => Ok(()),
            false => {
                let write = Write::Update(without_finalizer(pod.clone(), TRACKING));
                self.act(cluster, key, write.into()).await
            }
        }
    }
}

fn of(records: &[Arc<Record>]) -> Vec<JobPod> {
    records.iter().map(|record| JobPod::of(record.value())).collect()
}
