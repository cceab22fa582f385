//! The metrics of a kind's cache, such as how many objects it could not decode.

use super::Metrics;
use crate::{informer::Informer, object::Object};

impl Metrics {
    /// Registers the metrics of a kind's cache.
    pub(crate) fn cache<K: Object>(&self, informer: &Informer<K>) {
        let (group, version, kind) = (K::group(&()), K::version(&()), K::kind(&()));
        let labels = [
            ("group", group.as_ref()),
            ("version", version.as_ref()),
            ("kind", kind.as_ref()),
        ];
        let help = "Objects that cannot be decoded; they are not reconciled until they are corrected.";
        let store = informer.store();
        self.computed("kubewright_invalid_objects", help, &labels, move || {
            store.invalid_len() as f64
        });
        let help = "Own writes that were not merged into the cache, because resource versions are not numbers.";
        let informer = informer.clone();
        self.computed_counter("kubewright_unmerged_writes_total", help, &labels, move || {
            informer.unmerged_writes() as f64
        });
    }
}
