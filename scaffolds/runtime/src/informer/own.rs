//! Read your own writes: the responses to writes are stored ahead of the watch.

use std::{collections::BTreeMap, sync::atomic::Ordering};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use tokio::time::Instant;

use super::{Informer, SharedInformer, SubscriptionId, Watchable, merge::has_number};
use crate::key::ObjectKey;

impl<K: Watchable> Informer<K> {
    /// Stores the API server's response to a write, ahead of the watch. If it is newer than the stored version, it is
    /// merged and delivered to all subscribers but `from`; the watch event of the same version then changes nothing. A
    /// list that was requested before the write does not undo it.
    ///
    /// Returns whether the store is now at least as new as the write. It ignores the write, and returns false, if it
    /// cannot know that the object belongs in this store: outside of the scope's namespaces, without the labels that
    /// the informer selects, with any field selector, or if resource versions are not numbers, which
    /// `kubewright_unmerged_writes_total` counts.
    pub fn observe_write(&self, object: K, from: Option<SubscriptionId>) -> bool {
        if !self.shared.selects(object.meta()) {
            return false;
        }
        if !has_number(object.meta()) {
            self.shared.unordered.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        let Ok(object) = self.shared.trim(object) else {
            return false;
        };
        self.shared.change(|state| {
            let deltas = state.reflection.written(object, Instant::now());
            let accepted = deltas.is_some();
            state.dispatch.push(deltas.unwrap_or_default(), from);
            accepted
        })
    }

    /// The number of writes that [`Self::observe_write`] ignored because their resource versions are not numbers.
    pub(crate) fn unmerged_writes(&self) -> u64 {
        self.shared.unordered.load(Ordering::Relaxed)
    }
}

impl<K: Watchable> SharedInformer<K> {
    /// Whether an object with this metadata is certain to be selected.
    fn selects(&self, metadata: &ObjectMeta) -> bool {
        let nothing = BTreeMap::new();
        let labels = metadata.labels.as_ref().unwrap_or(&nothing);
        let has = |(key, value): (&str, &str)| labels.get(key).is_some_and(|has| has == value);
        let selected = self.label();
        let selected = selected.as_deref().and_then(|pair| pair.split_once('='));
        let key = ObjectKey::new(metadata.namespace.as_deref(), "");
        let place = self.places.iter().find(|place| place.covers(&key));
        selected.is_none_or(has) && place.is_some_and(|place| place.selects(metadata))
    }
}
