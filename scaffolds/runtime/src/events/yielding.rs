//! Counts the reconciles in progress, to which events yield for a limited time.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

/// The time that an event waits for reconciles to end. People who read events do not notice the delay, and a reconcile in
/// progress does not share the API server with events.
pub(super) const YIELD: Duration = Duration::from_secs(1);

/// The same while further objects wait for a worker and reconciles keep ending. An event costs the API server as much
/// as a child: it would take a fifth of the time until thousands of new objects are Ready, for events without readers
/// that fast. It is not longer, because waiting events are lost if the process is killed. If the workers wait for
/// something other than the API server, so that none has ended for [`YIELD`], the API server has time for events.
pub(super) const CROWDED_YIELD: Duration = Duration::from_secs(10);

/// Counts the reconciles of a process. Clones share the count.
#[derive(Clone, Default)]
pub(crate) struct Reconciles(Arc<Count>);

#[derive(Default)]
struct Count {
    under_way: AtomicUsize,
    /// The number of reconciles that began while other objects were waiting.
    crowded: AtomicUsize,
    last_end: Mutex<Option<Instant>>,
    none_left: Notify,
}

/// One reconcile in progress, until it is dropped.
pub(crate) struct UnderWay {
    of: Arc<Count>,
    crowded: bool,
}

impl Reconciles {
    /// Counts a reconcile that begins; `crowded` if further objects wait for a worker.
    pub(crate) fn begin(&self, crowded: bool) -> UnderWay {
        self.0.under_way.fetch_add(1, Ordering::Relaxed);
        self.0.crowded.fetch_add(usize::from(crowded), Ordering::Relaxed);
        UnderWay {
            of: self.0.clone(),
            crowded,
        }
    }

    /// When an event that waits since then may be written: later if another reconcile ends before.
    pub(super) fn turn_of(&self, since: Instant) -> Instant {
        let soon = since + YIELD;
        if self.0.crowded.load(Ordering::Relaxed) == 0 {
            return soon;
        }
        let last_end = *self.0.last_end.lock().unwrap_or_else(PoisonError::into_inner);
        let standstill = last_end.map_or(soon, |end| end + YIELD);
        soon.max(standstill).min(since + CROWDED_YIELD)
    }

    pub(super) fn are_under_way(&self) -> bool {
        self.0.under_way.load(Ordering::Relaxed) > 0
    }

    /// Resolves when the last one ends; at once if that happened since the last call.
    pub(super) async fn ended(&self) {
        self.0.none_left.notified().await;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        *self.of.last_end.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.of.crowded.fetch_sub(usize::from(self.crowded), Ordering::Relaxed);
        if self.of.under_way.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.of.none_left.notify_one();
        }
    }
}
