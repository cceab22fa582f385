//! All served resources, by group, version and plural. Readers take a snapshot and are never blocked. A change (of a
//! CRD) is made in place, or on a copy if a reader still has the present snapshot.

mod snapshot;
mod stored;

pub use snapshot::Snapshot;
pub use stored::bring;

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use crate::resource::Resource;

/// The served resources. Clones are cheap and share the same resources.
#[derive(Clone, Default)]
pub struct Catalogue(Arc<SharedCatalogue>);

#[derive(Default)]
struct SharedCatalogue {
    current: RwLock<Arc<Snapshot>>,
    generation: watch::Sender<u64>,
}

impl Catalogue {
    /// The present resources. Hold a snapshot only briefly: while any is held, the next change copies all resources.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A resource, if it is served now.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.snapshot().resource(group, version, plural)
    }

    /// The [generation](Snapshot::generation); the receiver is notified of each change of it.
    pub fn generations(&self) -> watch::Receiver<u64> {
        self.0.generation.subscribe()
    }

    /// Adds the built-in resources, at the start.
    pub fn add_built_in(&self, resources: impl IntoIterator<Item = Resource>) {
        self.change(|snapshot| resources.into_iter().for_each(|it| snapshot.add_built_in(it)));
    }

    /// Serves exactly these versions of a custom kind: its CRD was created or changed.
    pub fn replace_custom(&self, group: &str, plural: &str, resources: impl IntoIterator<Item = Resource>) {
        self.change(|snapshot| {
            snapshot.remove(group, plural);
            resources.into_iter().for_each(|resource| snapshot.add(resource));
            snapshot.sweep(group);
        });
    }

    /// Stops serving all versions of a resource: its CRD was deleted.
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
