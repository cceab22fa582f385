//! Whether reconciles are under way: events give way to them, for a while.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::Notify;

/// How long an event waits for reconciles to end. People who read events do not notice; a reconcile that is under way
/// has its API server for itself.
pub(super) const YIELD: Duration = Duration::from_secs(1);

/// The same while further objects wait for a worker. An event costs the API server as much as a child: of the time until
/// thousands of new objects are Ready it would take a fifth, to say what nobody reads that fast.
pub(super) const CROWDED_YIELD: Duration = Duration::from_secs(10);

/// The reconciles of a process. Clones count the same ones.
#[derive(Clone, Default)]
pub(crate) struct Reconciles(Arc<Count>);

#[derive(Default)]
struct Count {
    under_way: AtomicUsize,
    /// Of those, how many left others waiting when they began.
    crowded: AtomicUsize,
    none_left: Notify,
}

/// One reconcile, until it is dropped.
pub(crate) struct UnderWay {
    of: Arc<Count>,
    crowded: bool,
}

impl Reconciles {
    /// One begins; `crowded` if further objects wait for a worker.
    pub(crate) fn begin(&self, crowded: bool) -> UnderWay {
        self.0.under_way.fetch_add(1, Ordering::Relaxed);
        self.0.crowded.fetch_add(usize::from(crowded), Ordering::Relaxed);
        UnderWay {
            of: self.0.clone(),
            crowded,
        }
    }

    /// How long an event gives way.
    pub(super) fn patience(&self) -> Duration {
        if self.0.crowded.load(Ordering::Relaxed) > 0 {
            CROWDED_YIELD
        } else {
            YIELD
        }
    }

    pub(super) fn are_under_way(&self) -> bool {
        self.0.under_way.load(Ordering::Relaxed) > 0
    }

    /// Resolves when the last one ends; at once when that was since the last call.
    pub(super) async fn ended(&self) {
        self.0.none_left.notified().await;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.of.crowded.fetch_sub(usize::from(self.crowded), Ordering::Relaxed);
        if self.of.under_way.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.of.none_left.notify_one();
        }
    }
}
