//! CronJobs: creates a Job for each time of the schedule, and deletes old ones.

mod decide;
mod times;

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use kubewright_machinery::cron::parse;
use serde_json::Value;

use super::{
    Decision, Workloads, event,
    fields::{controller, text},
    jobs::JOBS,
    write::Write,
};
use crate::{effects::Cluster, meta, state::Core, status::Status, store::Key};
use times::Times;

pub(super) const CRON_JOBS: &str = "batch/cronjobs";

/// The Jobs of CronJobs.
#[derive(Default)]
pub(super) struct CronJobStates {
    jobs: HashMap<Key, BTreeSet<String>>,
    owners: HashMap<Key, Key>,
}

impl CronJobStates {
    /// Indexes the present state of a CronJob or Job; returns the CronJobs to decide about.
    pub fn look(&mut self, core: &Core, key: &Key) -> Vec<Key> {
        match &*key.resource {
            CRON_JOBS => vec![key.clone()],
            JOBS => {
                let job = core.store.get(key).map(|record| record.value()).unwrap_or_default();
                let owner = controller(&job).filter(|owner| owner["kind"] == "CronJob");
                let owner = owner.map(|owner| Key::new(CRON_JOBS, &key.namespace, text(owner, "/name")));
                let before = match &owner {
                    Some(owner) => self.owners.insert(key.clone(), owner.clone()),
                    None => self.owners.remove(key),
                };
                if let Some(before) = &before {
                    let jobs = self.jobs.get_mut(before);
                    jobs.is_some_and(|jobs| jobs.remove(&key.name) && jobs.is_empty())
                        .then(|| self.jobs.remove(before));
                }
                if let Some(owner) = &owner {
                    self.jobs.entry(owner.clone()).or_default().insert(key.name.clone());
                }
                before.into_iter().chain(owner).collect()
            }
            _ => Vec::new(),
        }
    }

    fn of(&self, core: &Core, key: &Key) -> Vec<Value> {
        let names = self.jobs.get(key).into_iter().flatten();
        let jobs = names.filter_map(|name| core.store.get(&Key::new(JOBS, &key.namespace, name)));
        jobs.map(|job| job.value()).collect()
    }
}

/// The times of a CronJob: of the zone in its schedule or spec, or of UTC.
fn times(cron: &Value) -> Option<Times> {
    let (zone, schedule) = parse(text(cron, "/spec/schedule")).ok()?;
    let zone = zone.or_else(|| cron["spec"]["timeZone"].as_str()).unwrap_or("UTC");
    let zone = times::zone(zone)?;
    Some(Times { schedule, zone })
}

impl Workloads {
    pub(super) async fn cron_job(&mut self, cluster: &Arc<Cluster>, key: &Key, cron: &Value) -> Result<(), Status> {
        let core = &cluster.core;
        let jobs = self.cron_jobs.of(core, key);
        let times = times(cron);
        let mut plan = decide::decide(cron, &jobs, times.as_ref(), core.now());
        if let Some(again) = plan.again {
            self.queue.add_at(again, key.clone());
        }
        self.act(cluster, key, std::mem::take(&mut plan.writes).into()).await?;
        let mut created = Ok(());
        if let (Some(due), Some(times)) = (plan.due, times) {
            let job = decide::job(cron, due, &times);
            let job_key = Key::new(JOBS, &key.namespace, meta::text(&job, "name"));
            let message = format!("Created job {}", job_key.name);
            created = match self.act(cluster, key, Write::Create(job).into()).await {
                Ok(()) => {
                    plan.events.push(("SuccessfulCreate", message));
                    Ok(())
                }
                // It was created before, and the status could not be written.
                Err(status) if status.is_taken() => Ok(()),
                other => other,
            };
            let stored = core
                .store
                .get(&job_key)
                .map(|record| record.value())
                .unwrap_or_default();
            if controller(&stored).is_some_and(|owner| owner["uid"] == meta::text(cron, "uid")) {
                decide::started(&mut plan.status, &stored, due);
            }
        }
        self.act(cluster, key, Decision::about_status(cron, plan.status, None))
            .await?;
        for (reason, message) in plan.events {
            let event = event::normal(cron, "cronjob-controller", [reason, &message], core.now());
            // As upstream, an Event that is refused is lost.
            let _ = Write::Create(event).send(cluster).await;
        }
        created
    }
}
