//! The clock that reconcilers read, which a test can set.

use std::{future::pending, sync::Arc, time::Duration};

use k8s_openapi::jiff::Timestamp;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

#[cfg(feature = "testing")]
use crate::error::Error;
use crate::error::Result;

/// The time between two looks at the system's clock while something waits for a time of it: a time server or a person may
/// set it, and it goes on while a machine sleeps.
const LOOK: Duration = Duration::from_secs(60);

/// A wait is this part longer by tokio's clock, so that it ends by the system's as long as nobody sets that back: time servers slow a
/// clock down by at most 500 ppm.
const SLOWEST: u32 = 1_000;

/// The environment variable with the time at which the clock of an operator under test stands first.
#[cfg(feature = "testing")]
pub(crate) const TEST_CLOCK: &str = "KUBEWRIGHT_TEST_CLOCK";

/// The output of an operator with such a clock.
#[cfg(feature = "testing")]
pub(crate) const TEST_CLOCK_SET: &str = "the clock is the test's";

/// The clock of a [`Manager`](crate::Manager): the system's by default, or one that a test sets and moves. Cheap to clone; all
/// clones are one clock.
///
/// Reconcilers read it with [`Context::now`](crate::Context::now), and [`Action::At`](crate::Action::At) waits for a time of it.
/// Delays, such as that of [`Action::RequeueAfter`](crate::Action::RequeueAfter), are measured by tokio's clock.
#[derive(Clone, Debug, Default)]
pub struct Clock(Option<Arc<SetClock>>);

/// A clock that shows another time than the system's.
#[derive(Debug)]
struct SetClock {
    start: Timestamp,
    /// When it was started, by tokio's clock; `None` if it stands still.
    since: Option<Instant>,
    /// By how much it was moved ahead.
    ahead: watch::Sender<Duration>,
}

impl Clock {
    /// The system's clock.
    pub fn system() -> Self {
        Self::default()
    }

    /// A clock that stands still at this time until it is [moved](Self::advance).
    pub fn stopped_at(start: Timestamp) -> Self {
        Self::set(start, None)
    }

    /// A clock that shows this time now and then goes on with tokio's clock, also if that is paused. To be called in a tokio
    /// runtime.
    pub fn started_at(start: Timestamp) -> Self {
        Self::set(start, Some(Instant::now()))
    }

    /// The clock of this operator: the system's, unless the program was built for tests and a test has set another one.
    pub(crate) fn of_this_process() -> Result<Self> {
        #[cfg(feature = "testing")]
        if let Ok(start) = std::env::var(TEST_CLOCK) {
            return Self::of_the_test(&start);
        }
        Ok(Self::system())
    }

    /// A stopped clock that each line of the standard input moves ahead, by so many nanoseconds.
    #[cfg(feature = "testing")]
    fn of_the_test(start: &str) -> Result<Self> {
        let no_time = |error| Error::Setup(format!("{TEST_CLOCK}: `{}` is no time: {error}", start.escape_debug()));
        let clock = Self::stopped_at(start.parse().map_err(no_time)?);
        let moved = clock.clone();
        // A thread, because a read of the standard input cannot be cancelled; it ends with the process.
        std::thread::spawn(move || {
            for line in std::io::stdin().lines().map_while(std::io::Result::ok) {
                if let Ok(nanoseconds) = line.parse() {
                    moved.advance(Duration::from_nanos(nanoseconds));
                }
            }
        });
        eprintln!("{TEST_CLOCK_SET}");
        Ok(clock)
    }

    fn set(start: Timestamp, since: Option<Instant>) -> Self {
        Self(Some(Arc::new(SetClock {
            start,
            since,
            ahead: watch::Sender::default(),
        })))
    }

    /// The time that it shows.
    pub fn now(&self) -> Timestamp {
        let Some(set) = &self.0 else {
            return Timestamp::now();
        };
        let running = set.since.map_or(Duration::ZERO, |since| since.elapsed());
        let passed = running.saturating_add(*set.ahead.borrow());
        set.start.saturating_add(passed).unwrap_or(Timestamp::MAX)
    }

    /// Moves the clock ahead; objects whose [time](crate::Action::At) is then reached are reconciled at once. Returns false,
    /// and does nothing, if it is the system's.
    pub fn advance(&self, by: Duration) -> bool {
        let Some(set) = &self.0 else { return false };
        set.ahead.send_modify(|ahead| *ahead = ahead.saturating_add(by));
        true
    }

    /// The time left until `at`; zero once it is reached.
    pub(crate) fn until(&self, at: Timestamp) -> Duration {
        Duration::try_from(at.duration_since(self.now())).unwrap_or_default()
    }

    /// The end of a wait for `at` by tokio's clock, which goes on while the system's is set back. `None` for a clock of a test.
    pub(crate) fn deadline(&self, at: Timestamp) -> Option<Instant> {
        let left = self.0.is_none().then(|| self.until(at))?;
        Instant::now().checked_add(left.saturating_add(left / SLOWEST))
    }

    /// Waits until the clock shows this time.
    pub(crate) async fn reached(&self, at: Timestamp) {
        // Before the first look, so that no move is missed.
        let mut moves = self.0.as_ref().map(|set| set.ahead.subscribe());
        loop {
            let left = self.until(at);
            if left.is_zero() {
                return;
            }
            match (&self.0, &mut moves) {
                (Some(set), Some(moves)) => {
                    let passes = async {
                        match set.since {
                            Some(_) => sleep(left).await,
                            None => pending().await,
                        }
                    };
                    tokio::select! {
                        () = passes => {}
                        _ = moves.changed() => {}
                    }
                }
                _ => sleep(left.min(LOOK)).await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_stopped_clock_moves_only_when_it_is_moved() {
        let clock = Clock::stopped_at(at("2026-01-01T00:00:00Z"));
        let waits = tokio::spawn({
            let clock = clock.clone();
            async move { clock.reached(at("2026-01-01T00:10:00Z")).await }
        });
        advance(Duration::from_secs(3_600)).await;
        assert_eq!(clock.now(), at("2026-01-01T00:00:00Z"));
        assert!(!waits.is_finished());
        assert!(clock.advance(Duration::from_secs(600)));
        waits.await.unwrap();
        assert_eq!(clock.now(), at("2026-01-01T00:10:00Z"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_started_clock_goes_on_with_tokio_and_can_be_moved() {
        let clock = Clock::started_at(at("2026-01-01T00:00:00Z"));
        clock.reached(at("2026-01-01T01:00:00Z")).await;
        assert_eq!(clock.now(), at("2026-01-01T01:00:00Z"));
        clock.advance(Duration::from_secs(60));
        assert_eq!(clock.now(), at("2026-01-01T01:01:00Z"));
        clock.reached(at("2025-01-01T00:00:00Z")).await;
    }

    #[test]
    fn the_system_s_clock_cannot_be_moved_and_no_time_overflows() {
        assert!(!Clock::system().advance(Duration::MAX));
        let clock = Clock::stopped_at(Timestamp::MAX);
        clock.advance(Duration::MAX);
        clock.advance(Duration::MAX);
        assert_eq!(clock.now(), Timestamp::MAX);
        assert_eq!(clock.until(Timestamp::MIN), Duration::ZERO);
    }
}
