//! The objects, in memory: one revision for all, etcd's order of keys, a bounded history of changes, and watches that
//! read it. The store does not interpret objects: it returns the bytes that it was given, to any number of readers.
//!
//! With the feature `persist` a store can use a directory. Clients may then see a change only after it is on disk: an
//! answer made from the store is sent after [`Store::settled`], and watches deliver only settled changes.

mod age;
mod bells;
mod changes;
mod derived;
mod follow;
mod key;
mod left;
mod list;
mod past;
#[cfg(feature = "persist")]
mod persist;
mod settle;
mod shelf;
mod watch;
mod write;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Waker,
};

pub use changes::{Change, ChangeKind};
pub use derived::Derived;
pub use key::{Key, Range, Record};
#[cfg(feature = "persist")]
pub use persist::OpenError;
pub use settle::Lost;
pub use watch::Watch;

use age::Age;
use changes::Changes;
use settle::Settle;
use shelf::Shelves;

/// The default number of changes that a store keeps. Upstream keeps about five minutes of changes in etcd, and at least
/// a hundred per resource in its watch cache.
pub const HISTORY: usize = 10_000;
/// The maximum total size of the objects of these changes, in bytes of text: if objects are large, fewer changes are
/// kept.
pub const HISTORY_BYTES: usize = 64 * 1024 * 1024;

/// All objects of a server. Cheap to clone; all clones are the same store.
///
/// # Guarantees
/// - The revision starts at 1, like that of a new etcd, increases by one with every change, and never decreases.
/// - A list or watch sees every change up to its revision, each once, in order.
/// - No method blocks for longer than it takes to visit the objects it returns: none waits for a disk or a watcher.
#[derive(Clone)]
pub struct Store {
    inner: Arc<SharedStore>,
    /// Dropped with the last clone, which waits until all changes are written.
    #[cfg(feature = "persist")]
    disk: Option<Arc<persist::Disk>>,
}

struct SharedStore {
    state: Mutex<StoreState>,
    settle: Settle,
}

/// The state that the lock guards.
struct StoreState {
    /// The revision of the last change.
    revision: u64,
    /// The revision of the last change that clients may see: of all changes in memory, of the written ones on disk.
    settled: u64,
    shelves: Shelves,
    changes: Changes,
    age: Age,
    /// The followers of all resources, with the wakers of those that wait for the next change.
    followers: BTreeMap<u64, Option<Waker>>,
    /// See [`Store::looked`].
    looked: u64,
}

/// The requested revision is no longer kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Compacted {
    /// The oldest revision that can be read; a watch may start after it.
    pub oldest: u64,
}

impl Default for Store {
    fn default() -> Self {
        Self::new(HISTORY)
    }
}

impl Store {
    /// An empty store in memory that keeps this many changes, or fewer if their objects exceed [`HISTORY_BYTES`].
    pub fn new(history: usize) -> Self {
        Self::with(Arc::new(SharedStore::new(StoreState::new(1, history))))
    }

    fn with(inner: Arc<SharedStore>) -> Self {
        Self {
            inner,
            #[cfg(feature = "persist")]
            disk: None,
        }
    }

    /// The revision of the last change.
    pub fn revision(&self) -> u64 {
        self.lock().revision
    }

    /// The revision of the last change of a resource; 0 if this process has not changed it.
    pub fn changed(&self, resource: &str) -> u64 {
        self.lock().shelves.get(resource).map_or(0, |shelf| shelf.changed)
    }

    /// The present record of an object.
    pub fn get(&self, key: &Key) -> Option<Arc<Record>> {
        let mut state = self.lock();
        state.looked = state.looked.saturating_add(1);
        state.shelves.get(&key.resource)?.get(&key.path()).cloned()
    }

    /// The number of objects and changes that were visited so far: returned ones, and ones that were skipped to find them. A
    /// measure of work that does not depend on the speed of the machine.
    #[cfg(feature = "testing")]
    pub fn looked(&self) -> u64 {
        self.lock().looked
    }

    /// Adds the number of objects that a caller visited in an index of its own.
    pub(crate) fn look(&self, count: usize) {
        let mut state = self.lock();
        state.looked = state.looked.saturating_add(count as u64);
    }

    /// Discards the changes up to this revision. The state at this revision can still be listed.
    #[cfg(feature = "testing")]
    pub fn compact(&self, revision: u64) {
        let mut state = self.lock();
        let StoreState {
            changes,
            shelves,
            settled,
            ..
        } = &mut *state;
        changes.compact(revision.min(*settled), shelves);
    }

    fn lock(&self) -> MutexGuard<'_, StoreState> {
        self.inner.lock()
    }
}

impl SharedStore {
    fn new(state: StoreState) -> Self {
        let settle = Settle::at(state.revision);
        Self {
            state: Mutex::new(state),
            settle,
        }
    }

    // The lock cannot be poisoned: only a caller's `object` may panic while it is held, before anything has changed.
    fn lock(&self) -> MutexGuard<'_, StoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoreState {
    fn new(revision: u64, history: usize) -> Self {
        Self {
            revision,
            settled: revision,
            shelves: Shelves::default(),
            changes: Changes::new(revision, history),
            age: Age::new(),
            followers: BTreeMap::new(),
            looked: 0,
        }
    }
}
