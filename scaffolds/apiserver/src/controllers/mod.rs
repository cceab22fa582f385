//! The controllers of a real cluster's controller manager on which operators rely: the garbage collector, namespace
//! deletion, ClusterRole aggregation and, on request, the ServiceAccount `default` and workloads. Each can be left out: a
//! kube-apiserver alone has none of them.
//!
//! They write through the registry as clients do, one after the other. The work for a change is proportional to that
//! change, however many objects there are: each controller keeps an index of what it needs, updated by the changes. After a
//! refused write they try again: after one second, then after twice as long each time, at most 64 seconds.

mod act;
pub(crate) mod bootstrap;
mod cluster_roles;
mod content;
mod flow;
mod free;
mod garbage;
mod graph;
mod namespaces;
mod policy_types;
mod quotas;
mod retries;
mod root_ca;
mod service_accounts;
mod upkeep;
mod waiting;
pub(crate) mod workloads;

use std::{
    future,
    panic::AssertUnwindSafe,
    sync::{Arc, Weak},
    time::Duration,
};

use futures::FutureExt;
use tokio::{
    runtime::Handle,
    task::{AbortHandle, yield_now},
};

use crate::{
    auth::Authenticator,
    effects::Cluster,
    state::Core,
    status::Status,
    store::{Change, ChangeKind, Key, Record},
};
use cluster_roles::ClusterRoles;
use garbage::Garbage;
use namespaces::Namespaces;
use quotas::Quotas;
use upkeep::Upkeep;

/// The number of objects that a controller processes before the others have their turn.
const SLICE: usize = 64;

/// The controllers to run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Controllers {
    /// Deletes objects whose owners are all gone, and completes foreground and orphaning deletions.
    pub garbage_collector: bool,
    /// Empties terminating namespaces, and completes their deletion.
    pub namespaces: bool,
    /// Gives ClusterRoles with an `aggregationRule` the rules of those that it selects.
    pub cluster_roles: bool,
    /// Keeps what quotas allow and what is used of it in the status of ResourceQuotas, without which they limit nothing.
    pub resource_quotas: bool,
    /// Writes the errors into the status of ValidatingAdmissionPolicies that their expressions have with the schemas of kinds.
    pub policy_types: bool,
    /// Creates the ServiceAccount `default` in every namespace, and the ConfigMap `kube-root-ca.crt` with the
    /// [certificate authority](crate::Options::certificate_authority) of the server, if there is one. Fills Secrets of the type
    /// `kubernetes.io/service-account-token`.
    pub service_accounts: bool,
    /// Rolls out Deployments, StatefulSets and DaemonSets, creates the Pods of ReplicaSets and Jobs, and reports Pods as running
    /// on a node `dev`: no container runs. Services have the addresses of their Pods, claims are bound to volumes without
    /// storage, and disruption budgets count Pods. Claims and volumes that are being deleted go once nothing uses them.
    pub workloads: bool,
}

impl Controllers {
    /// No controllers, like a kube-apiserver alone.
    pub const NONE: Self = Self {
        garbage_collector: false,
        namespaces: false,
        cluster_roles: false,
        resource_quotas: false,
        policy_types: false,
        service_accounts: false,
        workloads: false,
    };
}

impl Default for Controllers {
    fn default() -> Self {
        Self {
            garbage_collector: true,
            namespaces: true,
            cluster_roles: true,
            resource_quotas: true,
            policy_types: true,
            service_accounts: false,
            workloads: false,
        }
    }
}

/// The settings of controllers.
pub(crate) struct ControllerSettings {
    pub controllers: Controllers,
    /// The certificate authority of the server in PEM; empty for a server without one.
    pub authority: String,
    /// Issues the tokens of Secrets.
    pub authenticator: Arc<Authenticator>,
}

/// Running controllers; they stop when this is dropped.
#[derive(Debug)]
pub(crate) struct Running(Vec<AbortHandle>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}

/// Starts controllers on a runtime. They hold the server weakly, so they do not keep it alive.
pub(crate) fn start(cluster: &Arc<Cluster>, settings: ControllerSettings, runtime: &Handle) -> Running {
    let has_workloads = settings.controllers.workloads;
    let mut running = vec![runtime.spawn(run(Arc::downgrade(cluster), settings)).abort_handle()];
    if has_workloads {
        running.push(runtime.spawn(workloads::run(Arc::downgrade(cluster))).abort_handle());
    }
    Running(running)
}

/// Runs the controllers, and starts over when the history was compacted beyond a change that they had not yet seen.
async fn run(cluster: Weak<Cluster>, settings: ControllerSettings) {
    let mut worker = Worker {
        controllers: settings.controllers,
        upkeep: Upkeep::new(settings),
        garbage: Garbage::default(),
        namespaces: Namespaces::default(),
        cluster_roles: ClusterRoles::default(),
        quotas: Quotas::default(),
    };
    while follow(&cluster, &mut worker).await.is_some() {}
}

/// Follows all changes; `None` when the server is gone or its disk has failed, otherwise changes were missed.
async fn follow(cluster: &Weak<Cluster>, worker: &mut Worker) -> Option<()> {
    let (records, mut changes) = cluster.upgrade()?.core.store.follow();
    let mut served = cluster.upgrade()?.core.catalogue.generations();
    let mut charged = cluster.upgrade()?.core.charged.ends();
    let mut generation = *served.borrow_and_update();
    worker.begin(&cluster.upgrade()?, &records).await;
    drop(records);
    loop {
        let (is_idle, retry) = worker.plan(&cluster.upgrade()?.core);
        let next = if is_idle {
            tokio::select! {
                biased;
                next = changes.next() => Some(next),
                changed = served.changed() => changed.ok().map(|()| None)?,
                ended = charged.changed() => ended.ok().map(|()| None)?,
                () = pause(retry) => None,
            }
        } else {
            // Read changes first: the history must not be compacted beyond them while there is much work.
            yield_now().await;
            changes.next().now_or_never()
        };
        let cluster = cluster.upgrade()?;
        // The last changes in memory never arrive, so there would always be work.
        if cluster.core.store.failure().is_some() {
            return None;
        }
        match next {
            Some(Ok(changes)) => worker.follow(&cluster, &changes).await,
            Some(Err(_)) => return Some(()),
            None => {}
        }
        let now = *served.borrow_and_update();
        if now != generation {
            generation = now;
            worker.garbage.look_again(&cluster.core);
            worker.quotas.look_again();
        }
        worker.quotas.failed(&cluster.core);
        worker.work(&cluster).await;
    }
}

/// Work about one object: a panic, which the panic hook reports, is a failure of this work alone.
async fn isolated<T>(work: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.unwrap_or_else(|_| Err(Status::internal("the work of a controller caused a panic")))
}

/// Ends after this time; never without one.
async fn pause(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => future::pending().await,
    }
}

struct Worker {
    controllers: Controllers,
    upkeep: Upkeep,
    garbage: Garbage,
    namespaces: Namespaces,
    cluster_roles: ClusterRoles,
    quotas: Quotas,
}

impl Worker {
    /// Passes all existing objects to the controllers.
    async fn begin(&mut self, cluster: &Arc<Cluster>, records: &[Arc<Record>]) {
        if self.controllers.garbage_collector {
            self.garbage.begin(records);
        }
        self.namespaces = Namespaces::default();
        if self.controllers.cluster_roles {
            self.cluster_roles = ClusterRoles::default();
            self.cluster_roles.begin(&cluster.core, records);
        }
        if self.controllers.resource_quotas {
            self.quotas = Quotas::default();
            self.quotas.begin(&cluster.core, records);
        }
        for record in records {
            // Each FlowSchema is looked at itself.
            if &*record.key.resource != crate::flow::LEVELS {
                self.upkeep.follow(cluster, &record.key, false).await;
            }
            self.see_namespace(&cluster.core, &record.key);
        }
    }

    /// Passes changes to the controllers.
    async fn follow(&mut self, cluster: &Arc<Cluster>, changes: &[Arc<Change>]) {
        let core = &cluster.core;
        for change in changes {
            let is_gone = change.kind == ChangeKind::Deleted;
            if self.controllers.garbage_collector {
                match is_gone {
                    true => self.garbage.gone(&change.record),
                    false => _ = self.garbage.seen(&change.record),
                }
            }
            if self.controllers.cluster_roles && &*change.record.key.resource == cluster_roles::RESOURCE {
                self.cluster_roles.follow(core, change);
            }
            if self.controllers.namespaces {
                self.namespaces.follow(core, change);
            }
            if self.controllers.resource_quotas {
                self.quotas.follow(core, change);
            }
            self.upkeep.follow(cluster, &change.record.key, is_gone).await;
            if !is_gone {
                self.see_namespace(core, &change.record.key);
            }
        }
    }

    /// Passes a namespace to the controller that empties it.
    fn see_namespace(&mut self, core: &Core, key: &Key) {
        if self.controllers.namespaces && &*key.resource == namespaces::RESOURCE {
            self.namespaces.seen(core, &key.name);
        }
    }

    /// Whether there is no work now, and the time until the next attempt after a refused write.
    fn plan(&self, core: &Core) -> (bool, Option<Duration>) {
        let next = [
            self.garbage.retries.next(),
            self.namespaces.retries.next(),
            self.cluster_roles.retries.next(),
            self.quotas.retries.next(),
            self.upkeep.retries.next(),
        ];
        let next = next.into_iter().flatten().min();
        (self.is_idle(core), next.map(|at| retries::until(core, at)))
    }

    fn is_idle(&self, core: &Core) -> bool {
        let is_idle = self.garbage.is_idle() && self.namespaces.is_idle() && self.cluster_roles.is_idle();
        is_idle && self.quotas.is_idle(core)
    }

    /// Lets each controller do some of its work, and try the refused writes again that are due.
    async fn work(&mut self, cluster: &Arc<Cluster>) {
        self.upkeep.work(cluster).await;
        for _ in 0..SLICE {
            self.garbage.work(cluster).await;
            self.namespaces.work(cluster).await;
        }
        self.cluster_roles.work(cluster).await;
        self.quotas.work(cluster).await;
    }
}
