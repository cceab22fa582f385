//! The queue's state machine: what is asked for, waiting and held; what is ready is in `turns.rs`. Pure but for metrics: time is an argument, so every
//! interleaving can be replayed. It must not lock, sleep or wake anybody; that is `mod.rs`.

use std::collections::{BTreeMap, HashMap, hash_map};
use std::ops::RangeInclusive;
use std::time::Duration;

use tokio::time::Instant;

use super::{Backoff, turns::Turns};
use crate::{jitter::Jitter, key::ObjectKey, metrics::QueueMetrics, priority::Priority};

/// Longer delays are cut to this, 30 years, which every platform's clock can add.
const FAR: Duration = Duration::from_secs(86_400 * 365 * 30);

/// All that is known about the queued keys.
#[derive(Debug)]
pub(super) struct Core {
    backoff: Backoff,
    jitter: Jitter,
    metrics: QueueMetrics,
    entries: HashMap<ObjectKey, Entry>,
    ready: Turns,
    waiting: BTreeMap<(Instant, u64), ObjectKey>,
    /// The time of the operation under way.
    latest: Option<Instant>,
    /// Numbers everything that is put in an order, so that ties end in arrival order.
    sequence: u64,
    /// What is asked for is not taken down.
    asleep: bool,
    shut_down: bool,
}

/// One key. Exists while the key is asked for, held, or has failures to remember.
#[derive(Debug, Default)]
struct Entry {
    failures: u32,
    request: Option<Request>,
    /// Asked for while held, within the back-off that the end of this run decides about.
    within_backoff: Option<Priority>,
    holder: Option<Holder>,
}

/// The key is asked for once more. While it is held, the request stands in no order yet.
#[derive(Debug, Clone, Copy)]
struct Request {
    priority: Priority,
    due: Due,
    sequence: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Due {
    /// At once; asked for at this time.
    Now { since: Instant },
    /// Not before this time.
    At(Instant),
}

#[derive(Debug)]
struct Holder {
    id: u64,
    since: Instant,
}

/// A key handed out, to be given back with [`Core::done`].
#[derive(Debug)]
pub(super) struct HandedOut {
    pub key: ObjectKey,
    pub priority: Priority,
}

impl Core {
    pub(super) fn new(backoff: Backoff, jitter: Jitter, metrics: QueueMetrics) -> Self {
        let (entries, waiting) = Default::default();
        Self {
            backoff,
            jitter,
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

    /// Whether requests are ignored; nothing that was taken down before is touched.
    pub(super) fn sleep(&mut self, asleep: bool) {
        self.asleep = asleep;
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.asleep
    }

    /// Shares this many workers between the namespaces. Before the first key.
    pub(super) fn share(&mut self, workers: usize) {
        self.ready = Turns::new(workers);
    }

    /// Keys that are handed out at this moment.
    pub(super) fn held(&self) -> usize {
        self.ready.busy()
    }

    /// Asks for `key` at once.
    pub(super) fn add(&mut self, key: ObjectKey, priority: Priority, now: Instant) {
        self.promote(now);
        self.request(key, priority, Due::Now { since: now });
    }

    /// Asks for `key` once `delay` has passed; an earlier request stands.
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

    /// Counts a failure and asks for `key` after the delay that belongs to it.
    pub(super) fn add_rate_limited(
        &mut self,
        key: ObjectKey,
        priority: Priority,
        delays: RangeInclusive<Duration>,
        now: Instant,
    ) -> Duration {
        let failures = self.failures(&key).saturating_add(1);
        let delay = self.backoff.delay(failures, &mut self.jitter);
        let delay = delay.max(*delays.start()).min(*delays.end());
        if !self.shut_down {
            self.entries.entry(key.clone()).or_default().failures = failures;
            self.add_after(key, priority, delay, now);
        }
        delay
    }

    /// Asks for `key` at once unless its last run failed; then a request that there is stands, and else it waits for the delay
    /// of a failure.
    pub(super) fn add_within_backoff(&mut self, key: ObjectKey, priority: Priority, now: Instant) {
        self.promote(now);
        let Some(entry) = self.entries.get_mut(&key) else {
            return self.add(key, priority, now);
        };
        if entry.holder.is_some() {
            if !self.shut_down && !self.asleep {
                entry.within_backoff = entry.within_backoff.max(Some(priority));
            }
        } else if entry.failures == 0 {
            self.add(key, priority, now);
        } else if entry.request.is_none() {
            let delay = self.backoff.delay(entry.failures, &mut self.jitter);
            self.add_after(key, priority, delay, now);
        }
    }

    /// Counts a failure, and asks for nothing.
    pub(super) fn count_failure(&mut self, key: &ObjectKey) {
        if !self.shut_down {
            let entry = self.entries.entry(key.clone()).or_default();
            entry.failures = entry.failures.saturating_add(1);
        }
    }

    /// Starts the failures of `key` from zero. A request for it stands.
    pub(super) fn forget(&mut self, key: &ObjectKey) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.failures = 0;
            self.drop_if_unused(key);
        }
    }

    pub(super) fn failures(&self, key: &ObjectKey) -> u32 {
        self.entries.get(key).map_or(0, |entry| entry.failures)
    }

    /// Hands out the next ready key, if there is one that a worker may have.
    pub(super) fn pop(&mut self, now: Instant) -> Option<HandedOut> {
        self.promote(now);
        let key = self.ready.pop(now)?;
        let entry = self.entries.get_mut(&key)?;
        let Request {
            priority,
            due,
            sequence,
        } = entry.request.take()?;
        let queued_since = match due {
            Due::Now { since } => since,
            Due::At(due) => due,
        };
        // A sequence number is given to one request only, so it names the hand-out too.
        entry.holder = Some(Holder {
            id: sequence,
            since: now,
        });
        self.metrics.depth(priority, -1);
        self.metrics.started(now.saturating_duration_since(queued_since));
        self.metrics.held(sequence, Some(now));
        Some(HandedOut { key, priority })
    }

    /// Takes back a key that [`Self::pop`] handed out; what was asked for meanwhile takes its place in the order.
    pub(super) fn done(&mut self, key: &ObjectKey, now: Instant) {
        self.promote(now);
        let Some(entry) = self.entries.get_mut(key) else { return };
        let Some(holder) = entry.holder.take() else { return };
        self.ready.given_back(key, now);
        self.metrics.done(now.saturating_duration_since(holder.since));
        self.metrics.held(holder.id, None);
        let within_backoff = entry.within_backoff.take();
        match entry.request.take() {
            Some(Request {
                priority,
                due: Due::At(due),
                ..
            }) if due <= now => {
                self.metrics.added();
                self.put(key, priority, Due::Now { since: due });
            }
            Some(Request { priority, due, .. }) => self.put(key, priority, due),
            None => {}
        }
        match within_backoff {
            Some(priority) => self.add_within_backoff(key.clone(), priority, now),
            None => self.drop_if_unused(key),
        }
    }

    /// When there is something to hand out, should nothing happen before.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let waiting = self.waiting.first_key_value().map(|((due, _), _)| *due);
        waiting.into_iter().chain(self.ready.next_due()).min()
    }

    pub(super) fn is_shut_down(&self) -> bool {
        self.shut_down
    }

    /// Drops every request; held keys can still be given back.
    pub(super) fn shut_down(&mut self) {
        self.shut_down = true;
        self.ready.clear();
        Priority::ALL
            .iter()
            .for_each(|priority| self.metrics.none_ready(*priority));
        self.waiting = BTreeMap::new();
        self.entries.retain(|_, entry| {
            (entry.request, entry.within_backoff, entry.failures) = (None, None, 0);
            entry.holder.is_some()
        });
        self.entries.shrink_to_fit();
    }

    /// Ready keys at `now`.
    pub(super) fn len(&mut self, now: Instant) -> usize {
        self.promote(now);
        self.ready.len()
    }

    /// Keys the queue spends memory on.
    #[cfg(feature = "testing")]
    pub(super) fn tracked(&self) -> usize {
        self.entries.len()
    }

    /// Makes ready what has become due, in the order of the due times. Every operation that depends on the order does
    /// this first: a key that was due before another is added comes before it, however late anybody looked.
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

    /// Joins a new request with the one there may be: the earlier time and the higher priority win.
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
            entry.request = Some(Request {
                priority,
                due,
                sequence: 0,
            });
            return;
        }
        match old {
            // A raised priority keeps the place inside its new class that the arrival gives.
            Some(Request {
                priority: was,
                due: Due::Now { .. },
                sequence,
            }) => {
                self.metrics.depth(was, -1);
                self.put_at(&key, priority, due, sequence);
                // In this order, so that its namespace goes on waiting.
                self.ready.remove(&key, was, sequence);
            }
            Some(Request {
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

    /// Puts a key that is not held at the end of its order.
    fn put(&mut self, key: &ObjectKey, priority: Priority, due: Due) {
        self.sequence += 1;
        self.put_at(key, priority, due, self.sequence);
    }

    fn put_at(&mut self, key: &ObjectKey, priority: Priority, due: Due, sequence: u64) {
        let hash_map::Entry::Occupied(mut slot) = self.entries.entry(key.clone()) else {
            return;
        };
        slot.get_mut().request = Some(Request {
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
        // A burst's table is given back once the burst is over.
        if self.entries.capacity() > 64 && self.entries.len() * 8 < self.entries.capacity() {
            self.entries.shrink_to(self.entries.len() * 2);
        }
    }
}

impl Entry {
    fn is_unused(&self) -> bool {
        self.failures == 0 && self.request.is_none() && self.holder.is_none()
    }
}

impl Due {
    fn earlier(self, other: Self) -> Self {
        match (self, other) {
            (Self::At(one), Self::At(two)) => Self::At(one.min(two)),
            (Self::Now { .. }, _) => self,
            (_, Self::Now { .. }) => other,
        }
    }
}
