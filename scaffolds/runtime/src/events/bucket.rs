//! The limit of writes about one object: a number at once, and a rate for further ones.

use tokio::time::Instant;

/// Writes about one object that are allowed at once (client-go, `tools/record/events_cache.go`: `defaultSpamBurst`).
pub(super) const BURST: f64 = 25.0;
/// Then one write in this many seconds (ibid.: `defaultSpamQPS`).
const REFILL_SECONDS: f64 = 300.0;

/// A token bucket.
pub(super) struct Bucket {
    pub(super) tokens: f64,
    at: Instant,
}

impl Bucket {
    pub(super) fn full(now: Instant) -> Self {
        Self { tokens: BURST, at: now }
    }

    pub(super) fn fill(&mut self, now: Instant) {
        let seconds = now.saturating_duration_since(self.at).as_secs_f64();
        self.tokens = (self.tokens + seconds / REFILL_SECONDS).min(BURST);
        self.at = now;
    }

    pub(super) fn take(&mut self, now: Instant) -> bool {
        self.fill(now);
        let free = self.tokens >= 1.0;
        if free {
            self.tokens -= 1.0;
        }
        free
    }
}
