//! The next key: ready keys by priority and namespace, and the number of workers that each namespace holds. Pure: time is an
//! argument. Failures, delays and requests are in `core.rs`.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use crate::{key::ObjectKey, priority::Priority};

/// The namespace of keys; empty for all keys without a namespace.
type Namespace = Arc<str>;

/// The time that a namespace without a worker waits for a free worker before it gets an additional one. Half of the
/// second by which one namespace may delay another.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);

/// The ready keys of all namespaces.
#[derive(Debug, Default)]
pub(super) struct Turns {
    lanes: HashMap<Namespace, Lane>,
    /// For each priority the namespaces with ready keys: those that hold the fewest workers first, then those that were
    /// served the longest ago.
    order: [BTreeMap<(usize, u64), Namespace>; Priority::ALL.len()],
    /// Namespaces that have ready keys and hold no worker, by the time since when.
    without: BTreeMap<(Instant, u64), Namespace>,
    /// The number of workers to be shared. More are busy only as [`Self::borrower`] allows.
    workers: usize,
    busy: usize,
    /// Namespaces that hold a worker.
    holders: usize,
    /// Since when all workers have been busy.
    full_since: Option<Instant>,
    len: usize,
    /// Numbers turns, so that ties are resolved in arrival order.
    sequence: u64,
}

/// The keys of one namespace. Exists while it has ready keys or holds workers.
#[derive(Debug, Default)]
struct Lane {
    /// By priority, in the order of their sequence numbers.
    ready: [BTreeMap<u64, ObjectKey>; Priority::ALL.len()],
    /// Its position in [`Turns::order`], if it has one.
    turns: [u64; Priority::ALL.len()],
    held: usize,
    /// Its position in [`Turns::without`], if it has one.
    waits: Option<(Instant, u64)>,
}

impl Turns {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            workers,
            ..Self::default()
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The number of keys that workers hold.
    pub(super) fn busy(&self) -> usize {
        self.busy
    }

    /// Adds a ready key, at the position within its namespace and priority that `sequence` determines.
    pub(super) fn insert(&mut self, key: ObjectKey, priority: Priority, sequence: u64, now: Instant) {
        self.len += 1;
        let namespace = self.shared(namespace_of(&key));
        let lane = self.lanes.entry(namespace.clone()).or_default();
        let keys = &mut lane.ready[priority.rank()];
        keys.insert(sequence, key);
        if keys.len() > 1 {
            return;
        }
        self.sequence += 1;
        lane.turns[priority.rank()] = self.sequence;
        self.order[priority.rank()].insert((lane.held, self.sequence), namespace.clone());
        if lane.held == 0 && lane.waits.is_none() {
            let place = (now, self.sequence);
            lane.waits = Some(place);
            self.without.insert(place, namespace);
        }
    }

    /// Removes a key that is not ready any more.
    pub(super) fn remove(&mut self, key: &ObjectKey, priority: Priority, sequence: u64) {
        let namespace = namespace_of(key);
        let Some(lane) = self.lanes.get_mut(namespace) else {
            return;
        };
        if lane.ready[priority.rank()].remove(&sequence).is_none() {
            return;
        }
        self.len -= 1;
        if lane.ready[priority.rank()].is_empty() {
            self.order[priority.rank()].remove(&(lane.held, lane.turns[priority.rank()]));
        }
        self.settle(namespace);
    }

    /// Hands out the next key that a worker may have.
    pub(super) fn pop(&mut self, now: Instant) -> Option<ObjectKey> {
        let namespace = if self.busy < self.workers {
            let order = self.order.iter().find_map(|order| order.first_key_value());
            order.map(|(_, namespace)| namespace.clone())
        } else {
            self.borrower(now)
        }?;
        let lane = self.lanes.get_mut(&namespace)?;
        let rank = lane.ready.iter().position(|keys| !keys.is_empty())?;
        let (_, key) = lane.ready[rank].pop_first()?;
        self.len -= 1;
        self.sequence += 1;
        let old = std::mem::replace(&mut lane.turns[rank], self.sequence);
        self.order[rank].remove(&(lane.held, old));
        if !lane.ready[rank].is_empty() {
            self.order[rank].insert((lane.held, self.sequence), namespace.clone());
        }
        if let Some(place) = lane.waits.take() {
            self.without.remove(&place);
        }
        self.holders += usize::from(lane.held == 0);
        self.busy += 1;
        if self.busy == self.workers {
            self.full_since = Some(now);
        }
        self.hold(&namespace, 1);
        Some(key)
    }

    /// Takes back a key that was handed out.
    pub(super) fn given_back(&mut self, key: &ObjectKey, now: Instant) {
        let namespace = self.shared(namespace_of(key));
        self.busy -= 1;
        if self.busy < self.workers {
            self.full_since = None;
        }
        self.hold(&namespace, -1);
        if let Some(lane) = self.lanes.get_mut(&namespace)
            && lane.held == 0
        {
            self.holders -= 1;
            if lane.has_ready() {
                self.sequence += 1;
                let place = (now, self.sequence);
                lane.waits = Some(place);
                self.without.insert(place, namespace.clone());
            }
        }
        self.settle(&namespace);
    }

    /// When [`Self::pop`] hands out a key even if none is returned before.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let ((since, _), _) = self.without.first_key_value()?;
        let full = self.full_since.filter(|_| self.may_borrow())?;
        Some((*since).min(full) + PATIENCE)
    }

    /// Drops every ready key.
    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.order = Default::default();
        self.without = BTreeMap::new();
        self.lanes.retain(|_, lane| {
            (lane.ready, lane.waits) = Default::default();
            lane.held > 0
        });
    }

    /// The namespace that gets an additional worker: it holds none, and either it has waited for long enough, or all
    /// workers have been busy for long enough. So workers that a namespace holds beyond its share cannot keep others
    /// from theirs. There are fewer such namespaces than workers, and each gets one more, so fewer than twice the
    /// number of workers are ever busy.
    fn borrower(&self, now: Instant) -> Option<Namespace> {
        let due = self.next_due().filter(|due| *due <= now);
        let (_, namespace) = due.and_then(|_| self.without.first_key_value())?;
        Some(namespace.clone())
    }

    /// The namespace, with the memory of the one that is known.
    fn shared(&self, namespace: &str) -> Namespace {
        let known = self.lanes.get_key_value(namespace);
        known.map_or_else(|| namespace.into(), |(known, _)| known.clone())
    }

    fn may_borrow(&self) -> bool {
        self.busy >= self.workers && self.holders < self.workers
    }

    /// Changes how many workers a namespace holds, and its positions in the orders.
    fn hold(&mut self, namespace: &str, change: isize) {
        let Some(lane) = self.lanes.get_mut(namespace) else {
            return;
        };
        let before = lane.held;
        lane.held = before.saturating_add_signed(change);
        for (rank, order) in self.order.iter_mut().enumerate() {
            if let Some(entry) = order.remove(&(before, lane.turns[rank])) {
                order.insert((lane.held, lane.turns[rank]), entry);
            }
        }
    }

    /// Removes a namespace that has nothing left, or its waiting position if it does not wait any more.
    fn settle(&mut self, namespace: &str) {
        let Some(lane) = self.lanes.get_mut(namespace) else {
            return;
        };
        if lane.has_ready() {
            return;
        }
        if let Some(place) = lane.waits.take() {
            self.without.remove(&place);
        }
        if lane.held == 0 {
            self.lanes.remove(namespace);
        }
    }
}

fn namespace_of(key: &ObjectKey) -> &str {
    key.namespace().unwrap_or_default()
}

impl Lane {
    fn has_ready(&self) -> bool {
        self.ready.iter().any(|keys| !keys.is_empty())
    }
}
