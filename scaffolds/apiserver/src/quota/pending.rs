//! Writes that quotas have been charged for and that are not yet stored. Until they are, the usage that the store's objects show is
//! too small, so that it must not replace what quotas say.

use std::{
    collections::{BTreeSet, HashMap},
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

/// The charged writes of all namespaces.
#[derive(Default)]
pub struct Pending {
    state: Mutex<ChargedWrites>,
    bell: watch::Sender<()>,
}

#[derive(Default)]
struct ChargedWrites {
    /// The number of writes, by namespace.
    writes: HashMap<String, usize>,
    /// The namespaces whose quotas were charged for writes that failed.
    failed: BTreeSet<String>,
}

/// One charged write. Unless it is [kept](Self::keep), it has failed when it is dropped.
pub struct Reservation<'a> {
    pending: &'a Pending,
    namespace: String,
    has_failed: bool,
}

impl Pending {
    /// Begins a write in a namespace.
    pub fn begin(&self, namespace: &str) -> Reservation<'_> {
        *self.lock().writes.entry(namespace.to_owned()).or_default() += 1;
        Reservation {
            pending: self,
            namespace: namespace.to_owned(),
            has_failed: true,
        }
    }

    /// Whether writes in a namespace are pending.
    pub fn has(&self, namespace: &str) -> bool {
        self.lock().writes.contains_key(namespace)
    }

    /// The namespaces in which writes have failed since the last call.
    pub fn take_failed(&self) -> BTreeSet<String> {
        mem::take(&mut self.lock().failed)
    }

    /// Notifies of the end of each write.
    pub fn ends(&self) -> watch::Receiver<()> {
        self.bell.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, ChargedWrites> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation<'_> {
    /// Ends a write whose object is stored.
    pub fn keep(mut self) {
        self.has_failed = false;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut state = self.pending.lock();
        if let Some(count) = state.writes.get_mut(&self.namespace) {
            *count -= 1;
            if *count == 0 {
                state.writes.remove(&self.namespace);
            }
        }
        if self.has_failed {
            state.failed.insert(mem::take(&mut self.namespace));
        }
        drop(state);
        self.pending.bell.send_replace(());
    }
}
