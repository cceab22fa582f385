//! The metrics of a work queue.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{Counter, Gauge, Histogram, Metrics};
use crate::priority::Priority;

/// The times at which workers took their keys, by hand-out number.
type Held = Arc<Mutex<HashMap<u64, Instant>>>;

/// The metrics of one work queue, which has its controller's name. Clones share them.
#[derive(Clone, Debug)]
pub struct QueueMetrics {
    depth: [(Priority, Gauge); Priority::ALL.len()],
    adds: Counter,
    queued: Histogram,
    worked: Histogram,
    retries: Counter,
    held: Held,
}

impl QueueMetrics {
    pub(crate) fn new(metrics: &Metrics, name: &str) -> Self {
        let labels = [("name", name), ("controller", name)];
        let depth = Priority::ALL.map(|priority| {
            let number = priority.number().to_string();
            let labels = [("name", name), ("controller", name), ("priority", number.as_str())];
            (
                priority,
                metrics.gauge("workqueue_depth", "Keys ready to be handed out.", &labels),
            )
        });
        let histogram = |name, help| metrics.histogram(name, help, &labels, &seconds());
        let held = Held::default();
        let (each, longest) = (held.clone(), held.clone());
        metrics.computed(
            "workqueue_unfinished_work_seconds",
            "Total time for which the current keys of workers have been held. It grows without limit if a worker hangs.",
            &labels,
            move || ages(&each, |ages| ages.sum()),
        );
        metrics.computed(
            "workqueue_longest_running_processor_seconds",
            "The longest time for which a current key of a worker has been held.",
            &labels,
            move || ages(&longest, |ages| ages.fold(0.0, f64::max)),
        );
        Self {
            depth,
            adds: metrics.counter("workqueue_adds_total", "Keys that became ready.", &labels),
            queued: histogram(
                "workqueue_queue_duration_seconds",
                "How long keys were ready before they were handed out.",
            ),
            worked: histogram("workqueue_work_duration_seconds", "How long keys were held."),
            retries: metrics.counter("workqueue_retries_total", "Keys added with a delay.", &labels),
            held,
        }
    }

    /// Counts a key that became ready.
    pub fn added(&self) {
        self.adds.inc();
    }

    /// Changes the number of ready keys of this priority by `delta`.
    pub fn depth(&self, priority: Priority, delta: i64) {
        if let Some((_, gauge)) = self.depth.iter().find(|(known, _)| *known == priority) {
            gauge.add(delta as f64);
        }
    }

    /// Sets the number of ready keys of this priority to 0.
    pub fn none_ready(&self, priority: Priority) {
        if let Some((_, gauge)) = self.depth.iter().find(|(known, _)| *known == priority) {
            gauge.set(0.0);
        }
    }

    /// Counts a key that was handed to a worker.
    pub fn started(&self, queued_for: Duration) {
        self.queued.observe_duration(queued_for);
    }

    /// Counts a key that a worker is done with.
    pub fn done(&self, worked_for: Duration) {
        self.worked.observe_duration(worked_for);
    }

    /// Counts a key that was added with a delay.
    pub fn retried(&self) {
        self.retries.inc();
    }

    /// Records that the hand-out with this number began at `since`, or, with `None`, that it ended.
    pub fn held(&self, id: u64, since: Option<Instant>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match since {
            Some(since) => held.insert(id, since),
            None => held.remove(&id),
        };
    }
}

fn ages(held: &Held, fold: impl FnOnce(&mut dyn Iterator<Item = f64>) -> f64) -> f64 {
    let now = Instant::now();
    let held = held.lock().unwrap_or_else(PoisonError::into_inner);
    fold(
        &mut held
            .values()
            .map(|since| now.saturating_duration_since(*since).as_secs_f64()),
    )
}

/// Upper bounds in seconds: twelve from 10 ns by factors of ten, as in controller-runtime
/// (`pkg/internal/metrics/workqueue.go`). Multiplied step by step, as Go does, because the rounding shows in the `le` label.
fn seconds() -> Vec<f64> {
    std::iter::successors(Some(10e-9), |bound| Some(bound * 10.0))
        .take(12)
        .collect()
}
