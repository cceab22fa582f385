//! Objects to look at again at a later time: at a given one, or after a refused write with a growing delay.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::state::Core;

/// The longest delay after refused writes, in seconds.
const LONGEST: i64 = 64;

/// The objects, by the second at which they are due.
pub(super) struct Retries<K> {
    later: BTreeMap<i64, BTreeSet<K>>,
    failures: BTreeMap<K, RefusedWrites>,
}

/// The refused writes about an object.
#[derive(Default)]
struct RefusedWrites {
    count: u32,
    /// When the next attempt is due.
    due: i64,
}

impl<K> Default for Retries<K> {
    fn default() -> Self {
        Self {
            later: BTreeMap::new(),
            failures: BTreeMap::new(),
        }
    }
}

impl<K: Clone + Ord> Retries<K> {
    /// Adds an object at a time, in seconds since 1970.
    pub fn add_at(&mut self, at: i64, key: K) {
        self.later.entry(at).or_default().insert(key);
    }

    /// When the next object is due.
    pub fn next(&self) -> Option<i64> {
        self.later.first_key_value().map(|(at, _)| *at)
    }

    /// Removes and returns the objects that are due.
    pub fn due(&mut self, now: i64) -> Vec<K> {
        let mut due = Vec::new();
        while self.next().is_some_and(|at| at <= now) {
            due.extend(self.later.pop_first().into_iter().flat_map(|(_, keys)| keys));
        }
        due
    }

    /// Forgets the failures of an object that is gone, or whose write succeeded.
    pub fn forget(&mut self, key: &K) {
        self.failures.remove(key);
    }

    /// Adds an object again: after one second, and twice as long after each further failure. A failure before that time, after
    /// a change of the object, adds no further attempt.
    pub fn failed(&mut self, key: &K, now: i64) {
        let failure = self.failures.entry(key.clone()).or_default();
        if failure.due > now {
            return;
        }
        let delay = 1_i64.checked_shl(failure.count).unwrap_or(LONGEST).clamp(1, LONGEST);
        failure.count = failure.count.saturating_add(1);
        failure.due = now.saturating_add(delay);
        self.later.entry(failure.due).or_default().insert(key.clone());
    }
}

/// The time until a second since 1970.
pub(super) fn until(core: &Core, at: i64) -> Duration {
    Duration::from_secs(u64::try_from(at).unwrap_or_default()).saturating_sub(core.clock.now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_doubles_up_to_its_limit_and_starts_over_after_a_success() {
        let mut retries = Retries::default();
        let mut now = 0;
        let mut delays = Vec::new();
        for _ in 0..9 {
            retries.failed(&"a", now);
            let at = retries.next().unwrap();
            delays.push(at - now);
            now = at;
            assert_eq!(retries.due(now), ["a"]);
        }
        assert_eq!(delays, [1, 2, 4, 8, 16, 32, 64, 64, 64]);
        retries.forget(&"a");
        retries.failed(&"a", now);
        assert_eq!(retries.next(), Some(now + 1));
    }

    #[test]
    fn failures_before_the_next_attempt_add_none() {
        let mut retries = Retries::default();
        (0..5).for_each(|_| retries.failed(&"a", 0));
        assert_eq!(retries.due(1), ["a"]);
        assert_eq!(retries.next(), None);
    }
}
