//! What a process counts, under the names, labels and buckets of controller-runtime and client-go, so that dashboards
//! made for them work. Here are the runtime's own metrics; `registry.rs` knows none of them by name.

mod cache;
mod controller;
mod process;
mod queue;
mod registry;
mod rest;
mod value;

use std::{fmt, sync::Arc};

pub use self::{
    controller::{ControllerMetrics, Outcome},
    queue::QueueMetrics,
    rest::RestMetrics,
    value::{Counter, Gauge, Histogram},
};

use self::registry::{Name, Registry, Series};

/// The metrics of one process. Clones share them.
///
/// The operator's own metrics go here too: [`counter`](Self::counter), [`gauge`](Self::gauge) and
/// [`histogram`](Self::histogram) give a handle to keep. Asking again for the same name and labels gives the same series.
/// Never use an object's name as a label: a metric has to stay small when objects are many.
#[derive(Clone, Default)]
pub struct Metrics {
    registry: Arc<Registry>,
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

    /// A counter; by convention its name ends in `_total`. It is emitted under exactly this name.
    ///
    /// # Panics
    ///
    /// When the name or a label's name breaks Prometheus' rules, or is taken by another kind of metric.
    pub fn counter(&self, name: &str, help: &str, labels: &[(&str, &str)]) -> Counter {
        let new = || Series::Counter(Counter::default());
        self.registry
            .series(Name { name, help, labels }, new, |series| match series {
                Series::Counter(counter) => counter.clone(),
                // The registry refuses another kind under this name.
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
    /// held. An earlier one of this name and these labels stands.
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

    /// As [`computed`](Self::computed), of something that only grows.
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

    /// The metrics of the controller `name`, all present from now on.
    pub(crate) fn controller(&self, name: &str, max_workers: usize) -> ControllerMetrics {
        ControllerMetrics::new(self, name, max_workers)
    }

    /// The metrics of the work queue of the controller `name`, all present from now on: for the tests of the queue.
    #[cfg(feature = "testing")]
    pub fn queue(&self, name: &str) -> QueueMetrics {
        QueueMetrics::new(self, name)
    }

    /// Whether this process holds the lease `name`: 1 or 0.
    pub(crate) fn leader(&self, name: &str) -> Gauge {
        let help = "Whether this process holds the lease of this name (1) or stands by (0).";
        self.gauge("leader_election_master_status", help, &[("name", name)])
    }

    /// Processor time, memory and open files of this process, on Linux, as the client libraries of Prometheus name them.
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
