//! All resources that are served, by group, version and plural. Readers take a snapshot and are never blocked; a change
//! (a CRD comes or goes) is made in place unless somebody still reads, who then keeps what was.

mod snapshot;

pub use snapshot::Snapshot;

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use crate::resource::Resource;

/// Which resources there are. Cheap to clone; all clones see the same.
#[derive(Clone, Default)]
pub struct Catalogue(Arc<Inner>);

#[derive(Default)]
struct Inner {
    current: RwLock<Arc<Snapshot>>,
    generation: watch::Sender<u64>,
}

impl Catalogue {
    /// The resources as they are now. To be held for a moment only: while somebody holds one, the next change copies all.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A resource as it is now.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.snapshot().resource(group, version, plural)
    }

    /// The [generation](Snapshot::generation), and the news of each change of it.
    pub fn generations(&self) -> watch::Receiver<u64> {
        self.0.generation.subscribe()
    }

    /// Adds what the server has of itself, at start.
    pub fn add_built_in(&self, resources: impl IntoIterator<Item = Resource>) {
        self.change(|snapshot| resources.into_iter().for_each(|it| snapshot.add_built_in(it)));
    }

    /// Serves these versions of a custom kind and no others: a CRD came, or changed.
    pub fn replace_custom(&self, group: &str, plural: &str, resources: impl IntoIterator<Item = Resource>) {
        self.change(|snapshot| {
            snapshot.remove(group, plural);
            resources.into_iter().for_each(|resource| snapshot.add(resource));
            snapshot.sweep(group);
        });
    }

    /// Serves no version of this resource any more: its CRD went.
    pub fn remove_custom(&self, group: &str, plural: &str) {
        self.replace_custom(group, plural, []);
    }

    fn change(&self, change: impl FnOnce(&mut Snapshot)) {
        let mut current = self.0.current.write().unwrap_or_else(PoisonError::into_inner);
        let next = Arc::make_mut(&mut current);
        change(next);
        next.generation += 1;
        self.0.generation.send_replace(next.generation);
    }
}
