//! Counts the reconciles in progress, to which events yield for a limited time.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

/// The time without a reconcile after which events are written. Between two changes of a user, or of another controller
/// that waits for the status, there are some milliseconds; an event that is written there delays the second change.
pub(super) const QUIET: Duration = Duration::from_millis(50);

/// The same while reconciles are in progress and none ends: they wait for something other than the API server, which has
/// time for events. A warning does not wait for longer in any case.
pub(super) const STANDSTILL: Duration = Duration::from_secs(1);

/// The maximum time for which an event yields. An event costs the API server as much as a child: it would take a fifth of
/// the time until thousands of new objects are Ready, for events without readers that fast. It is not longer, because
/// waiting events are lost if the process is killed.
pub(super) const BOUND: Duration = Duration::from_secs(5);

/// Counts the reconciles of a process. Clones share the count.
#[derive(Clone, Default)]
pub(crate) struct Reconciles(Arc<Count>);

#[derive(Default)]
struct Count {
    under_way: AtomicUsize,
    last_end: Mutex<Option<Instant>>,
    none_left: Notify,
}

/// One reconcile in progress, until it is dropped.
pub(crate) struct UnderWay(Arc<Count>);

impl Reconciles {
    /// Counts a reconcile that begins.
    pub(crate) fn begin(&self) -> UnderWay {
        self.0.under_way.fetch_add(1, Ordering::Relaxed);
        UnderWay(self.0.clone())
    }

    /// When an event that waits since then may be written: later if another reconcile begins or ends before.
    pub(super) fn turn_of(&self, since: Instant) -> Instant {
        let last_end = *self.0.last_end.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = if self.0.under_way.load(Ordering::Relaxed) > 0 {
            last_end.map_or(since, |end| end.max(since)) + STANDSTILL
        } else {
            last_end.map_or(since, |end| end + QUIET)
        };
        turn.min(since + BOUND)
    }

    /// Resolves when the last one ends; at once if that happened since the last call.
    pub(super) async fn ended(&self) {
        self.0.none_left.notified().await;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        *self.0.last_end.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        if self.0.under_way.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.none_left.notify_one();
        }
    }
}
