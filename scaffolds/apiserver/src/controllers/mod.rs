//! What the controller manager of a real cluster does and operators rely on: the garbage collector, the end of
//! namespaces, roles that aggregate others, and, where wanted, the ServiceAccount `default`. Each can be left out: an API server alone has none of them.
//!
//! They write as clients do, by the registry, and one after the other: what they do for a change is done before the next
//! change is looked at.

mod act;
pub mod bootstrap;
mod cluster_roles;
mod feed;
mod garbage;
mod graph;
mod namespaces;
mod service_accounts;

use std::sync::{Arc, Weak};

use tokio::{runtime::Handle, task::AbortHandle};

use crate::{
    server::Core,
    store::{Change, Kind, Record},
};
use feed::Feed;
use garbage::Garbage;

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
pub struct Running(AbortHandle);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Starts controllers on a runtime. They do not keep the server alive.
pub fn start(core: &Arc<Core>, controllers: Controllers, runtime: &Handle) -> Running {
    Running(runtime.spawn(run(Arc::downgrade(core), controllers)).abort_handle())
}

/// From the beginning whenever the history went past a change that was not yet seen.
async fn run(core: Weak<Core>, controllers: Controllers) {
    while follow(&core, controllers).await.is_some() {}
}

/// Follows all changes; `None` when the server or its store is gone, otherwise changes were missed.
async fn follow(core: &Weak<Core>, controllers: Controllers) -> Option<()> {
    let (mut feed, records) = Feed::start(core.upgrade()?.as_ref());
    let mut worker = Worker {
        controllers,
        garbage: Garbage::default(),
    };
    worker.begin(core.upgrade()?.as_ref(), &records);
    loop {
        let Ok(changes) = feed.next().await? else {
            return Some(());
        };
        let core = core.upgrade()?;
        let more: Vec<_> = changes.iter().flat_map(|change| feed.follow(&core, change)).collect();
        worker.follow(&core, &changes);
        worker.begin(&core, &more);
    }
}

struct Worker {
    controllers: Controllers,
    garbage: Garbage,
}

impl Worker {
    /// Takes in objects that were there before, or of a kind that is new.
    fn begin(&mut self, core: &Core, records: &[Arc<Record>]) {
        if self.controllers.garbage_collector {
            records.iter().for_each(|record| self.garbage.seen(record));
            self.garbage.look_again();
            self.garbage.work(core);
        }
        for record in records {
            self.settle(core, record);
        }
        self.gather(core, records.iter().map(|record| &**record));
    }

    /// Takes in all changes before it acts on any: whoever is owned may be of another resource than the owner.
    fn follow(&mut self, core: &Core, changes: &[Arc<Change>]) {
        if self.controllers.garbage_collector {
            for change in changes {
                match change.kind {
                    Kind::Deleted => self.garbage.gone(&change.record),
                    _ => self.garbage.seen(&change.record),
                }
            }
            self.garbage.work(core);
        }
        changes.iter().for_each(|change| self.change(core, change));
        self.gather(core, changes.iter().map(|change| &*change.record));
    }

    /// Once for all roles that were seen together.
    fn gather<'a>(&self, core: &Core, mut records: impl Iterator<Item = &'a Record>) {
        if self.controllers.cluster_roles && records.any(|record| &*record.key.resource == cluster_roles::RESOURCE) {
            cluster_roles::gather(core);
        }
    }

    /// What a change means for its namespace.
    fn change(&self, core: &Core, change: &Change) {
        if change.kind != Kind::Deleted {
            self.settle(core, &change.record);
        } else if !change.record.key.namespace.is_empty() {
            if self.controllers.namespaces {
                namespaces::end(core, &change.record.key.namespace);
            }
            if self.controllers.service_accounts {
                service_accounts::provide(core, &change.record.key.namespace);
            }
        }
    }

    /// What a namespace wants.
    fn settle(&self, core: &Core, record: &Record) {
        if &*record.key.resource != namespaces::RESOURCE {
            return;
        }
        if self.controllers.namespaces {
            namespaces::end(core, &record.key.name);
        }
        if self.controllers.service_accounts {
            service_accounts::provide(core, &record.key.name);
        }
    }
}
