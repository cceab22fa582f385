//! Allocates values of which a cluster has a limited number: addresses and ports. Each server has its own.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Mutex, MutexGuard, PoisonError},
};

use kubewright_machinery::Cause;
use serde_json::Value;

/// The owners, by the text of the value that they hold.
pub type Holders = BTreeMap<String, String>;

/// The allocation of values to the objects of a kind.
pub struct Allocation {
    /// The name of the owner that an object is.
    pub owner: fn(&Value) -> String,
    /// The values that an object holds or requests.
    pub wants: fn(&Value) -> Vec<String>,
    /// Allocates the values that a new object needs.
    pub create: fn(&mut Value, &mut Holders),
    /// Allocates the values that a changed object lacks.
    pub update: fn(&mut Value, &Value, &mut Holders),
    /// The errors of values that could not be allocated to an object; `None` is the former state of a new one.
    pub check: fn(&Value, Option<&Value>, &Holders) -> Vec<Cause>,
    /// Whether upstream checks for this error first and, if it finds one, reports no other error.
    pub is_checked_first: fn(&Cause) -> bool,
    /// Whether upstream finds an error before it allocates.
    pub is_checked_before: fn(&Cause) -> bool,
}

/// The values that the objects of a kind hold.
pub struct Held {
    allocation: &'static Allocation,
    holders: Mutex<Holders>,
}

impl Held {
    /// No values are held.
    pub fn new(allocation: &'static Allocation) -> Self {
        let holders = Mutex::default();
        Self { allocation, holders }
    }

    fn lock(&self) -> MutexGuard<'_, Holders> {
        // Ignore poisoning: every change is one insertion or removal, so a panic leaves the map consistent.
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates the values that a new object needs.
    pub fn create(&self, object: &mut Value) {
        (self.allocation.create)(object, &mut self.lock());
    }

    /// Allocates the values that a changed object lacks.
    pub fn update(&self, new: &mut Value, old: &Value) {
        (self.allocation.update)(new, old, &mut self.lock());
    }

    /// Releases the values that `object` holds and `kept` does not.
    pub fn release(&self, object: &Value, kept: Option<&Value>) {
        let wants = self.allocation.wants;
        let stays = kept.map(wants).unwrap_or_default();
        let (owner, mut holders) = ((self.allocation.owner)(object), self.lock());
        for key in wants(object).into_iter().filter(|key| !stays.contains(key)) {
            if holders.get(&key) == Some(&owner) {
                holders.remove(&key);
            }
        }
    }

    /// Records the values that an existing object holds.
    pub fn hold(&self, object: &Value) {
        let (owner, mut holders) = ((self.allocation.owner)(object), self.lock());
        for key in (self.allocation.wants)(object) {
            holders.insert(key, owner.clone());
        }
    }

    /// All errors of an object; `found` are those of its validation. Upstream allocates before it validates, so a
    /// failed allocation hides `found`, except for those errors that upstream finds before allocating.
    pub fn check_before(&self, mut found: Vec<Cause>, new: &Value, old: Option<&Value>) -> Vec<Cause> {
        if found.iter().any(self.allocation.is_checked_first) {
            found.retain(self.allocation.is_checked_first);
            return found;
        }
        if found.iter().any(self.allocation.is_checked_before) {
            return found;
        }
        let failed = (self.allocation.check)(new, old, &self.lock());
        if failed.is_empty() { found } else { failed }
    }
}

/// The position among `count` values at which the search for an owner begins. It depends on the owner's name alone, so
/// that runs are reproducible.
pub fn start(owner: &str, count: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    owner.hash(&mut hasher);
    usize::try_from(hasher.finish() % count.max(1) as u64).unwrap_or_default()
}
