//! The objects that were decoded from their texts last: an object is read several times while it is reconciled.

use std::sync::{Arc, Mutex, PoisonError};

use crate::key::ObjectKey;

/// The maximum of kept objects: several times as many as are reconciled at once. It is a power of two.
const SLOTS: usize = 256;

/// A table with one slot for all keys whose hashes are alike, in which the last one stays. Only the current version of an object
/// is in it: whoever holds the lock of the store for a change replaces it.
#[derive(Debug)]
pub(super) struct Recent<K> {
    slots: Box<[Slot<K>]>,
}

type Slot<K> = Mutex<Option<(ObjectKey, Arc<K>)>>;

impl<K> Recent<K> {
    pub(super) fn new() -> Self {
        Self {
            slots: (0..SLOTS).map(|_| Mutex::new(None)).collect(),
        }
    }

    /// The object of a key with this hash.
    pub(super) fn get(&self, hash: u64, key: &ObjectKey) -> Option<Arc<K>> {
        let slot = self.slot(hash).lock().unwrap_or_else(PoisonError::into_inner);
        let found = slot.as_ref().filter(|(its, _)| its == key);
        found.map(|(_, object)| object.clone())
    }

    pub(super) fn put(&self, hash: u64, key: ObjectKey, object: Arc<K>) {
        let slot = &mut *self.slot(hash).lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Some((key, object));
    }

    pub(super) fn forget(&self, hash: u64, key: &ObjectKey) {
        let slot = &mut *self.slot(hash).lock().unwrap_or_else(PoisonError::into_inner);
        if slot.as_ref().is_some_and(|(its, _)| its == key) {
            *slot = None;
        }
    }

    fn slot(&self, hash: u64) -> &Slot<K> {
        // The low bits of the hash choose the slot.
        &self.slots[hash as usize % SLOTS]
    }
}
