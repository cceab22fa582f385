//! Values that are computed from all objects of some resources, and kept until an object changes.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::Store;

/// A value that is computed from all objects of some resources.
pub struct Derived<T>(Mutex<Option<Computed<T>>>);

struct Computed<T> {
    /// The revisions of the last changes of the resources.
    changed: Vec<u64>,
    value: T,
}

impl<T> Default for Derived<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Derived<T> {
    /// The value; `compute` gets the objects of each resource in the order of their names, and is called again only after a
    /// change. The resources must be the same in all calls.
    pub fn get<const N: usize>(
        &self,
        store: &Store,
        resources: [&str; N],
        compute: impl FnOnce([Vec<Value>; N]) -> T,
    ) -> T {
        let mut computed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = resources.map(|resource| store.changed(resource));
        if let Some(computed) = computed.as_ref().filter(|it| it.changed == changed) {
            return computed.value.clone();
        }
        let value = compute(resources.map(|resource| objects(store, resource)));
        *computed = Some(Computed {
            changed: changed.to_vec(),
            value: value.clone(),
        });
        value
    }
}

fn objects(store: &Store, resource: &str) -> Vec<Value> {
    let records = store.all(resource, "").into_iter();
    records.filter_map(|record| record.read().ok()).collect()
}
