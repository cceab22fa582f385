//! Read access to the objects of an informer: by key and by index, and the undecodable ones. Only the informer writes
//! to the store.

mod index;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use self::index::Index;
pub(crate) use self::index::IndexFn;
use crate::key::ObjectKey;

/// A read handle on an informer's objects. Cheap to clone; reading never waits for the API server.
///
/// # Guarantees
/// - An object's `resourceVersion` never decreases, unless the object was deleted and created again.
/// - Objects are shared, not copied: they are the results of the informer's transform, and never change. To change one,
///   clone it.
/// - Until the informer has synced the store may lack objects.
#[derive(Debug)]
pub struct Store<K> {
    contents: Arc<RwLock<Contents<K>>>,
}

impl<K> Store<K> {
    /// The object of this name, if it exists and can be decoded.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.read().objects.get(key).cloned()
    }

    /// All objects, in no particular order.
    pub fn list(&self) -> Vec<Arc<K>> {
        self.read().objects.values().cloned().collect()
    }

    /// The keys of all objects, in no particular order.
    pub(crate) fn keys(&self) -> Vec<ObjectKey> {
        self.read().objects.keys().cloned().collect()
    }

    /// The objects for which the index function named `name` returned `value`, in no particular order.
    ///
    /// # Panics
    /// If there is no such index: an empty result would be misleading.
    pub fn by_index(&self, name: &str, value: &str) -> Vec<Arc<K>> {
        let contents = self.read();
        let Some(index) = contents.indexes.iter().find(|index| index.name == name) else {
            panic!("the store has no index `{name}`; add it to the informer first");
        };
        let keys = index.keys(value);
        keys.filter_map(|key| contents.objects.get(key).cloned()).collect()
    }

    /// Whether there is an index of this name.
    pub fn has_index(&self, name: &str) -> bool {
        self.read().indexes.iter().any(|index| index.name == name)
    }

    /// The decoding error of the object of this name, if it exists and cannot be decoded.
    pub fn invalid(&self, key: &ObjectKey) -> Option<Arc<str>> {
        self.read().invalid.get(key).map(|invalid| invalid.error.clone())
    }

    /// Number of objects that exist but cannot be decoded.
    pub fn invalid_len(&self) -> usize {
        self.read().invalid.len()
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.read().objects.len()
    }

    /// Whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn new() -> Self {
        Self {
            contents: Arc::new(RwLock::new(Contents::new())),
        }
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Contents<K>> {
        // Index functions run isolated, so a panic cannot leave a change half done.
        self.contents.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, Contents<K>> {
        self.contents.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K> Clone for Store<K> {
    fn clone(&self) -> Self {
        Self {
            contents: self.contents.clone(),
        }
    }
}

/// The contents of a store, behind its lock.
#[derive(Debug)]
pub(crate) struct Contents<K> {
    objects: HashMap<ObjectKey, Arc<K>>,
    invalid: HashMap<ObjectKey, Invalid<K>>,
    indexes: Vec<Index<K>>,
}

/// An object that exists but cannot be decoded.
#[derive(Debug)]
pub(crate) struct Invalid<K> {
    pub error: Arc<str>,
    pub uid: Option<String>,
    pub version: Option<String>,
    /// The last version that could be decoded: its deletion is still to be delivered.
    pub last: Option<Arc<K>>,
}

impl<K> Contents<K> {
    fn new() -> Self {
        Self {
            objects: HashMap::new(),
            invalid: HashMap::new(),
            indexes: Vec::new(),
        }
    }

    pub(crate) fn object(&self, key: &ObjectKey) -> Option<&Arc<K>> {
        self.objects.get(key)
    }

    pub(crate) fn objects(&self) -> impl Iterator<Item = (&ObjectKey, &Arc<K>)> {
        self.objects.iter()
    }

    pub(crate) fn invalids(&self) -> impl Iterator<Item = (&ObjectKey, &Invalid<K>)> {
        self.invalid.iter()
    }

    pub(crate) fn invalid(&self, key: &ObjectKey) -> Option<&Invalid<K>> {
        self.invalid.get(key)
    }

    /// Stores a version of an object and returns the one it replaces.
    pub(crate) fn insert(&mut self, key: ObjectKey, object: Arc<K>) -> Option<Arc<K>> {
        self.indexes.iter_mut().for_each(|index| index.insert(&key, &object));
        let old = self.objects.insert(key.clone(), object);
        if let Some(old) = &old {
            // After the insertion, so that values that both versions have are kept.
            let new = &self.objects[&key];
            self.indexes
                .iter_mut()
                .for_each(|index| index.remove(&key, old, Some(new)));
        }
        old
    }

    pub(crate) fn remove(&mut self, key: &ObjectKey) -> Option<Arc<K>> {
        let old = self.objects.remove(key)?;
        self.indexes.iter_mut().for_each(|index| index.remove(key, &old, None));
        shrink(&mut self.objects);
        Some(old)
    }

    pub(crate) fn set_invalid(&mut self, key: ObjectKey, invalid: Invalid<K>) -> Option<Invalid<K>> {
        self.invalid.insert(key, invalid)
    }

    pub(crate) fn remove_invalid(&mut self, key: &ObjectKey) -> Option<Invalid<K>> {
        let old = self.invalid.remove(key)?;
        shrink(&mut self.invalid);
        Some(old)
    }

    /// Adds an index over current and future objects; false if there is one of that name.
    pub(crate) fn add_index(&mut self, name: &'static str, values: IndexFn<K>) -> bool {
        if self.indexes.iter().any(|index| index.name == name) {
            return false;
        }
        let mut index = Index::new(name, values);
        self.objects.iter().for_each(|(key, object)| index.insert(key, object));
        self.indexes.push(index);
        true
    }

    /// Removes the index of this name, if there is one.
    pub(crate) fn remove_index(&mut self, name: &str) {
        self.indexes.retain(|index| index.name != name);
    }
}

/// Frees the memory of a table once most of it is unused.
fn shrink<Q: std::hash::Hash + Eq, V>(table: &mut HashMap<Q, V>) {
    if table.capacity() > 64 && table.len() * 8 < table.capacity() {
        table.shrink_to(table.len() * 2);
    }
}
