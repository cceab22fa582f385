//! The metrics of a controller's reconciles.

use std::time::Duration;

use super::{Counter, Gauge, Histogram, Metrics};

/// The result of a reconcile; the `result` label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No work is left.
    Success,
    /// It failed, with or without a retry.
    Error,
    /// It did not fail and runs again after the backoff's delay.
    Requeue,
    /// It runs again after the delay that it returned.
    RequeueAfter,
}

impl Outcome {
    const ALL: [Self; 4] = [Self::Success, Self::Error, Self::Requeue, Self::RequeueAfter];

    /// The value of the label, also used in logs.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Requeue => "requeue",
            Self::RequeueAfter => "requeue_after",
        }
    }
}

/// Upper bounds in seconds, from controller-runtime (`pkg/internal/controller/metrics/metrics.go`, `ReconcileTime`).
const RECONCILE_SECONDS: [f64; 40] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5,
    1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0,
];

/// The metrics of one controller. Clones share them.
#[derive(Clone, Debug)]
pub struct ControllerMetrics {
    total: [Counter; 4],
    errors: Counter,
    terminal: Counter,
    panics: Counter,
    timeouts: Counter,
    seconds: Histogram,
    active: Gauge,
}

impl ControllerMetrics {
    pub(super) fn new(metrics: &Metrics, name: &str, max_workers: usize) -> Self {
        let labels = [("controller", name)];
        let counter = |name, help| metrics.counter(name, help, &labels);
        let total = Outcome::ALL.map(|outcome| {
            let labels = [("controller", name), ("result", outcome.label())];
            metrics.counter("controller_runtime_reconcile_total", "Reconciles by result.", &labels)
        });
        let max = "controller_runtime_max_concurrent_reconciles";
        metrics
            .gauge(max, "Workers of the controller.", &labels)
            .set(max_workers as f64);
        Self {
            total,
            errors: counter("controller_runtime_reconcile_errors_total", "Reconciles that failed."),
            terminal: counter(
                "controller_runtime_terminal_reconcile_errors_total",
                "Reconciles that failed and are not retried before the object changes.",
            ),
            panics: counter("controller_runtime_reconcile_panics_total", "Reconciles that panicked."),
            timeouts: counter(
                "controller_runtime_reconcile_timeouts_total",
                "Reconciles that were cut off.",
            ),
            seconds: metrics.histogram(
                "controller_runtime_reconcile_time_seconds",
                "How long reconciles took.",
                &labels,
                &RECONCILE_SECONDS,
            ),
            active: metrics.gauge("controller_runtime_active_workers", "Workers busy now.", &labels),
        }
    }

    /// Counts a reconcile that ended.
    pub fn reconciled(&self, outcome: Outcome, took: Duration) {
        self.total[outcome as usize].inc();
        if outcome == Outcome::Error {
            self.errors.inc();
        }
        self.seconds.observe_duration(took);
    }

    /// Counts that the failure passed to [`reconciled`](Self::reconciled) is not retried.
    pub fn terminal(&self) {
        self.terminal.inc();
    }

    /// Counts that the failure passed to [`reconciled`](Self::reconciled) was a panic.
    pub fn panicked(&self) {
        self.panics.inc();
    }

    /// Counts that the failure passed to [`reconciled`](Self::reconciled) was a time-out.
    pub fn timed_out(&self) {
        self.timeouts.inc();
    }

    /// Counts a busy worker until the guard is dropped.
    pub fn active(&self) -> ActiveWorker {
        self.active.add(1.0);
        ActiveWorker(self.active.clone())
    }
}

/// One busy worker.
#[derive(Debug)]
#[must_use = "the worker counts as busy until this is dropped"]
pub struct ActiveWorker(Gauge);

impl Drop for ActiveWorker {
    fn drop(&mut self) {
        self.0.add(-1.0);
    }
}
