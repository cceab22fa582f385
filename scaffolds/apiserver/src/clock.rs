//! The time that objects are stamped with: the wall clock at start, moved on by tokio's. So it never goes back, and under
//! a paused clock an hour that a test skips is an hour between two timestamps.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// A clock; copies agree.
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

    /// Starts at this time, for tests whose timestamps shall be the same in every run.
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
