//! The queue of events to be written, and for how long they yield to reconciles.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use super::{
    key::Key,
    writer::WRITES,
    yielding::{BOUND, Reconciles, STANDSTILL},
};

/// If this many events wait, they do not yield, and one more is written at the same time for each further
/// [`STEP`]: the queue grows no further although nothing is dropped.
pub(super) const PRESSING: usize = 2048;
const STEP: usize = 128;

/// Series to be written, in order. Warnings come before normal events: people look for them.
#[derive(Default)]
pub(super) struct Line {
    warnings: VecDeque<Waiting>,
    others: VecDeque<Waiting>,
}

struct Waiting {
    key: Key,
    since: Instant,
}

impl Line {
    pub(super) fn len(&self) -> usize {
        self.warnings.len() + self.others.len()
    }

    /// Appends a series; `warns` if its events are warnings.
    pub(super) fn join(&mut self, key: Key, warns: bool, now: Instant) {
        let line = if warns { &mut self.warnings } else { &mut self.others };
        line.push_back(Waiting { key, since: now });
    }

    pub(super) fn next(&mut self) -> Option<Key> {
        let next = self.warnings.pop_front().or_else(|| self.others.pop_front());
        next.map(|waiting| waiting.key)
    }

    /// The maximum of writes in progress now, and the time at which it may be higher. One write at a time leaves the API
    /// server to the next object; one more for each second beyond [`BOUND`] keeps the delay short.
    pub(super) fn room(&self, reconciles: &Reconciles, now: Instant) -> (usize, Option<Instant>) {
        let [warning, other] = [&self.warnings, &self.others].map(|line| line.front().map(|waiting| waiting.since));
        let turns = [
            warning.map(|since| reconciles.turn_of(since).min(since + STANDSTILL)),
            other.map(|since| reconciles.turn_of(since)),
        ];
        let (Some(turn), Some(oldest)) = (
            turns.into_iter().flatten().min(),
            warning.into_iter().chain(other).min(),
        ) else {
            return (0, None);
        };
        let pressing = (self.len() + STEP).saturating_sub(PRESSING) / STEP;
        if turn > now {
            return (pressing.min(WRITES), Some(turn));
        }
        let late = now.saturating_duration_since(oldest + BOUND).as_secs();
        let more = oldest + BOUND + Duration::from_secs(late + 1);
        ((late as usize + 1).max(pressing).min(WRITES), Some(more))
    }
}
