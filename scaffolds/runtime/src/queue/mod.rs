//! The work queue of one controller: which object is to be reconciled next. It contains keys, never objects or events.
//! The rules are in `core.rs` and `turns.rs`; this file has the lock, the waiting workers and the clock.

mod core;
mod delays;
mod entry;
mod turns;

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::{sync::Notify, time::Instant};

pub use self::delays::Backoff;
use self::{
    core::{Core, HandedOut},
    delays::Delays,
};
use crate::{jitter::Jitter, key::ObjectKey, limit::RateLimit, metrics::QueueMetrics, priority::Priority};

/// A queue of object keys shared by one controller's event handlers and workers. Cheap to clone.
///
/// # Guarantees
/// - A key is queued once, however often it is added, and held by at most one worker. If it is added while held, it is
///   handed out again after the [`Held`] is dropped.
/// - No request is lost until [`WorkQueue::shut_down`]. An add never postpones a key: of two requests, the earlier time
///   and the higher priority count.
/// - A higher priority goes first. Within a priority, the namespace whose keys are held by the fewest workers goes
///   first, and of several the one that was served the longest ago. Within a namespace, keys go in the order in which
///   they became ready. Raising the priority keeps the arrival's place. Keys without a namespace count as one
///   namespace.
/// - No namespace keeps all workers from another one, once the number of workers is known ([`WorkQueue::shared_by`]).
///   Within one namespace a lower priority may starve, as in controller-runtime: it waits for as long as workers are
///   busy with the higher one.
/// - Failures and unfinished runs are counted per key, only by [`WorkQueue::add_rate_limited`],
///   [`WorkQueue::add_unfinished`] and [`WorkQueue::count_failure`], and reset only by [`WorkQueue::forget`]: a key that is added during its backoff runs at once, which ends the pending
///   backoff, and the count stays.
/// - Memory is bounded by the number of keys that are queued, held or have failures; an operation takes O(log n).
///
/// Time is tokio's, so tests can pause it.
#[derive(Debug, Clone)]
pub struct WorkQueue {
    shared: Arc<SharedQueue>,
}

#[derive(Debug)]
struct SharedQueue {
    core: Mutex<Core>,
    /// One permit is sent for each change that a sleeping worker has to check. A worker that takes a key sends another
    /// permit if any key is left, so that some worker always sleeps until the earliest due time.
    changed: Notify,
}

impl WorkQueue {
    /// An empty queue.
    pub fn new(backoff: Backoff, metrics: QueueMetrics) -> Self {
        Self::with_jitter(backoff, metrics, Jitter::random())
    }

    /// A queue whose random factors follow from `seed`, for tests that expect exact delays.
    #[cfg(feature = "testing")]
    pub fn seeded(backoff: Backoff, metrics: QueueMetrics, seed: u64) -> Self {
        Self::with_jitter(backoff, metrics, Jitter::seeded(seed))
    }

    fn with_jitter(backoff: Backoff, metrics: QueueMetrics, jitter: Jitter) -> Self {
        let core = Mutex::new(Core::new(Delays::new(backoff, jitter), metrics));
        Self {
            shared: Arc::new(SharedQueue {
                core,
                changed: Notify::new(),
            }),
        }
    }

    /// Shares this many workers between the namespaces; to be called before the first key is added. Without it, keys
    /// are handed out to every caller.
    ///
    /// # Guarantees
    /// - A single namespace gets all workers, but not more.
    /// - A namespace that holds no worker waits for half a second at most while others hold more than one: then it gets
    ///   an additional worker. So if the reconciles of fewer namespaces than workers hang, those of every other
    ///   namespace go on.
    /// - At most `2 · workers − 1` keys are held, and more than `workers` only while some namespace holds several: it
    ///   gets none until the others have theirs. With one worker, at most one key is held.
    pub fn shared_by(self, workers: usize) -> Self {
        self.core().share(workers.max(1));
        self
    }

    /// Limits the requests of [`Self::add_rate_limited`] for all keys together, in addition to the delay of each key: as
    /// client-go's `BucketRateLimiter`. Other requests are not limited.
    pub fn limited(self, limit: impl Into<Option<RateLimit>>) -> Self {
        if let Some(limit) = limit.into() {
            self.core().limit(limit);
        }
        self
    }

    /// The queue of workers that do not run yet: it ignores requests, so that it does not grow with every object that
    /// is created and deleted meanwhile. [`Self::wake`] ends that.
    pub(crate) fn asleep(self) -> Self {
        self.core().sleep(true);
        self
    }

    /// Whether [`Self::shut_down`] has been called.
    pub(crate) fn is_shut_down(&self) -> bool {
        self.core().is_shut_down()
    }

    /// Whether requests are ignored.
    pub(crate) fn is_asleep(&self) -> bool {
        self.core().is_asleep()
    }

    /// Accepts requests from now on. Ignored requests have to be made again.
    pub(crate) fn wake(&self) {
        self.core().sleep(false);
    }

    /// The number of keys that workers hold.
    pub(crate) fn held(&self) -> usize {
        self.core().held()
    }

    /// Requests `key` at once. Ignored after [`Self::shut_down`], like all other adds.
    pub fn add(&self, key: ObjectKey, priority: Priority) {
        self.core().add(key, priority, Instant::now());
        self.shared.changed.notify_one();
    }

    /// Requests `key` once `delay` has passed; sooner if another request is due earlier.
    pub fn add_after(&self, key: ObjectKey, priority: Priority, delay: Duration) {
        self.core().add_after(key, priority, delay, Instant::now());
        self.shared.changed.notify_one();
    }

    /// Counts a failure of `key`, requests it after the delay for that count, and returns the delay.
    pub fn add_rate_limited(&self, key: ObjectKey, priority: Priority) -> Duration {
        self.add_rate_limited_within(key, priority, Duration::ZERO..=Duration::MAX)
    }

    /// As [`Self::add_rate_limited`]; the key's own delay, if it is outside of `delays`, is replaced by the nearest one in
    /// that range.
    pub fn add_rate_limited_within(
        &self,
        key: ObjectKey,
        priority: Priority,
        delays: RangeInclusive<Duration>,
    ) -> Duration {
        let delay = self.core().add_rate_limited(key, priority, delays, Instant::now());
        self.shared.changed.notify_one();
        delay
    }

    /// Counts a run of `key` that has not failed and not finished its work, requests the key after the delay for that
    /// count, and returns the delay. Unlike after a failure, [`Self::add_within_backoff`] requests the key at once.
    pub fn add_unfinished(&self, key: ObjectKey, priority: Priority) -> Duration {
        let delay = self.core().add_unfinished(key, priority, Instant::now());
        self.shared.changed.notify_one();
        delay
    }

    /// Requests `key` at once unless its last run failed; if it failed, no earlier than after the backoff's delay. While
    /// the key is held, the end of that run decides. For changes that give no reason to retry a failed run, such as
    /// those of a status.
    pub fn add_within_backoff(&self, key: ObjectKey, priority: Priority) {
        self.core().add_within_backoff(key, priority, Instant::now());
        self.shared.changed.notify_one();
    }

    /// Counts a failure of `key` without a request: it waits for a change, or was requested with another delay.
    pub fn count_failure(&self, key: &ObjectKey) {
        self.core().count_failure(key);
    }

    /// Resets the failures of `key` to zero: it succeeded, or is gone. Does not change what is queued.
    pub fn forget(&self, key: &ObjectKey) {
        self.core().forget(key);
    }

    /// Failures and unfinished runs of `key` since the last reset.
    pub fn failures(&self, key: &ObjectKey) -> u32 {
        self.core().failures(key)
    }

    /// Waits for the next key; `None` once the queue is shut down.
    ///
    /// Cancel-safe: a key is removed only when this returns it.
    pub async fn next(&self) -> Option<Held> {
        loop {
            // Created before the check, so that no change between the check and the wait is missed.
            let changed = self.shared.changed.notified();
            let due = {
                let mut core = self.core();
                if core.is_shut_down() {
                    return None;
                }
                let now = Instant::now();
                if let Some(HandedOut { key, priority }) = core.pop(now) {
                    let more = core.len(now) > 0 || core.next_due().is_some();
                    drop(core);
                    if more {
                        self.shared.changed.notify_one();
                    }
                    return Some(Held {
                        queue: self.clone(),
                        key,
                        priority,
                    });
                }
                core.next_due()
            };
            match due {
                Some(due) => drop(tokio::time::timeout_at(due, changed).await),
                None => changed.await,
            }
        }
    }

    /// Ends the queue: every [`Self::next`] returns `None`, queued keys are dropped, held keys run to their end.
    pub fn shut_down(&self) {
        self.core().shut_down();
        self.shared.changed.notify_waiters();
    }

    /// Keys ready to be handed out; those waiting for their time do not count.
    #[cfg(feature = "testing")]
    pub fn len(&self) -> usize {
        self.core().len(Instant::now())
    }

    /// Whether nothing is ready.
    #[cfg(feature = "testing")]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keys that use memory: ready, waiting, held, or with failures.
    #[cfg(feature = "testing")]
    pub fn tracked(&self) -> usize {
        self.core().tracked()
    }

    fn core(&self) -> MutexGuard<'_, Core> {
        // The core calls no code of others that could panic halfway through a change.
        self.shared.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A key that was handed out to one worker. Dropping it, also by a panic or a cancelled task, returns the key.
#[must_use = "dropping it returns the key at once"]
#[derive(Debug)]
pub struct Held {
    queue: WorkQueue,
    key: ObjectKey,
    priority: Priority,
}

impl Held {
    /// The object to reconcile.
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    /// The highest priority with which the key was requested.
    pub fn priority(&self) -> Priority {
        self.priority
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.queue.core().done(&self.key, Instant::now());
        self.queue.shared.changed.notify_one();
    }
}
