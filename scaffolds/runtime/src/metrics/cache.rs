//! The metrics of the caches, such as how many objects they could not decode.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use super::Metrics;
use crate::{informer::Informer, isolate::lock, object::AnyObject};

/// A metric of caches.
struct CacheMetric {
    name: &'static str,
    help: &'static str,
    /// Whether it counts, and so never falls.
    counts: bool,
}

const METRICS: [CacheMetric; 3] = [
    CacheMetric {
        name: "kubewright_invalid_objects",
        help: "Objects that cannot be decoded; they are not reconciled until they are corrected.",
        counts: false,
    },
    CacheMetric {
        name: "kubewright_unmerged_writes_total",
        help: "Own writes that were not merged into the cache, because resource versions are not numbers.",
        counts: true,
    },
    CacheMetric {
        name: "kubewright_failing_watches",
        help: "Lists and watches that fail; their part of the cache may be old.",
        counts: false,
    },
];

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
    /// The sums of the caches that have ended, for the metrics that count.
    ended: [f64; 3],
}

/// Group, version and kind.
type Labels = [String; 3];

/// Reads the present value of each metric of [`METRICS`] from one cache.
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
        let kind = informer.kind();
        let labels = [kind.group(), kind.version(), kind.kind()].map(str::to_owned);
        let probe: Probe = Arc::new(move || {
            [
                store.invalid_len() as f64,
                informer.unmerged_writes() as f64,
                informer.failing() as f64,
            ]
        });
        // Held while series are registered and removed, and never by a scrape, which holds the registry's lock.
        let mut kinds = lock(&self.caches.kinds);
        let probes = kinds.entry(labels.clone()).or_default();
        lock(probes).live.push(probe.clone());
        let named = named(&labels);
        for (at, CacheMetric { name, help, counts }) in METRICS.iter().enumerate() {
            let probes = probes.clone();
            let sum = move || {
                let probes = lock(&probes);
                probes.ended[at] + probes.live.iter().map(|probe| probe()[at]).sum::<f64>()
            };
            if *counts {
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
        let mut kinds = lock(&self.metrics.caches.kinds);
        let Some(probes) = kinds.get(&self.labels) else { return };
        let is_last = {
            let mut probes = lock(probes);
            probes.live.retain(|probe| !Arc::ptr_eq(probe, &self.probe));
            let last = (self.probe)();
            let counters = METRICS.iter().enumerate().filter(|(_, metric)| metric.counts);
            counters.for_each(|(at, _)| probes.ended[at] += last[at]);
            probes.live.is_empty()
        };
        if is_last {
            kinds.remove(&self.labels);
            let named = named(&self.labels);
            METRICS
                .iter()
                .for_each(|metric| self.metrics.registry.remove(metric.name, &named));
        }
    }
}

fn named([group, version, kind]: &Labels) -> [(&str, &str); 3] {
    [("group", group), ("version", version), ("kind", kind)]
}
