//! The age of states: as etcd is compacted every five minutes, an exact revision can be read for five to ten minutes after a newer one exists.

use std::time::Duration;

use tokio::time::Instant;

/// The time between two compactions of a real server (`--etcd-compaction-interval`).
const INTERVAL: Duration = Duration::from_secs(300);

/// The revisions at the ends of the last two intervals.
#[derive(Debug)]
pub(super) struct Age {
    end: Instant,
    last: u64,
    /// The oldest revision that can be read.
    oldest: u64,
}

impl Age {
    pub fn new() -> Self {
        Self {
            end: Instant::now() + INTERVAL,
            last: 0,
            oldest: 0,
        }
    }

    /// Ends the intervals that are over, in which the present revision was the last one. Runs before each change, so no revision is missed.
    pub fn pass(&mut self, revision: u64) -> u64 {
        let now = Instant::now();
        if now >= self.end {
            let is_first = now < self.end + INTERVAL;
            self.oldest = if is_first { self.last } else { revision };
            self.last = revision;
            let over = now.duration_since(self.end).as_secs() / INTERVAL.as_secs() + 1;
            self.end += INTERVAL * u32::try_from(over).unwrap_or(u32::MAX);
        }
        self.oldest
    }
}
