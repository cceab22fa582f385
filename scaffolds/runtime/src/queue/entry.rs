//! The queue's entry for one key: its request, its holder, and the results of its last runs. Changed only by `core.rs`.

use tokio::time::Instant;

use crate::priority::Priority;

/// One key. Exists while the key is requested or held, or has counted runs.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// Runs in a row that failed or did not finish their work.
    pub failures: u32,
    /// Whether the last run failed. A run that did not finish is counted, but has not failed.
    pub failed: bool,
    pub request: Option<KeyRequest>,
    /// Requested while held, within the backoff; the end of the current run decides when it is due.
    pub within_backoff: Option<Priority>,
    pub holder: Option<Holder>,
}

/// A pending request for a key. While the key is held, the request is in no order.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyRequest {
    pub priority: Priority,
    pub due: Due,
    pub sequence: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Due {
    /// At once; with the time of the request.
    Now { since: Instant },
    /// Not before this time.
    At(Instant),
}

#[derive(Debug)]
pub(super) struct Holder {
    pub id: u64,
    pub since: Instant,
}

impl Entry {
    pub(super) fn is_unused(&self) -> bool {
        self.failures == 0 && self.request.is_none() && self.holder.is_none()
    }
}

impl Due {
    pub(super) fn earlier(self, other: Self) -> Self {
        match (self, other) {
            (Self::At(one), Self::At(two)) => Self::At(one.min(two)),
            (Self::Now { .. }, _) => self,
            (_, Self::Now { .. }) => other,
        }
    }
}
