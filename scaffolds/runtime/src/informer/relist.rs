//! Whether a list follows a watch that has ended, for the sake of objects that could not be decoded.

use std::time::Duration;

use tokio::time::Instant;

/// The least time between two such lists. A proxy may end each watch after seconds, without a change of the definition.
const PAUSE: Duration = Duration::from_secs(5 * 60);
/// The pause doubles up to this time while watches end early.
const LONGEST_PAUSE: Duration = Duration::from_secs(60 * 60);

/// The API server ends watches when the definition of the kind changes. Objects may be decoded after that, for example
/// because fields have defaults, and no event announces it.
pub(super) struct Relist {
    /// Whether a watch has ended early since the last list.
    is_due: bool,
    last: Option<Instant>,
    pause: Duration,
}

impl Relist {
    pub(super) fn new() -> Self {
        Self {
            is_due: false,
            last: None,
            pause: PAUSE,
        }
    }

    /// Whether a list follows the watch that has ended now. One that may not follow yet follows a later watch.
    pub(super) fn follows(&mut self, ended_early: bool) -> bool {
        if !ended_early && !self.is_due {
            self.pause = PAUSE;
        }
        self.is_due |= ended_early;
        if !self.is_due || self.last.is_some_and(|last| last.elapsed() < self.pause) {
            return false;
        }
        if self.last.is_some() {
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        }
        self.last = Some(Instant::now());
        self.is_due = false;
        true
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    /// The minutes of five hours after which a list follows a watch, if watches end after this time.
    async fn lists(relist: &mut Relist, watched: Duration, early: bool) -> Vec<u64> {
        let began = Instant::now();
        let mut lists = Vec::new();
        while began.elapsed() < Duration::from_secs(5 * 60 * 60) {
            advance(watched).await;
            if relist.follows(early) {
                lists.push(began.elapsed().as_secs() / 60);
            }
        }
        lists
    }

    #[tokio::test(start_paused = true)]
    async fn watches_that_end_every_few_seconds_cause_fewer_and_fewer_lists() {
        let (mut relist, long) = (Relist::new(), Duration::from_secs(290));
        assert_eq!(
            lists(&mut relist, Duration::from_secs(5), true).await,
            [0, 5, 15, 35, 75, 135, 195, 255]
        );
        // The last early end is due.
        assert_eq!(lists(&mut relist, long, false).await, [19]);
        assert!(relist.follows(true), "the definition changes");
        assert!(!relist.follows(true), "and again");
        assert_eq!(lists(&mut relist, long, false).await, [14]);
    }
}
