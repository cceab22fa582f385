//! The clock for timestamps: the wall clock's time at start, advanced by tokio's clock. So it never goes backwards, and
//! when a test pauses tokio's clock and skips an hour, timestamps differ by an hour.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// A clock; copies show the same time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Since 1970, at `started`.
    origin: Duration,
    started: Instant,
}

impl Clock {
    /// Starts at the wall clock's time.
    pub fn system() -> Self {
        Self::starting_at(SystemTime::now())
    }

    /// Starts at this time, for tests whose timestamps must be the same in every run.
    pub fn starting_at(time: SystemTime) -> Self {
        Self {
            origin: time.duration_since(UNIX_EPOCH).unwrap_or_default(),
            started: Instant::now(),
        }
    }

    /// The time since 1970.
    pub fn now(&self) -> Duration {
        self.origin + self.started.elapsed()
    }

    /// The time in whole seconds since 1970.
    pub fn seconds(&self) -> i64 {
        i64::try_from(self.now().as_secs()).unwrap_or(i64::MAX)
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}
