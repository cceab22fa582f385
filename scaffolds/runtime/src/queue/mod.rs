//! The work queue of one controller: which object is to be reconciled next. It holds keys, never objects or events.
//! The rules are in `core.rs` and `turns.rs`; here are the lock, the waiting workers and the clock.

mod core;
mod turns;

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::{sync::Notify, time::Instant};

use self::core::{Core, HandedOut};
use crate::{jitter::Jitter, key::ObjectKey, metrics::QueueMetrics, priority::Priority};

/// The delay after a failure: `base · 2^(n−1)` for the n-th in a row, at most `max`, times a random factor in
/// `[1, 1 + jitter)`, so that keys that failed together do not come back together. The factor comes after the cap.
///
/// Default: 5 ms to 1000 s as client-go's default rate limiter, and a jitter of 0.1, which it lacks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    /// The delay after the first failure.
    pub base: Duration,
    /// No delay is longer, but for the jitter.
    pub max: Duration,
    /// The width of the random factor; 0 gives exact delays.
    pub jitter: f64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            base: Duration::from_millis(5),
            max: Duration::from_secs(1000),
            jitter: 0.1,
        }
    }
}

impl Backoff {
    fn delay(&self, failures: u32, jitter: &mut Jitter) -> Duration {
        let doublings = failures.saturating_sub(1).min(63);
        let nanos = self
            .base
            .as_nanos()
            .saturating_mul(1_u128 << doublings)
            .min(self.max.as_nanos());
        // At most `max`, whose nanoseconds came out of a `Duration`; a `max` past 584 years stays at that.
        let delay = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        if self.jitter > 0.0 {
            jitter.scale(delay, 1.0, 1.0 + self.jitter)
        } else {
            delay
        }
    }
}

/// A queue of object keys shared by one controller's event handlers and workers. Cheap to clone.
///
/// # Guarantees
/// - A key is queued once, however often it is added, and held by at most one worker: added while held, it is handed
///   out again after the [`Held`] is dropped.
/// - Nothing asked for is lost until [`WorkQueue::shut_down`]. An add never postpones a key: of two requests the
///   earlier time and the higher priority win.
/// - A higher priority goes first; inside a priority the namespace whose keys are held by the fewest workers, and of several the
///   one whose turn is the longest ago; inside a namespace keys go in the order in which they became ready. Raising the
///   priority keeps the arrival's place. Keys without a namespace count as one namespace.
/// - No namespace keeps another from all workers, once their number is known ([`WorkQueue::shared_by`]). Of one namespace nothing
///   protects the lower priority from starving, as in controller-runtime: it waits for as long as workers are busy with the higher.
/// - Failures are counted per key by [`WorkQueue::add_rate_limited`] and [`WorkQueue::count_failure`] alone and reset by
///   [`WorkQueue::forget`] alone: a key added during its backoff runs at once, the pending backoff is thereby served, and the count stays.
/// - Memory is bounded by the keys queued, held or with failures; an operation takes O(log n).
///
/// Time is tokio's, so it can be paused in tests.
#[derive(Debug, Clone)]
pub struct WorkQueue {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    core: Mutex<Core>,
    /// One permit is sent for each change a sleeping worker has to look at. A worker that leaves with a key sends one
    /// on if anything is left, so that some worker always sleeps until the earliest due time.
    changed: Notify,
}

impl WorkQueue {
    /// An empty queue.
    pub fn new(backoff: Backoff, metrics: QueueMetrics) -> Self {
        Self::with_jitter(backoff, metrics, Jitter::random())
    }

    /// A queue whose random factors are those of `seed`, for tests that state delays.
    #[cfg(feature = "testing")]
    pub fn seeded(backoff: Backoff, metrics: QueueMetrics, seed: u64) -> Self {
        Self::with_jitter(backoff, metrics, Jitter::seeded(seed))
    }

    fn with_jitter(backoff: Backoff, metrics: QueueMetrics, jitter: Jitter) -> Self {
        let core = Mutex::new(Core::new(backoff, jitter, metrics));
        Self {
            shared: Arc::new(Shared {
                core,
                changed: Notify::new(),
            }),
        }
    }

    /// Shares this many workers between the namespaces; before the first key is added. Without it keys are handed out to whoever asks.
    ///
    /// # Guarantees
    ///
    /// - One namespace alone gets all workers, and never more.
    /// - A namespace that holds no worker waits for half a second at most while others hold more than one: then it gets one beyond
    ///   their number. So as long as fewer namespaces than there are workers hang, every other one goes on.
    /// - At most `2 · workers − 1` keys are held, and more than `workers` only while some namespace holds several: it gets none
    ///   until the others have theirs. With one worker it is never more than one.
    pub fn shared_by(self, workers: usize) -> Self {
        self.core().share(workers.max(1));
        self
    }

    /// The queue of workers that do not run yet: it ignores what it is asked for, so that it does not grow by the name of
    /// every object that comes and goes meanwhile. [`Self::wake`] ends that.
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

    /// Takes down what it is asked for from now on. What was ignored has to be asked for anew.
    pub(crate) fn wake(&self) {
        self.core().sleep(false);
    }

    /// Keys that workers hold at this moment.
    pub(crate) fn held(&self) -> usize {
        self.core().held()
    }

    /// Asks for `key` at once. Ignored after [`Self::shut_down`], as the other adds are.
    pub fn add(&self, key: ObjectKey, priority: Priority) {
        self.core().add(key, priority, Instant::now());
        self.shared.changed.notify_one();
    }

    /// Asks for `key` once `delay` has passed; sooner if it is or gets asked for sooner.
    pub fn add_after(&self, key: ObjectKey, priority: Priority, delay: Duration) {
        self.core().add_after(key, priority, delay, Instant::now());
        self.shared.changed.notify_one();
    }

    /// Counts a failure of `key`, asks for it after the delay that belongs to the count, and returns the delay.
    pub fn add_rate_limited(&self, key: ObjectKey, priority: Priority) -> Duration {
        self.add_rate_limited_within(key, priority, Duration::ZERO..=Duration::MAX)
    }

    /// As [`Self::add_rate_limited`]; a delay that is not in `delays` becomes the nearest that is.
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

    /// Asks for `key` at once where its last run succeeded; where it failed, no sooner than after the delay of a failure. While the key is
    /// held, the end of that run decides. For changes that a failed run has no reason to look at, such as those of a status.
    pub fn add_within_backoff(&self, key: ObjectKey, priority: Priority) {
        self.core().add_within_backoff(key, priority, Instant::now());
        self.shared.changed.notify_one();
    }

    /// Counts a failure of `key` and asks for nothing: it waits for a change, or was asked for with another delay.
    pub fn count_failure(&self, key: &ObjectKey) {
        self.core().count_failure(key);
    }

    /// Starts the failures of `key` from zero: it succeeded, or is gone. Does not touch what is queued.
    pub fn forget(&self, key: &ObjectKey) {
        self.core().forget(key);
    }

    /// Failures of `key` since it was last forgotten.
    pub fn failures(&self, key: &ObjectKey) -> u32 {
        self.core().failures(key)
    }

    /// Waits for the next key; `None` once the queue is shut down.
    ///
    /// Cancel-safe: a key is taken out only when this returns it.
    pub async fn next(&self) -> Option<Held> {
        loop {
            // Made before looking, so that no change between the look and the wait is missed.
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

    /// Ends the queue: every [`Self::next`] returns `None`, what was queued is dropped, held keys run to their end.
    pub fn shut_down(&self) {
        self.core().shut_down();
        self.shared.changed.notify_waiters();
    }

    /// Keys ready to be handed out; those waiting for their time do not count.
    pub fn len(&self) -> usize {
        self.core().len(Instant::now())
    }

    /// Whether nothing is ready.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keys the queue spends memory on: ready, waiting, held, or with failures to remember.
    #[cfg(feature = "testing")]
    pub fn tracked(&self) -> usize {
        self.core().tracked()
    }

    fn core(&self) -> MutexGuard<'_, Core> {
        // The core has no code of others in it that could panic halfway through a change.
        self.shared.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A key handed out to one worker. Dropping it, also by a panic or a cancelled task, gives the key back.
#[must_use = "dropping it gives the key back at once"]
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

    /// The highest priority the key was asked for with.
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
