//! Read access to the objects of an informer: by key and by index, and the undecodable ones. Only the informer writes
//! to the store.

mod contents;
mod index;
mod packed;
mod recent;
pub(crate) mod scan;
mod text;

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use kube::Resource;
use serde::de::DeserializeOwned;

pub(crate) use self::{
    contents::{Contents, Invalid},
    text::{ResourceVersion, Text},
};
use crate::key::ObjectKey;

/// The number of objects that are decoded under one lock, while readers wait: some milliseconds.
const DECODED_AT_ONCE: usize = 1_000;

/// A read handle on an informer's objects. Cheap to clone; reading never waits for the API server.
///
/// # Guarantees
/// - An object's `resourceVersion` never decreases, unless the object was deleted and created again.
/// - Objects never change: to change one, clone it. They are the results of the informer's transform.
/// - Until the informer has synced the store may lack objects.
///
/// # Costs
/// An object of up to 16 KiB is stored as the JSON that the API server has sent, compressed by what the objects of its kind have in
/// common: a tenth to a quarter of its memory. It is decoded when it is read; to unpack it adds less than a tenth to that. The 256
/// objects that were read or changed last are shared, not decoded again. [`list`](Self::list) keeps what it decodes, so a store that
/// is listed again and again decodes each version once, and once more after each new list of the API server. Objects with a
/// [transform](crate::InformerConfig::transform) are stored as it leaves them.
#[derive(Debug)]
pub struct Store<K> {
    contents: Arc<RwLock<Contents<K>>>,
}

impl<K> Store<K> {
    /// The object of this name, if it exists and can be decoded.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.read().object(key)
    }

    /// Whether there is an object of this name that can be decoded.
    pub(crate) fn contains(&self, key: &ObjectKey) -> bool {
        self.read().contains(key)
    }

    /// All objects, by namespace and name.
    pub fn list(&self) -> Vec<Arc<K>> {
        let packed = self.read().packed();
        for some in packed.chunks(DECODED_AT_ONCE) {
            self.write().unpack(some);
        }
        self.read().all()
    }

    /// The keys of all objects, in their order.
    pub(crate) fn keys(&self) -> Vec<ObjectKey> {
        let mut keys: Vec<_> = self.read().keys().cloned().collect();
        keys.sort_unstable();
        keys
    }

    /// The objects for which the index function named `name` returned `value`, by namespace and name.
    ///
    /// # Panics
    /// If there is no such index: an empty result would be misleading.
    pub fn by_index(&self, name: &str, value: &str) -> Vec<Arc<K>> {
        let found = self.read().by_index(name, value);
        found.unwrap_or_else(|| panic!("the store has no index `{name}`; add it to the informer first"))
    }

    /// Whether there is an index of this name.
    pub fn has_index(&self, name: &str) -> bool {
        self.read().has_index(name)
    }

    /// The decoding error of the object of this name, if it exists and cannot be decoded.
    pub fn invalid(&self, key: &ObjectKey) -> Option<Arc<str>> {
        self.read().invalid(key).map(|invalid| invalid.error.clone())
    }

    /// Number of objects that exist but cannot be decoded.
    pub fn invalid_len(&self) -> usize {
        self.read().invalids().len()
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.read().keys().len()
    }

    /// Whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Contents<K>> {
        // Index functions run isolated, so a panic cannot leave a change half done. What is decoded has been decoded before.
        self.contents.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, Contents<K>> {
        self.contents.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Resource + DeserializeOwned + Clone> Store<K> {
    pub(crate) fn new() -> Self {
        Self {
            contents: Arc::new(RwLock::new(Contents::new())),
        }
    }
}

impl<K> Clone for Store<K> {
    fn clone(&self) -> Self {
        Self {
            contents: self.contents.clone(),
        }
    }
}
