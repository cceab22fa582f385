//! The delay of a key after a failure. Pure: time is an argument.

use std::{ops::RangeInclusive, time::Duration};

use tokio::time::Instant;

use crate::{
    jitter::Jitter,
    limit::{Bucket, RateLimit},
};

/// The delay after a failure: `base · 2^(n−1)` for the n-th in a row, at most `max`, times a random factor in `[1, 1 +
/// jitter)`, so that keys that failed at the same time are not retried at the same time. The factor is applied after
/// the cap.
///
/// Default: 5 ms to 1000 s as in client-go's default rate limiter, and a jitter of 0.1, which client-go does not have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    /// The delay after the first failure.
    pub base: Duration,
    /// The longest delay, before the jitter.
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
        // At most `max`, whose nanoseconds are from a `Duration`; a `max` of over 584 years becomes 584 years.
        let delay = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        if self.jitter > 0.0 {
            jitter.scale(delay, 1.0, 1.0 + self.jitter)
        } else {
            delay
        }
    }
}

/// The delays of one queue.
#[derive(Debug)]
pub(super) struct Delays {
    backoff: Backoff,
    jitter: Jitter,
    /// The limit of the whole queue.
    bucket: Option<Bucket>,
}

impl Delays {
    pub(super) fn new(backoff: Backoff, jitter: Jitter) -> Self {
        Self {
            backoff,
            jitter,
            bucket: None,
        }
    }

    /// Limits the delayed requests of all keys together.
    pub(super) fn limit(&mut self, limit: RateLimit) {
        self.bucket = Some(Bucket::new(limit));
    }

    /// The key's own delay after this many failures.
    pub(super) fn own(&mut self, failures: u32) -> Duration {
        self.backoff.delay(failures, &mut self.jitter)
    }

    /// The delay of a new request after a failure: the key's own within `range`, or the queue's if that is longer.
    pub(super) fn next(&mut self, failures: u32, range: &RangeInclusive<Duration>, now: Instant) -> Duration {
        let own = self.own(failures).max(*range.start()).min(*range.end());
        let shared = self
            .bucket
            .as_mut()
            .map_or(Duration::ZERO, |bucket| bucket.reserve(now));
        own.max(shared)
    }
}
