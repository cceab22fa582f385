//! The queue's state machine: requested, waiting and held keys; ready keys are in `turns.rs`. Pure except for metrics:
//! time is an argument, so every interleaving can be replayed. It must not lock, sleep or wake a task; `mod.rs` does
//! that.

use std::collections::{BTreeMap, HashMap, hash_map};
use std::ops::RangeInclusive;
use std::time::Duration;

use tokio::time::Instant;

use super::{
    delays::Delays,
    entry::{Due, Entry, Holder, KeyRequest},
    turns::Turns,
};
use crate::{key::ObjectKey, limit::RateLimit, metrics::QueueMetrics, priority::Priority};

/// Longer delays are reduced to this, 30 years, which every platform's clock can add.
const FAR: Duration = Duration::from_secs(86_400 * 365 * 30);

/// The state of all keys.
#[derive(Debug)]
pub(super) struct Core {
    delays: Delays,
    metrics: QueueMetrics,
    entries: HashMap<ObjectKey, Entry>,
    ready: Turns,
    waiting: BTreeMap<(Instant, u64), ObjectKey>,
    /// The time of the current operation.
    latest: Option<Instant>,
    /// Numbers every entry of an order, so that ties are resolved in arrival order.
    sequence: u64,
    /// Requests are ignored.
    asleep: bool,
    shut_down: bool,
}

/// A key that was handed out, to be returned with [`Core::done`].
#[derive(Debug)]
pub(super) struct HandedOut {
    pub key: ObjectKey,
    pub priority: Priority,
}

impl Core {
    pub(super) fn new(delays: Delays, metrics: QueueMetrics) -> Self {
        let (entries, waiting) = Default::default();
        Self {
            delays,
            metrics,
            entries,
            ready: Turns::new(usize::MAX),
            waiting,
            latest: None,
            sequence: 0,
            asleep: false,
            shut_down: false,
        }
    }

    /// Sets whether requests are ignored; earlier requests stay.
    pub(super) fn sleep(&mut self, asleep: bool) {
        self.asleep = asleep;
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.asleep
    }

    /// Shares this many workers between the namespaces. To be called before the first key is added.
    pub(super) fn share(&mut self, workers: usize) {
        self.ready = Turns::new(workers);
    }

    /// Limits the requests after failures.
    pub(super) fn limit(&mut self, limit: RateLimit) {
        self.delays.limit(limit);
    }

    /// The number of keys that workers hold.
    pub(super) fn held(&self) -> usize {
        self.ready.busy()
    }

    /// Requests `key` at once.
    pub(super) fn add(&mut self, key: ObjectKey, priority: Priority, now: Instant) {
        self.promote(now);
        self.request(key, priority, Due::Now { since: now });
    }

    /// Requests `key` once `delay` has passed; an earlier pending request stays.
    pub(super) fn add_after(&mut self, key: ObjectKey, priority: Priority, delay: Duration, now: Instant) {
        if delay.is_zero() {
            return self.add(key, priority, now);
        }
        self.promote(now);
        if !self.shut_down {
            self.metrics.retried();
        }
        let due = now + delay.min(FAR);
        self.request(key, priority, Due::At(due));
    }

    /// Counts a failure and requests `key` after the backoff's delay.
    pub(super) fn add_rate_limited(
        &mut self,
        key: ObjectKey,
        priority: Priority,
        delays: RangeInclusive<Duration>,
        now: Instant,
    ) -> Duration {
        let failures = self.failures(&key).saturating_add(1);
        let delay = self.delays.next(failures, &delays, now);
        if !self.shut_down {
            let entry = self.entries.entry(key.clone()).or_default();
            (entry.failures, entry.failed) = (failures, true);
            self.add_after(key, priority, delay, now);
        }
        delay
    }

    /// As [`Self::add_rate_limited`], for a run that did not fail.
    pub(super) fn add_unfinished(&mut self, key: ObjectKey, priority: Priority, now: Instant) -> Duration {
        let delay = self.add_rate_limited(key.clone(), priority, Duration::ZERO..=Duration::MAX, now);
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.failed = false;
        }
        delay
    }

    /// Requests `key` at once unless its last run failed; after a failure, a pending request stays, and without one the
    /// key waits for the backoff's delay.
    pub(super) fn add_within_backoff(&mut self, key: ObjectKey, priority: Priority, now: Instant) {
        self.promote(now);
        let Some(entry) = self.entries.get_mut(&key) else {
            return self.add(key, priority, now);
        };
        if entry.holder.is_some() {
            if !self.shut_down && !self.asleep {
                entry.within_backoff = entry.within_backoff.max(Some(priority));
            }
        } else if !entry.failed {
            self.add(key, priority, now);
        } else if entry.request.is_none() {
            let delay = self.delays.own(entry.failures);
            self.add_after(key, priority, delay, now);
        }
    }

    /// Counts a failure, without a request.
    pub(super) fn count_failure(&mut self, key: &ObjectKey) {
        if !self.shut_down {
            let entry = self.entries.entry(key.clone()).or_default();
            (entry.failures, entry.failed) = (entry.failures.saturating_add(1), true);
        }
    }

    /// Resets the failures of `key` to zero. A pending request stays.
    pub(super) fn forget(&mut self, key: &ObjectKey) {
        if let Some(entry) = self.entries.get_mut(key) {
            (entry.failures, entry.failed) = (0, false);
            self.drop_if_unused(key);
        }
    }

    pub(super) fn failures(&self, key: &ObjectKey) -> u32 {
        self.entries.get(key).map_or(0, |entry| entry.failures)
    }

    /// Hands out the next ready key that a worker may have.
    pub(super) fn pop(&mut self, now: Instant) -> Option<HandedOut> {
        self.promote(now);
        let key = self.ready.pop(now)?;
        let entry = self.entries.get_mut(&key)?;
        let KeyRequest {
            priority,
            due,
            sequence,
        } = entry.request.take()?;
        let queued_since = match due {
            Due::Now { since } => since,
            Due::At(due) => due,
        };
        // Each request has its own sequence number, so that the number identifies the hand-out too.
        entry.holder = Some(Holder {
            id: sequence,
            since: now,
        });
        self.metrics.depth(priority, -1);
        self.metrics.started(now.saturating_duration_since(queued_since));
        self.metrics.held(sequence, Some(now));
        Some(HandedOut { key, priority })
    }

    /// Takes back a key that [`Self::pop`] handed out; a request made meanwhile is added to the order.
    pub(super) fn done(&mut self, key: &ObjectKey, now: Instant) {
        self.promote(now);
        let Some(entry) = self.entries.get_mut(key) else { return };
        let Some(holder) = entry.holder.take() else { return };
        self.ready.given_back(key, now);
        self.metrics.done(now.saturating_duration_since(holder.since));
        self.metrics.held(holder.id, None);
        let within_backoff = entry.within_backoff.take();
        match entry.request.take() {
            Some(KeyRequest {
                priority,
                due: Due::At(due),
                ..
            }) if due <= now => {
                self.metrics.added();
                self.put(key, priority, Due::Now { since: due });
            }
            Some(KeyRequest { priority, due, .. }) => self.put(key, priority, due),
            None => {}
        }
        match within_backoff {
            Some(priority) => self.add_within_backoff(key.clone(), priority, now),
            None => self.drop_if_unused(key),
        }
    }

    /// When a key becomes ready, if nothing happens before.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let waiting = self.waiting.first_key_value().map(|((due, _), _)| *due);
        waiting.into_iter().chain(self.ready.next_due()).min()
    }

    pub(super) fn is_shut_down(&self) -> bool {
        self.shut_down
    }

    /// Drops every request; held keys can still be returned.
    pub(super) fn shut_down(&mut self) {
        self.shut_down = true;
        self.ready.clear();
        Priority::ALL
            .iter()
            .for_each(|priority| self.metrics.none_ready(*priority));
        self.waiting = BTreeMap::new();
        self.entries.retain(|_, entry| {
            (entry.request, entry.within_backoff) = (None, None);
            (entry.failures, entry.failed) = (0, false);
            entry.holder.is_some()
        });
        self.entries.shrink_to_fit();
    }

    /// The number of ready keys at `now`.
    pub(super) fn len(&mut self, now: Instant) -> usize {
        self.promote(now);
        self.ready.len()
    }

    /// The number of keys that use memory.
    #[cfg(feature = "testing")]
    pub(super) fn tracked(&self) -> usize {
        self.entries.len()
    }

    /// Makes due keys ready, in the order of their due times. Every operation that depends on the order does this
    /// first: a key that was due before another one is added comes before it, even if nothing called the queue in
    /// between.
    fn promote(&mut self, now: Instant) {
        self.latest = Some(now);
        while let Some(slot) = self.waiting.first_entry() {
            let due = slot.key().0;
            if due > now {
                return;
            }
            let key = slot.remove();
            let Some(request) = self.entries.get_mut(&key).and_then(|entry| entry.request.take()) else {
                continue;
            };
            self.metrics.added();
            self.put(&key, request.priority, Due::Now { since: due });
        }
    }

    /// Merges a new request with a pending one: the earlier time and the higher priority count.
    fn request(&mut self, key: ObjectKey, priority: Priority, due: Due) {
        if self.shut_down || self.asleep {
            return;
        }
        let entry = self.entries.entry(key.clone()).or_default();
        let (old, held) = (entry.request, entry.holder.is_some());
        let (priority, due) = match old {
            Some(old) => (old.priority.max(priority), old.due.earlier(due)),
            None => (priority, due),
        };
        if old.is_some_and(|old| (old.priority, old.due) == (priority, due)) {
            return;
        }
        if matches!(due, Due::Now { .. }) && !old.is_some_and(|old| matches!(old.due, Due::Now { .. })) {
            self.metrics.added();
        }
        if held {
            entry.request = Some(KeyRequest {
                priority,
                due,
                sequence: 0,
            });
            return;
        }
        match old {
            // A request with a raised priority is ordered by its arrival in the new class.
            Some(KeyRequest {
                priority: was,
                due: Due::Now { .. },
                sequence,
            }) => {
                self.metrics.depth(was, -1);
                self.put_at(&key, priority, due, sequence);
                // In this order, so that its namespace keeps waiting.
                self.ready.remove(&key, was, sequence);
            }
            Some(KeyRequest {
                due: Due::At(was),
                sequence,
                ..
            }) => {
                self.waiting.remove(&(was, sequence));
                self.put(&key, priority, due);
            }
            None => self.put(&key, priority, due),
        }
    }

    /// Adds a key that is not held to the end of its order.
    fn put(&mut self, key: &ObjectKey, priority: Priority, due: Due) {
        self.sequence += 1;
        self.put_at(key, priority, due, self.sequence);
    }

    fn put_at(&mut self, key: &ObjectKey, priority: Priority, due: Due, sequence: u64) {
        let hash_map::Entry::Occupied(mut slot) = self.entries.entry(key.clone()) else {
            return;
        };
        slot.get_mut().request = Some(KeyRequest {
            priority,
            due,
            sequence,
        });
        match due {
            Due::Now { since } => {
                self.metrics.depth(priority, 1);
                let now = self.latest.unwrap_or(since);
                self.ready.insert(key.clone(), priority, sequence, now);
            }
            Due::At(due) => {
                self.waiting.insert((due, sequence), key.clone());
            }
        }
    }

    fn drop_if_unused(&mut self, key: &ObjectKey) {
        if self.entries.get(key).is_some_and(Entry::is_unused) {
            self.entries.remove(key);
        }
        // Frees the memory of a burst once the burst is over.
        if self.entries.capacity() > 64 && self.entries.len() * 8 < self.entries.capacity() {
            self.entries.shrink_to(self.entries.len() * 2);
        }
    }
}
