//! What the server gives to objects of which a cluster has only so many: addresses and ports. Each server has its own.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Mutex, MutexGuard, PoisonError},
};

use kubewright_schema::Cause;
use serde_json::Value;

/// Who holds what: what is held as text, and the owner.
pub type Holders = BTreeMap<String, String>;

/// How a kind's objects get what they hold.
pub struct Allocation {
    /// The name under which an object holds something.
    pub owner: fn(&Value) -> String,
    /// What an object holds, or wants to.
    pub wants: fn(&Value) -> Vec<String>,
    /// Gives a new object what it needs.
    pub create: fn(&mut Value, &mut Holders),
    /// Gives a changed object what it lacks.
    pub update: fn(&mut Value, &Value, &mut Holders),
    /// Says what could not be given to an object, which may be new.
    pub check: fn(&Value, bool, &Holders) -> Vec<Cause>,
    /// Whether a fault is found before anything is given.
    pub is_checked_before: fn(&Cause) -> bool,
}

/// What the objects of a kind hold.
pub struct Held {
    allocation: &'static Allocation,
    holders: Mutex<Holders>,
}

impl Held {
    /// By nobody yet.
    pub fn new(allocation: &'static Allocation) -> Self {
        let holders = Mutex::default();
        Self { allocation, holders }
    }

    fn lock(&self) -> MutexGuard<'_, Holders> {
        // Every change is one insertion or removal, so that a panic elsewhere leaves it whole.
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a new object what it needs.
    pub fn create(&self, object: &mut Value) {
        (self.allocation.create)(object, &mut self.lock());
    }

    /// Gives a changed object what it lacks.
    pub fn update(&self, new: &mut Value, old: &Value) {
        (self.allocation.update)(new, old, &mut self.lock());
    }

    /// What `object` holds and `kept` does not is free again.
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

    /// Notes what an existing object holds.
    pub fn hold(&self, object: &Value) {
        let (owner, mut holders) = ((self.allocation.owner)(object), self.lock());
        for key in (self.allocation.wants)(object) {
            holders.insert(key, owner.clone());
        }
    }

    /// All that is wrong with an object, of which `found` was found before. Upstream allocates before it checks the rest, so
    /// a failure to allocate hides `found`, except for the faults that it finds even earlier.
    pub fn check_before(&self, found: Vec<Cause>, object: &Value, is_new: bool) -> Vec<Cause> {
        if found.iter().any(self.allocation.is_checked_before) {
            return found;
        }
        let failed = (self.allocation.check)(object, is_new, &self.lock());
        if failed.is_empty() { found } else { failed }
    }
}

/// Where the search of an owner for one of `count` things begins: it depends on the name alone, so that runs are alike.
pub fn start(owner: &str, count: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    owner.hash(&mut hasher);
    usize::try_from(hasher.finish() % count.max(1) as u64).unwrap_or_default()
}
