//! The storage version of a kind, which its definition names.

use std::sync::{Arc, PoisonError, RwLock};

/// The version in which API servers store the objects of a kind, once it is known. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct StorageVersion(Arc<RwLock<Option<String>>>);

impl StorageVersion {
    #[cfg(feature = "webhooks")]
    pub(crate) fn get(&self) -> Option<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, version: &str) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(version.to_owned());
    }
}
