//! Limits on how many operations per second begin: a token bucket, as `golang.org/x/time/rate`, which client-go uses.

use std::time::Duration;

use tokio::time::Instant;

/// A limit of operations that begin: `burst` at once, and `per_second` in the long run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLimit {
    per_second: f64,
    burst: u32,
}

impl RateLimit {
    /// `per_second` is positive, and `burst` is at least 1: other values are replaced by the nearest valid ones.
    pub fn new(per_second: f64, burst: u32) -> Self {
        Self {
            // Once in some 30 years; `max` also replaces NaN.
            per_second: per_second.max(1e-9),
            burst: burst.max(1),
        }
    }
}

/// A token bucket. Operations reserve tokens in advance, in their order: then the bucket owes tokens.
#[derive(Debug)]
pub(crate) struct Bucket {
    limit: RateLimit,
    tokens: f64,
    at: Option<Instant>,
}

impl Bucket {
    /// A full bucket.
    pub(crate) fn new(limit: RateLimit) -> Self {
        Self {
            limit,
            tokens: f64::from(limit.burst),
            at: None,
        }
    }

    /// Takes a token, and returns how long its operation has to wait for it.
    pub(crate) fn reserve(&mut self, now: Instant) -> Duration {
        let passed = self.at.map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
        let filled = self.tokens + passed.as_secs_f64() * self.limit.per_second;
        self.tokens = filled.min(f64::from(self.limit.burst)) - 1.0;
        self.at = Some(now);
        let missing = (-self.tokens).max(0.0);
        Duration::try_from_secs_f64(missing / self.limit.per_second).unwrap_or(Duration::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reserved(bucket: &mut Bucket, at: Instant, count: usize) -> Vec<u128> {
        (0..count).map(|_| bucket.reserve(at).as_millis()).collect()
    }

    #[test]
    fn a_burst_passes_at_once_and_the_rest_in_its_order() {
        let start = Instant::now();
        let mut bucket = Bucket::new(RateLimit::new(10.0, 3));
        assert_eq!(reserved(&mut bucket, start, 5), [0, 0, 0, 100, 200]);
        // Two tokens were owed, and five have been added: 3 are there.
        let later = start + Duration::from_millis(500);
        assert_eq!(reserved(&mut bucket, later, 4), [0, 0, 0, 100]);
        // It holds no more than the burst.
        let much_later = start + Duration::from_secs(3600);
        assert_eq!(reserved(&mut bucket, much_later, 4), [0, 0, 0, 100]);
    }

    #[test]
    fn a_limit_that_makes_no_sense_still_lets_operations_begin() {
        for per_second in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut bucket = Bucket::new(RateLimit::new(per_second, 0));
            assert_eq!(reserved(&mut bucket, Instant::now(), 1), [0]);
        }
        let mut unlimited = Bucket::new(RateLimit::new(f64::INFINITY, 1));
        assert_eq!(reserved(&mut unlimited, Instant::now(), 3), [0, 0, 0]);
    }
}
