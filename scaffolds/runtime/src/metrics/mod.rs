//! The metrics of a process, under the names, labels and buckets of controller-runtime and client-go, so that
//! dashboards for those work. This file has the runtime's own metrics; `registry.rs` is independent of them.
//! No crate, because a map of series and the text format take less build time in every project than any of them.

mod cache;
mod controller;
mod process;
mod queue;
mod registry;
mod rest;
mod value;

use std::{fmt, sync::Arc};

pub(crate) use self::cache::CacheMetrics;
pub use self::{
    controller::{ControllerMetrics, Outcome},
    queue::QueueMetrics,
    rest::RestMetrics,
    value::{Counter, Gauge, Histogram},
};

use self::{
    cache::CacheMetricsIndex,
    registry::{Name, Registry, Series},
};

/// The metrics of one process. Clones share them.
///
/// The operator's own metrics are registered here too: [`counter`](Self::counter), [`gauge`](Self::gauge) and
/// [`histogram`](Self::histogram) return a handle to keep. The same name and labels return the same series. Never use
/// an object's name as a label: the number of series must not grow with the number of objects.
#[derive(Clone, Default)]
pub struct Metrics {
    registry: Arc<Registry>,
    caches: Arc<CacheMetricsIndex>,
}

impl Metrics {
    /// No metrics yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// All metrics as `text/plain; version=0.0.4`, Prometheus' text format.
    pub fn encode(&self) -> String {
        self.registry.encode()
    }

    /// A counter; by convention its name ends in `_total`. It is exposed under exactly this name.
    ///
    /// # Panics
    ///
    /// If the name or a label's name is invalid in Prometheus, or a metric of another type has the name.
    pub fn counter(&self, name: &str, help: &str, labels: &[(&str, &str)]) -> Counter {
        let new = || Series::Counter(Counter::default());
        self.registry
            .series(Name { name, help, labels }, new, |series| match series {
                Series::Counter(counter) => counter.clone(),
                // The registry panics if another type has this name.
                _ => Counter::default(),
            })
    }

    /// A gauge.
    ///
    /// # Panics
    ///
    /// As [`counter`](Self::counter).
    pub fn gauge(&self, name: &str, help: &str, labels: &[(&str, &str)]) -> Gauge {
        let new = || Series::Gauge(Gauge::default());
        self.registry
            .series(Name { name, help, labels }, new, |series| match series {
                Series::Gauge(gauge) => gauge.clone(),
                _ => Gauge::default(),
            })
    }

    /// A gauge that is computed at every scrape. `value` must not block, and must not use these metrics: their lock is
    /// held. If a series of this name and these labels exists, it stays.
    ///
    /// # Panics
    ///
    /// As [`counter`](Self::counter).
    pub fn computed(
        &self,
        name: &str,
        help: &str,
        labels: &[(&str, &str)],
        value: impl Fn() -> f64 + Send + Sync + 'static,
    ) {
        let new = || Series::Computed("gauge", Box::new(value));
        self.registry.series(Name { name, help, labels }, new, |_| ());
    }

    /// As [`computed`](Self::computed), for a value that only grows.
    fn computed_counter(
        &self,
        name: &str,
        help: &str,
        labels: &[(&str, &str)],
        value: impl Fn() -> f64 + Send + Sync + 'static,
    ) {
        let new = || Series::Computed("counter", Box::new(value));
        self.registry.series(Name { name, help, labels }, new, |_| ());
    }

    /// A histogram with these upper bounds.
    ///
    /// # Panics
    ///
    /// As [`counter`](Self::counter).
    pub fn histogram(&self, name: &str, help: &str, labels: &[(&str, &str)], bounds: &[f64]) -> Histogram {
        let new = || Series::Histogram(Histogram::new(bounds));
        self.registry
            .series(Name { name, help, labels }, new, |series| match series {
                Series::Histogram(histogram) => histogram.clone(),
                _ => Histogram::new(bounds),
            })
    }

    /// The metrics of the controller `name`, all exposed from now on.
    pub(crate) fn controller(&self, name: &str, max_workers: usize) -> ControllerMetrics {
        ControllerMetrics::new(self, name, max_workers)
    }

    /// Removes the metrics of the controller `name` and of its work queue.
    pub(crate) fn forget_controller(&self, name: &str) {
        for prefix in ["controller_runtime_", "workqueue_"] {
            self.registry.remove(prefix, &[("controller", name)]);
        }
    }

    /// The metrics of the work queue of the controller `name`, all exposed from now on: for the tests of the queue.
    #[cfg(feature = "testing")]
    pub fn queue(&self, name: &str) -> QueueMetrics {
        QueueMetrics::new(self, name)
    }

    /// Whether this process holds the lease `name`: 1 or 0.
    pub(crate) fn leader(&self, name: &str) -> Gauge {
        let help = "Whether this process holds the lease of this name (1) or stands by (0).";
        self.gauge("leader_election_master_status", help, &[("name", name)])
    }

    /// Processor time, memory and open files of this process, on Linux, with the names of Prometheus' client libraries.
    pub fn process(&self) {
        process::register(self);
    }

    /// The metrics of a Kubernetes client.
    pub(crate) fn rest(&self) -> RestMetrics {
        RestMetrics::new(self.clone())
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

#[cfg(test)]
mod tests;
