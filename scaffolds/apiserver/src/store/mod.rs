//! The objects, in memory: one revision for all, etcd's order of keys, a bounded history of changes, and watches that
//! read it. Knows nothing of what the objects are: bytes in, the same bytes out, to any number of readers.
//!
//! With the feature `persist` a store can live in a directory. Then whatever a client is told must first be on disk: an
//! answer made from a store is sent after [`Store::settled`]. Watches show settled changes only.

mod bells;
mod changes;
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

pub use changes::{Change, Kind};
pub use follow::Follow;
pub use key::{Key, Range, Record};
pub use list::Page;
#[cfg(feature = "persist")]
pub use persist::OpenError;
pub use settle::Lost;
pub use watch::Watch;
pub use write::{Changed, Exists};

use changes::Changes;
use settle::Settle;
use shelf::Shelves;

/// Changes that a store keeps when nobody says otherwise. Upstream keeps about five minutes of them in etcd and at
/// least a hundred per resource in its watch cache.
pub const HISTORY: usize = 10_000;
/// Bytes of text that the objects of these changes may have together: of large objects fewer changes are kept.
pub const HISTORY_BYTES: usize = 64 * 1024 * 1024;

/// All objects of a server. Cheap to clone; all clones are the same store.
///
/// # Guarantees
/// - The revision starts at 1, as a fresh etcd's, grows by one with every change, and never goes back.
/// - A list or watch sees every change up to its revision, each once, in their order.
/// - No method blocks for longer than it takes to look at the objects it returns: nothing waits for a disk or a watcher.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
    /// Goes with the last clone, and waits for what is still to be written.
    #[cfg(feature = "persist")]
    disk: Option<Arc<persist::Disk>>,
}

struct Inner {
    state: Mutex<State>,
    settle: Settle,
}

/// What the lock guards.
struct State {
    /// Of the last change.
    revision: u64,
    /// Of the last change that may be told: all of them in memory, those on disk otherwise.
    settled: u64,
    shelves: Shelves,
    changes: Changes,
    /// Those who follow all resources, and whom of them the next change wakes.
    followers: BTreeMap<u64, Option<Waker>>,
    /// See [`Store::looked`].
    looked: u64,
    /// Whether watches end.
    closed: bool,
}

/// The revision asked for is no longer kept.
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
    /// An empty store in memory that keeps this many changes, or what of them is no more than [`HISTORY_BYTES`].
    pub fn new(history: usize) -> Self {
        Self::with(Arc::new(Inner::new(State::new(1, history))))
    }

    fn with(inner: Arc<Inner>) -> Self {
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

    /// The revision of the last change of a resource; 0 before the first one that this process has seen.
    pub fn changed(&self, resource: &str) -> u64 {
        self.lock().shelves.get(resource).map_or(0, |shelf| shelf.changed)
    }

    /// An object as it is now.
    pub fn get(&self, key: &Key) -> Option<Arc<Record>> {
        let mut state = self.lock();
        state.looked = state.looked.saturating_add(1);
        state.shelves.get(&key.resource)?.get(&key.path()).cloned()
    }

    /// How many objects and changes were looked at so far: those that were handed out, and those that were passed over to
    /// find them. A measure of work that does not depend on how fast the machine is.
    pub fn looked(&self) -> u64 {
        self.lock().looked
    }

    /// Adds what a caller looked at elsewhere, in an index of its own.
    pub(crate) fn look(&self, count: usize) {
        let mut state = self.lock();
        state.looked = state.looked.saturating_add(count as u64);
    }

    /// Ends all watches, and those to come, after what they have yet to read.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let mut woken = state.shelves.everyone();
        woken.extend(state.followers.values_mut().filter_map(Option::take));
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Forgets the changes up to this revision; the objects as they were then can still be listed.
    pub fn compact(&self, revision: u64) {
        let mut state = self.lock();
        let State {
            changes,
            shelves,
            settled,
            ..
        } = &mut *state;
        changes.compact(revision.min(*settled), shelves);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.inner.lock()
    }
}

impl Inner {
    fn new(state: State) -> Self {
        let settle = Settle::at(state.revision);
        Self {
            state: Mutex::new(state),
            settle,
        }
    }

    // Nothing panics while it holds the lock but a caller's `object`, before anything has changed.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn new(revision: u64, history: usize) -> Self {
        Self {
            revision,
            settled: revision,
            shelves: Shelves::default(),
            changes: Changes::new(revision, history),
            followers: BTreeMap::new(),
            looked: 0,
            closed: false,
        }
    }
}
