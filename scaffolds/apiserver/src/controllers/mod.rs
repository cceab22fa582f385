//! What the controller manager of a real cluster does and operators rely on: the garbage collector, the end of
//! namespaces, roles that aggregate others, and, where wanted, the ServiceAccount `default`. Each can be left out: an API server alone has none of them.
//!
//! They write as clients do, by the registry, and one after the other. What they do for a change is proportional to it,
//! however many objects there are: each keeps what it needs to know in an index that the changes keep up to date.

mod act;
pub(crate) mod bootstrap;
mod cluster_roles;
mod content;
mod free;
mod garbage;
mod graph;
mod namespaces;
mod service_accounts;
mod waiting;

use std::sync::{Arc, Weak};

use futures::FutureExt;
use tokio::{
    runtime::Handle,
    task::{AbortHandle, yield_now},
};

use crate::{
    effects::Cluster,
    store::{Change, Kind, Record},
};
use cluster_roles::ClusterRoles;
use garbage::Garbage;
use namespaces::Namespaces;

/// Objects that are looked at before others have their turn.
const SLICE: usize = 64;

/// Which controllers run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Controllers {
    /// Deletes what nothing owns any more, and finishes foreground and orphaning deletions.
    pub garbage_collector: bool,
    /// Empties namespaces that terminate, and lets them go.
    pub namespaces: bool,
    /// Gives ClusterRoles with an `aggregationRule` the rules of those that it selects.
    pub cluster_roles: bool,
    /// Gives every namespace its ServiceAccount `default`.
    pub service_accounts: bool,
}

impl Controllers {
    /// None, as a kube-apiserver alone.
    pub const NONE: Self = Self {
        garbage_collector: false,
        namespaces: false,
        cluster_roles: false,
        service_accounts: false,
    };
}

impl Default for Controllers {
    fn default() -> Self {
        Self {
            garbage_collector: true,
            namespaces: true,
            cluster_roles: true,
            service_accounts: false,
        }
    }
}

/// Controllers at work; they stop when this goes.
#[derive(Debug)]
pub(crate) struct Running(AbortHandle);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Starts controllers on a runtime. They do not keep the server alive.
pub(crate) fn start(cluster: &Arc<Cluster>, controllers: Controllers, runtime: &Handle) -> Running {
    Running(runtime.spawn(run(Arc::downgrade(cluster), controllers)).abort_handle())
}

/// From the beginning whenever the history went past a change that was not yet seen.
async fn run(cluster: Weak<Cluster>, controllers: Controllers) {
    let mut worker = Worker {
        controllers,
        garbage: Garbage::default(),
        namespaces: Namespaces::default(),
        cluster_roles: ClusterRoles::default(),
    };
    while follow(&cluster, &mut worker).await.is_some() {}
}

/// Follows all changes; `None` when the server or its store is gone, otherwise changes were missed.
async fn follow(cluster: &Weak<Cluster>, worker: &mut Worker) -> Option<()> {
    let (records, mut changes) = cluster.upgrade()?.core.store.follow();
    let mut served = cluster.upgrade()?.core.catalogue.generations();
    let mut generation = *served.borrow_and_update();
    worker.begin(&cluster.upgrade()?, &records).await;
    drop(records);
    loop {
        let next = if worker.is_idle() {
            tokio::select! {
                biased;
                next = changes.next() => Some(next?),
                changed = served.changed() => changed.ok().map(|()| None)?,
            }
        } else {
            // Changes come first: the history must not go past them while there is much to do.
            yield_now().await;
            match changes.next().now_or_never() {
                Some(next) => Some(next?),
                None => None,
            }
        };
        let cluster = cluster.upgrade()?;
        match next {
            Some(Ok(changes)) => worker.follow(&cluster, &changes).await,
            Some(Err(_)) => return Some(()),
            None => {}
        }
        let now = *served.borrow_and_update();
        if now != generation {
            generation = now;
            worker.garbage.look_again(&cluster.core);
        }
        worker.work(&cluster).await;
    }
}

struct Worker {
    controllers: Controllers,
    garbage: Garbage,
    namespaces: Namespaces,
    cluster_roles: ClusterRoles,
}

impl Worker {
    /// Takes in all that there is.
    async fn begin(&mut self, cluster: &Arc<Cluster>, records: &[Arc<Record>]) {
        if self.controllers.garbage_collector {
            self.garbage.begin(records);
        }
        self.namespaces = Namespaces::default();
        if self.controllers.cluster_roles {
            self.cluster_roles = ClusterRoles::default();
            self.cluster_roles.begin(&cluster.core, records);
        }
        for record in records {
            self.settle(cluster, record).await;
        }
    }

    /// Takes in changes.
    async fn follow(&mut self, cluster: &Arc<Cluster>, changes: &[Arc<Change>]) {
        let core = &cluster.core;
        for change in changes {
            let is_gone = change.kind == Kind::Deleted;
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
            if !is_gone {
                self.settle(cluster, &change.record).await;
            } else if self.controllers.service_accounts && service_accounts::is_one(&change.record.key) {
                service_accounts::provide(cluster, &change.record.key.namespace).await;
            }
        }
    }

    /// What a namespace wants.
    async fn settle(&mut self, cluster: &Arc<Cluster>, record: &Record) {
        if &*record.key.resource != namespaces::RESOURCE {
            return;
        }
        if self.controllers.namespaces {
            self.namespaces.seen(&cluster.core, &record.key.name);
        }
        if self.controllers.service_accounts {
            service_accounts::provide(cluster, &record.key.name).await;
        }
    }

    fn is_idle(&self) -> bool {
        self.garbage.is_idle() && self.namespaces.is_idle() && self.cluster_roles.is_idle()
    }

    /// Does some of what there is to do.
    async fn work(&mut self, cluster: &Arc<Cluster>) {
        for _ in 0..SLICE {
            self.garbage.work(cluster).await;
            self.namespaces.work(cluster).await;
        }
        self.cluster_roles.work(cluster).await;
    }
}
