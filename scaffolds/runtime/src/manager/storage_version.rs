//! The storage version of a kind, which its definition names.

use std::sync::{Arc, PoisonError, RwLock};

/// The version in which API servers store the objects of a kind, once it is known. Clones share it.
#[derive(Clone, Default)]
pub struct StorageVersion(Arc<RwLock<Option<String>>>);

impl StorageVersion {
    /// The version, if it is known.
    pub fn get(&self) -> Option<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the version for all clones.
    pub fn set(&self, version: &str) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(version.to_owned());
    }
}
