//! Workloads: the controllers of Deployments, ReplicaSets, ReplicationControllers, StatefulSets, DaemonSets, Jobs, CronJobs,
//! HorizontalPodAutoscalers and Services, a scheduler that assigns Pods to the node `dev`, a kubelet that runs nothing, and
//! the end of the protection of claims and volumes, and whether a claim is used.
//!
//! Each decision is a pure function from the observed objects to writes. A change of an object queues its owner, so the
//! work for a change is proportional to the dependents of one owner. An object is indexed from the store after each own
//! write and after each change, so decisions are never based on a state before the controllers' own writes.

mod autoscale;
mod behaviour;
mod budget;
mod containers;
mod cron_jobs;
mod daemon_set;
mod event;
mod families;
mod family;
mod fields;
mod history;
mod jobs;
mod kubelet;
mod lost;
mod node;
mod ownership;
mod placement;
mod progress;
mod protection;
mod queue;
mod replica_set;
mod revisions;
mod rollout;
mod scale_limits;
mod scales;
mod scaling;
mod services;
mod sets;
mod stateful_set;
mod storage;
mod write;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::{Arc, Weak},
    time::Duration,
};

use futures::FutureExt;
use serde_json::Value;
use tokio::task::yield_now;

use super::retries::until;
use crate::{
    effects::Cluster,
    state::Core,
    status::Status,
    store::{Key, Record},
};
use autoscale::{AUTOSCALERS, ScalerStates};
use cron_jobs::{CRON_JOBS, CronJobStates};
use daemon_set::{FailedDaemons, Nodes};
use families::Families;
use family::Relation;
use jobs::{BackoffRecord, JOBS};
use protection::ClaimUsers;
use queue::Queue;
use replica_set::{Failure, Pod};
use sets::Set;
use storage::Storage;
use write::{
    BUDGETS, CLAIMS, CLASSES, DAEMON_SETS, DEPLOYMENTS, ENDPOINTS, NODES, PODS, REPLICA_SETS, REPLICATION_CONTROLLERS,
    SERVICES, STATEFUL_SETS, VOLUMES, Write,
};

#[cfg(feature = "testing")]
pub use self::{kubelet::decide as play, storage::provisioned, write::Write as Written};

/// The result of a decision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// The writes, in their order.
    pub writes: Vec<Write>,
    /// When to decide again even if nothing changes, in seconds since 1970.
    pub again: Option<i64>,
}

impl Decision {
    fn at(again: i64) -> Self {
        Self {
            writes: Vec::new(),
            again: Some(again),
        }
    }

    /// Writes the status of the object if it differs.
    fn about_status(object: &Value, status: Value, again: Option<i64>) -> Self {
        let mut changed = object.clone();
        changed["status"] = status;
        let write = (changed != *object).then_some(Write::Status(changed));
        Self {
            writes: write.into_iter().collect(),
            again,
        }
    }

    /// The same, after these writes.
    fn after(mut self, mut writes: Vec<Write>) -> Self {
        writes.append(&mut self.writes);
        Self { writes, ..self }
    }
}

impl From<Write> for Decision {
    fn from(write: Write) -> Self {
        vec![write].into()
    }
}

impl From<Vec<Write>> for Decision {
    fn from(writes: Vec<Write>) -> Self {
        Self { writes, again: None }
    }
}

/// Runs the controllers, and starts over when the history was compacted beyond a change that they had not yet seen.
pub(super) async fn run(cluster: Weak<Cluster>) {
    if let Some(cluster) = cluster.upgrade() {
        for write in [node::create(), storage::class()] {
            // Those of an earlier server are kept as they are.
            drop(write.send(&cluster).await);
        }
    }
    while follow(&cluster).await.is_some() {}
}

/// Follows all changes; `None` when the server is gone, otherwise changes were missed.
async fn follow(cluster: &Weak<Cluster>) -> Option<()> {
    let mut workloads = Workloads::default();
    let (records, mut changes) = cluster.upgrade()?.core.store.follow();
    for record in &records {
        workloads.look(&cluster.upgrade()?.core, &record.key);
    }
    drop(records);
    loop {
        let next = if workloads.queue.is_idle() {
            let wait = workloads.wait(&cluster.upgrade()?.core);
            tokio::select! {
                biased;
                next = changes.next() => Some(next),
                () = tokio::time::sleep(wait) => None,
            }
        } else {
            yield_now().await;
            changes.next().now_or_never()
        };
        let cluster = cluster.upgrade()?;
        match next {
            Some(Ok(changes)) => changes
                .iter()
                .for_each(|change| workloads.look(&cluster.core, &change.record.key)),
            Some(Err(_)) => return Some(()),
            None => {}
        }
        workloads.queue.wake(cluster.core.now());
        for _ in 0..super::SLICE {
            workloads.work(&cluster).await;
        }
    }
}

/// The indexed objects, and those to decide about.
#[derive(Default)]
struct Workloads {
    families: Families,
    /// The delays of Jobs after failed Pods.
    backoffs: HashMap<Key, BackoffRecord>,
    cron_jobs: CronJobStates,
    scalers: ScalerStates,
    /// The deletions of failed Pods of DaemonSets.
    failed_daemons: HashMap<Key, FailedDaemons>,
    nodes: Nodes,
    /// The time since which a node is missing, or its kubelet has not reported.
    lost: HashMap<String, i64>,
    /// The Pods that wait until the node takes them.
    unassigned: BTreeSet<(String, String)>,
    /// The claims and volumes that are being deleted, and protected.
    protected: HashSet<Key>,
    claim_users: ClaimUsers,
    storage: Storage,
    queue: Queue,
}

impl Workloads {
    /// The time until the next decision that no change causes.
    fn wait(&self, core: &Core) -> Duration {
        self.queue
            .next()
            .map_or(Duration::from_secs(3600), |at| until(core, at))
    }

    /// Indexes the present state of an object, and queues what depends on it.
    fn look(&mut self, core: &Core, key: &Key) {
        for key in self.cron_jobs.look(core, key) {
            self.queue.add(key);
        }
        match &*key.resource {
            CLAIMS | VOLUMES | CLASSES => self.look_at_storage(core, key),
            NODES => return self.look_at_node(core, key),
            // Endpoints have the name of their Service, and depend on it.
            ENDPOINTS => return self.queue.add(Key::new(SERVICES, &key.namespace, &key.name)),
            SERVICES => self.queue.add(Key::new(ENDPOINTS, &key.namespace, &key.name)),
            CRON_JOBS if core.store.get(key).is_none() => return self.queue.forget(key),
            AUTOSCALERS => {
                if core.store.get(key).is_none() {
                    self.scalers.remove(key);
                }
                return self.queue.add(key.clone());
            }
            resource if Families::contain(resource) => {}
            _ => return,
        }
        let record = core.store.get(key);
        let object = record.as_ref().map(|record| record.value()).unwrap_or_default();
        if &*key.resource == JOBS && record.is_none() {
            self.backoffs.remove(key);
            // Its Pods are tracked no longer.
            let pods = self.families.dependents(key, PODS);
            pods.into_iter().for_each(|(_, pod)| self.queue.add(pod.key.clone()));
        }
        for owner in self.families.look(key, record.as_ref(), &object) {
            // A Deployment that recreates its Pods waits until the last old one is gone.
            if &*key.resource == PODS
                && record.is_none()
                && &*owner.resource == REPLICA_SETS
                && let Some(deployment) = self.families.owner_of(&owner)
            {
                self.queue.add(deployment.clone());
            }
            self.queue.add(owner);
        }
        if record.is_none() {
            self.failed_daemons.remove(key);
        }
        if &*key.resource == PODS {
            let claims = self.protected.iter().filter(|it| it.namespace == key.namespace);
            claims.for_each(|claim| self.queue.add(claim.clone()));
            for claim in self.claim_users.look(key, record.as_ref().map(|_| &object)) {
                self.queue.add(claim);
            }
        }
        match record {
            Some(_) => self.queue.add(key.clone()),
            None => self.queue.forget(key),
        }
    }

    /// Decides about the next object of the queue.
    async fn work(&mut self, cluster: &Arc<Cluster>) {
        let Some(key) = self.queue.take() else { return };
        let Some(record) = cluster.core.store.get(&key) else {
            return;
        };
        let object = record.value();
        let done = super::isolated(async {
            match &*key.resource {
                DEPLOYMENTS => self.deployment(cluster, &key, &object).await,
                REPLICA_SETS | REPLICATION_CONTROLLERS => self.replica_set(cluster, &key, &object).await,
                STATEFUL_SETS => self.stateful_set(cluster, &key, &object).await,
                DAEMON_SETS => self.daemon_set(cluster, &key, &object).await,
                NODES => self.node(cluster, &key, &object).await,
                JOBS => self.job(cluster, &key, &object).await,
                CRON_JOBS => self.cron_job(cluster, &key, &object).await,
                AUTOSCALERS => self.autoscaler(cluster, &key, &object).await,
                SERVICES => self.service(cluster, &key, &object).await,
                ENDPOINTS => self.endpoints(cluster, &key, &object).await,
                BUDGETS => self.budget(cluster, &key, &object).await,
                CLAIMS => self.storage_claim(cluster, &key, &object).await,
                VOLUMES => self.volume(cluster, &key, &object).await,
                PODS => self.pod(cluster, &key, &object).await,
                _ => Ok(()),
            }
        });
        match done.await {
            Ok(()) => self.queue.forget(&key),
            Err(_) => self.queue.failed(&key, cluster.core.now()),
        }
    }

    async fn deployment(&mut self, cluster: &Arc<Cluster>, key: &Key, deployment: &Value) -> Result<(), Status> {
        let own = self.claim(cluster, key, deployment).await?;
        let runs = |record: &Record| {
            let pods = self.families.dependents(&record.key, PODS);
            let pods = pods.iter().filter(|(relation, _)| *relation == Relation::Own);
            pods.map(|(_, record)| Pod::of(record.value()))
                .any(|pod| !pod.is_finished())
        };
        let needs_pods = !sets::is_rolling(deployment);
        let set = |record: &Arc<Record>| Set {
            object: record.value(),
            runs: needs_pods && runs(record),
        };
        let sets = own.iter().map(set).collect();
        let now = cluster.core.now();
        let decision = rollout::decide(deployment, sets, now);
        let creates = matches!(decision.writes.first(), Some(Write::Create(_)));
        match self.act(cluster, key, decision).await {
            Err(status) if creates => {
                let failed = revisions::not_created(deployment, status.is_taken(), &status.message, now);
                self.act(cluster, key, failed.into_iter().collect::<Vec<_>>().into())
                    .await?;
                Err(status)
            }
            other => other,
        }
    }

    async fn replica_set(&mut self, cluster: &Arc<Cluster>, key: &Key, set: &Value) -> Result<(), Status> {
        let own = self.claim(cluster, key, set).await?;
        let pods: Vec<Pod> = own.iter().map(|record| Pod::of(record.value())).collect();
        let now = cluster.core.now();
        let writes = replica_set::manage(set, &pods, now);
        let creates = matches!(writes.first(), Some(Write::Create(_)));
        let done = self.act(cluster, key, writes.into()).await;
        let failure = done.as_ref().err().map(|status| Failure {
            creates,
            message: status.message.clone(),
        });
        let decision = replica_set::status(set, &pods, failure.as_ref(), now);
        self.act(cluster, key, decision).await?;
        done
    }

    /// Sends the writes of a decision until one is refused.
    async fn act(&mut self, cluster: &Arc<Cluster>, key: &Key, decision: Decision) -> Result<(), Status> {
        if let Some(again) = decision.again {
            self.queue.add_at(again, key.clone());
        }
        let revision = |key: &Key| cluster.core.store.get(key).map(|record| record.revision);
        for write in decision.writes {
            let before = revision(&write.key());
            match write.send(cluster).await {
                // The server stores the object as it was, in a form of its own: the decision would be the same.
                Ok(key) if revision(&key) == before => {}
                Ok(key) => self.look(&cluster.core, &key),
                // That change is in the feed, and causes another decision.
                Err(_) if write.is_outdated(&cluster.core) => self.look(&cluster.core, &write.key()),
                Err(status) => return Err(status),
            }
        }
        Ok(())
    }
}
