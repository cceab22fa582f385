//! The metrics of a kind's cache, such as how many objects it could not decode.

use super::Metrics;
use crate::{informer::Informer, kind::Kind, object::AnyObject};

impl Metrics {
    /// Registers the metrics of a kind's cache.
    pub(crate) fn cache<K: AnyObject>(&self, informer: &Informer<K>) {
        let kind = informer.kind();
        let labels = [
            ("group", kind.group()),
            ("version", kind.version()),
            ("kind", kind.kind()),
        ];
        let help = "Objects that cannot be decoded; they are not reconciled until they are corrected.";
        let store = informer.store();
        self.computed("kubewright_invalid_objects", help, &labels, move || {
            store.invalid_len() as f64
        });
        let help = "Own writes that were not merged into the cache, because resource versions are not numbers.";
        let failing = informer.clone();
        let informer = informer.clone();
        self.computed_counter("kubewright_unmerged_writes_total", help, &labels, move || {
            informer.unmerged_writes() as f64
        });
        let help = "Lists and watches that fail; their part of the cache may be old.";
        self.computed("kubewright_failing_watches", help, &labels, move || {
            failing.failing() as f64
        });
    }

    /// Removes them: the informer has ended.
    pub(crate) fn forget_cache<K>(&self, kind: &Kind<K>) {
        let labels = [
            ("group", kind.group()),
            ("version", kind.version()),
            ("kind", kind.kind()),
        ];
        for name in [
            "kubewright_invalid_objects",
            "kubewright_unmerged_writes_total",
            "kubewright_failing_watches",
        ] {
            self.registry.remove(name, &labels);
        }
    }
}
