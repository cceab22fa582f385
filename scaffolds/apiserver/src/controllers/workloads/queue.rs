//! The queue of objects to decide about: each once, some at a later time, and after a refused write with a growing delay.

use std::collections::{HashSet, VecDeque};

use super::super::retries::Retries;
use crate::store::Key;

#[derive(Default)]
pub(super) struct Queue {
    order: VecDeque<Key>,
    queued: HashSet<Key>,
    retries: Retries<Key>,
}

impl Queue {
    pub fn add(&mut self, key: Key) {
        if self.queued.insert(key.clone()) {
            self.order.push_back(key);
        }
    }

    /// Adds an object at a time, in seconds since 1970.
    pub fn add_at(&mut self, at: i64, key: Key) {
        self.retries.add_at(at, key);
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
        self.retries.next()
    }

    /// Adds the objects that are due.
    pub fn wake(&mut self, now: i64) {
        for key in self.retries.due(now) {
            self.add(key);
        }
    }

    /// Removes the failures of an object that is gone, or about which all writes succeeded.
    pub fn forget(&mut self, key: &Key) {
        self.retries.forget(key);
    }

    /// Adds an object again, after a delay that grows with its failures.
    pub fn failed(&mut self, key: &Key, now: i64) {
        self.retries.failed(key, now);
    }
}
