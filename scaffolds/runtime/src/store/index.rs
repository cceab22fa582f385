//! Indexes of objects by values other than their names.

use std::collections::{BTreeSet, HashMap, hash_map};
use std::sync::Arc;

use super::contents::shrink;
use crate::{isolate::Authored, key::ObjectKey};

/// Returns the values under which an object is found.
pub(crate) type IndexFn<K> = Authored<dyn Fn(&K) -> Vec<String> + Send + Sync>;

/// The objects of a store, by the values that a function returns for them.
pub(super) struct Index<K> {
    pub(super) name: &'static str,
    values: IndexFn<K>,
    keys: HashMap<String, Keys>,
}

/// The keys under one value. Most values (an owner's uid) have one key, which needs no table.
#[derive(Debug)]
enum Keys {
    One(ObjectKey),
    Many(BTreeSet<ObjectKey>),
}

impl<K> Index<K> {
    pub(super) fn new(name: &'static str, values: IndexFn<K>) -> Self {
        Self {
            name,
            values,
            keys: HashMap::new(),
        }
    }

    /// The keys of the objects under this value, in their order.
    pub(super) fn keys(&self, value: &str) -> impl Iterator<Item = &ObjectKey> {
        self.keys.get(value).into_iter().flat_map(Keys::iter)
    }

    pub(super) fn insert(&mut self, key: &ObjectKey, object: &K) {
        for value in self.values_of(key, object) {
            match self.keys.entry(value) {
                hash_map::Entry::Vacant(slot) => drop(slot.insert(Keys::One(key.clone()))),
                hash_map::Entry::Occupied(mut slot) => slot.get_mut().insert(key),
            }
        }
    }

    /// Removes `key` from the values of `old` that `new` does not have.
    pub(super) fn remove(&mut self, key: &ObjectKey, old: &K, new: Option<&Arc<K>>) {
        let kept = new.map(|new| self.values_of(key, new)).unwrap_or_default();
        for value in self.values_of(key, old).iter().filter(|value| !kept.contains(value)) {
            if self.keys.get_mut(value).is_some_and(|keys| keys.remove(key)) {
                self.keys.remove(value);
            }
        }
        shrink(&mut self.keys);
    }

    /// If an index function panics, the object has no value in this index, and the informer goes on.
    fn values_of(&self, key: &ObjectKey, object: &K) -> Vec<String> {
        self.values.call(|values| values(object)).unwrap_or_else(|panic| {
            tracing::error!(index = self.name, object = %key, "the index function panicked; the object is not indexed: {panic}");
            Vec::new()
        })
    }
}

impl<K> std::fmt::Debug for Index<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("name", &self.name)
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

impl Keys {
    fn insert(&mut self, key: &ObjectKey) {
        match self {
            Self::One(one) if one == key => {}
            Self::One(one) => *self = Self::Many(BTreeSet::from([one.clone(), key.clone()])),
            Self::Many(many) => drop(many.insert(key.clone())),
        }
    }

    /// Removes a key, and returns whether none is left.
    fn remove(&mut self, key: &ObjectKey) -> bool {
        match self {
            Self::One(one) => one == key,
            Self::Many(many) => {
                many.remove(key);
                many.is_empty()
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = &ObjectKey> {
        let (one, many) = match self {
            Self::One(one) => (Some(one), None),
            Self::Many(many) => (None, Some(many.iter())),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }
}
