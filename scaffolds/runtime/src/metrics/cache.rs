//! The metrics of the caches, such as how many objects they could not decode.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::Metrics;
use crate::{informer::Informer, kind::Kind, object::AnyObject};

const NAMES: [(&str, &str); 3] = [
    (
        "kubewright_invalid_objects",
        "Objects that cannot be decoded; they are not reconciled until they are corrected.",
    ),
    (
        "kubewright_unmerged_writes_total",
        "Own writes that were not merged into the cache, because resource versions are not numbers.",
    ),
    (
        "kubewright_failing_watches",
        "Lists and watches that fail; their part of the cache may be old.",
    ),
];

/// The end of the name of a metric that only grows.
const COUNTER: &str = "_total";

/// The caches with metrics, by kind: a kind has several if some contain only the metadata of its objects, or if watches
/// of it are added. One series is the sum of a kind's caches.
#[derive(Default)]
pub(super) struct CacheMetricsIndex {
    kinds: Mutex<HashMap<Labels, Arc<Mutex<KindProbes>>>>,
}

/// The caches of one kind.
#[derive(Default)]
struct KindProbes {
    live: Vec<Probe>,
    /// The values of those that have ended, for the metrics that count.
    ended: [f64; 3],
}

/// Group, version and kind.
type Labels = [String; 3];

/// Reads the present value of each metric of [`NAMES`] from one cache.
type Probe = Arc<dyn Fn() -> [f64; 3] + Send + Sync>;

/// The metrics of one cache, which end when this is dropped.
#[must_use]
pub(crate) struct CacheMetrics {
    metrics: Metrics,
    labels: Labels,
    probe: Probe,
}

impl Metrics {
    /// Registers the metrics of a cache.
    pub(crate) fn cache<K: AnyObject>(&self, informer: &Informer<K>) -> CacheMetrics {
        let (store, informer) = (informer.store(), informer.clone());
        let labels = labels_of(informer.kind());
        let probe: Probe = Arc::new(move || {
            let counts = [store.invalid_len() as f64, informer.unmerged_writes() as f64];
            [counts[0], counts[1], informer.failing() as f64]
        });
        // Held while series are registered and removed, and never by a scrape, which holds the registry's lock.
        let mut kinds = locked(&self.caches.kinds);
        let probes = kinds.entry(labels.clone()).or_default();
        locked(probes).live.push(probe.clone());
        let named = named(&labels);
        for (at, (name, help)) in NAMES.into_iter().enumerate() {
            let probes = probes.clone();
            let sum = move || {
                let probes = locked(&probes);
                probes.ended[at] + probes.live.iter().map(|probe| probe()[at]).sum::<f64>()
            };
            if name.ends_with(COUNTER) {
                self.computed_counter(name, help, &named, sum);
            } else {
                self.computed(name, help, &named, sum);
            }
        }
        CacheMetrics {
            metrics: self.clone(),
            labels,
            probe,
        }
    }
}

impl Drop for CacheMetrics {
    fn drop(&mut self) {
        let mut kinds = locked(&self.metrics.caches.kinds);
        let Some(probes) = kinds.get(&self.labels) else { return };
        let is_last = {
            let mut probes = locked(probes);
            probes.live.retain(|probe| !Arc::ptr_eq(probe, &self.probe));
            let last = (self.probe)();
            let counters = NAMES
                .iter()
                .enumerate()
                .filter(|(_, (name, _))| name.ends_with(COUNTER));
            counters.for_each(|(at, _)| probes.ended[at] += last[at]);
            probes.live.is_empty()
        };
        if is_last {
            kinds.remove(&self.labels);
            let named = named(&self.labels);
            NAMES
                .iter()
                .for_each(|(name, _)| self.metrics.registry.remove(name, &named));
        }
    }
}

fn labels_of<K>(kind: &Kind<K>) -> Labels {
    [kind.group(), kind.version(), kind.kind()].map(str::to_owned)
}

fn named([group, version, kind]: &Labels) -> [(&str, &str); 3] {
    [("group", group), ("version", version), ("kind", kind)]
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
