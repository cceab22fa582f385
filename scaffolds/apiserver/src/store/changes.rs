//! The history: the most recent changes, each in the log of its resource, and their common order.

use std::{
    collections::{VecDeque, vec_deque},
    sync::Arc,
};

use super::{HISTORY_BYTES, Record, shelf::Shelves};

/// At least this many changes are kept, however large their objects are. Upstream's watch cache keeps as many per
/// resource (`defaultLowerBoundCapacity`).
const FEWEST: usize = 100;

/// One change of one object.
#[derive(Debug)]
pub struct Change {
    /// The store's revision after the change.
    pub revision: u64,
    /// The type of the change.
    pub kind: ChangeKind,
    /// The new state; for a deletion the last state, with the deletion's revision.
    pub record: Arc<Record>,
    /// The previous state, unless the object is new.
    pub previous: Option<Arc<Record>>,
}

/// Types of changes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ChangeKind {
    /// The object was created.
    Created,
    /// The object was updated.
    Updated,
    /// The object was deleted.
    Deleted,
}

/// The changes of one resource, oldest first.
#[derive(Default)]
pub(super) struct Log(VecDeque<Arc<Change>>);

/// The resource of each kept change. Each revision is one change, so a change's revision follows from its position.
pub(super) struct Changes {
    order: VecDeque<Arc<str>>,
    /// The revision of the last discarded change.
    compacted: u64,
    kept: usize,
    /// The total size of the texts of their objects, in bytes.
    size: usize,
}

impl Log {
    pub fn push(&mut self, change: Arc<Change>) {
        self.0.push_back(change);
    }

    /// The changes after a revision.
    pub fn after(&self, revision: u64) -> vec_deque::Iter<'_, Arc<Change>> {
        let start = self.0.partition_point(|change| change.revision <= revision);
        self.0.range(start..)
    }

    fn forget_first(&mut self) -> Option<Arc<Change>> {
        // Release the memory of a resource that changes less often than before.
        if self.0.capacity() > 64 && self.0.len() < self.0.capacity() / 4 {
            self.0.shrink_to(self.0.len().saturating_mul(2));
        }
        self.0.pop_front()
    }
}

impl Changes {
    pub fn new(revision: u64, kept: usize) -> Self {
        Self {
            order: VecDeque::new(),
            compacted: revision,
            kept: kept.max(1),
            size: 0,
        }
    }

    /// The oldest revision that lists and watches can read.
    pub fn oldest(&self) -> u64 {
        self.compacted
    }

    /// The resource of the change with this revision, if the change is kept.
    pub fn resource(&self, revision: u64) -> Option<&Arc<str>> {
        let place = revision.checked_sub(self.compacted)?.checked_sub(1)?;
        self.order.get(usize::try_from(place).ok()?)
    }

    /// Adds the next change.
    pub fn push(&mut self, change: &Change) {
        self.order.push_back(Arc::clone(&change.record.key.resource));
        self.size = self.size.saturating_add(change.record.object.len());
    }

    /// Discards changes beyond the limits, but none after `settled`: watchers have yet to see those.
    pub fn trim(&mut self, settled: u64, shelves: &mut Shelves) {
        while self.compacted < settled && self.is_too_much() && self.forget_first(shelves) {}
    }

    fn is_too_much(&self) -> bool {
        let count = self.order.len();
        count > self.kept || (self.size > HISTORY_BYTES && count > FEWEST)
    }

    /// Discards the changes up to a revision.
    #[cfg(feature = "testing")]
    pub fn compact(&mut self, revision: u64, shelves: &mut Shelves) {
        while self.compacted < revision && self.forget_first(shelves) {}
    }

    /// Discards the oldest change. Returns false if there is none.
    fn forget_first(&mut self, shelves: &mut Shelves) -> bool {
        let Some(resource) = self.order.pop_front() else {
            return false;
        };
        self.compacted += 1;
        if let Some(shelf) = shelves.get_mut(&resource)
            && let Some(change) = shelf.log.forget_first()
        {
            self.size = self.size.saturating_sub(change.record.object.len());
            shelf.bells.lose(&change);
        }
        true
    }
}
