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

/// The reconciles of a process. Clones count the same ones.
#[derive(Clone, Default)]
pub(crate) struct Reconciles(Arc<Count>);

#[derive(Default)]
struct Count {
    under_way: AtomicUsize,
    none_left: Notify,
}

/// One reconcile, until it is dropped.
pub(crate) struct UnderWay(Arc<Count>);

impl Reconciles {
    /// One begins.
    pub(crate) fn begin(&self) -> UnderWay {
        self.0.under_way.fetch_add(1, Ordering::Relaxed);
        UnderWay(self.0.clone())
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
        if self.0.under_way.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.none_left.notify_one();
        }
    }
}
