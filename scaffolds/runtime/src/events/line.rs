//! The queue of events to be written, and for how long they yield to reconciles.

use std::collections::VecDeque;

use tokio::time::Instant;

use super::{
    key::Key,
    yielding::{Reconciles, YIELD},
};

/// If this many events wait, they do not yield.
pub(super) const PRESSING: usize = 2048;

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

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
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

    /// The maximum of writes in progress now: all of them if there is nothing to yield to, one if an event has waited
    /// for long enough, or none.
    pub(super) fn room(&self, all: usize, reconciles: &Reconciles, now: Instant) -> usize {
        if !reconciles.are_under_way() || self.len() >= PRESSING {
            all
        } else {
            usize::from(self.turn(reconciles).is_some_and(|turn| turn <= now))
        }
    }

    /// When the first event has waited for long enough.
    pub(super) fn turn(&self, reconciles: &Reconciles) -> Option<Instant> {
        let warning = self.warnings.front().map(|waiting| waiting.since + YIELD);
        let other = self.others.front().map(|waiting| reconciles.turn_of(waiting.since));
        warning.into_iter().chain(other).min()
    }
}
