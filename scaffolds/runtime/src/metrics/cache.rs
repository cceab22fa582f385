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
        let help = "Objects that do not fit their type: nobody works on them until they are corrected.";
        let store = informer.store();
        self.computed("kubewright_invalid_objects", help, &labels, move || {
            store.invalid_len() as f64
        });
        let help = "Writes of the operator's own that its cache shows only once the watch does: their versions are no numbers.";
        let informer = informer.clone();
        self.computed_counter("kubewright_unmerged_writes_total", help, &labels, move || {
            informer.unmerged_writes() as f64
        });
    }
}
