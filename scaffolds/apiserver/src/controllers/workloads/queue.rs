//! The queue of objects to decide about: each once, some at a later time, and after a refused write with a growing delay.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use crate::store::Key;

/// The longest delay after refused writes, in seconds.
const LONGEST: i64 = 64;

#[derive(Default)]
pub(super) struct Queue {
    order: VecDeque<Key>,
    queued: HashSet<Key>,
    /// By the second at which they are due.
    later: BTreeMap<i64, HashSet<Key>>,
    failures: HashMap<Key, u32>,
}

impl Queue {
    pub fn add(&mut self, key: Key) {
        if self.queued.insert(key.clone()) {
            self.order.push_back(key);
        }
    }

    /// Adds an object at a time, in seconds since 1970.
    pub fn add_at(&mut self, at: i64, key: Key) {
        self.later.entry(at).or_default().insert(key);
    }

    /// The next object.
    pub fn take(&mut self) -> Option<Key> {
        let key = self.order.pop_front()?;
        self.queued.remove(&key);
        Some(key)
    }

    pub fn is_idle(&self) -> bool {
        self.order.is_empty()
    }

    /// When the next object is due.
    pub fn next(&self) -> Option<i64> {
        self.later.first_key_value().map(|(at, _)| *at)
    }

    /// Adds the objects that are due.
    pub fn wake(&mut self, now: i64) {
        while self.next().is_some_and(|at| at <= now) {
            for key in self.later.pop_first().into_iter().flat_map(|(_, keys)| keys) {
                self.add(key);
            }
        }
    }

    /// Removes the failures of an object that is gone.
    pub fn forget(&mut self, key: &Key) {
        self.failures.remove(key);
    }

    pub fn succeeded(&mut self, key: &Key) {
        self.forget(key);
    }

    /// Adds an object again: after one second, and twice as long after each further failure.
    pub fn failed(&mut self, key: &Key, now: i64) {
        let failures = self.failures.entry(key.clone()).or_default();
        let delay = 1_i64.checked_shl(*failures).unwrap_or(LONGEST).clamp(1, LONGEST);
        *failures = failures.saturating_add(1);
        self.add_at(now.saturating_add(delay), key.clone());
    }
}
