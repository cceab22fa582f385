//! A metric of the operator itself.

use std::time::Instant;

use kubewright_runtime::Manager;

// ANCHOR: metrics
/// Counts buckets, and how long their creation took.
pub fn measure(manager: &Manager) {
    let metrics = manager.metrics();
    let made = metrics.counter("buckets_made_total", "Buckets made.", &[]);
    let seconds = metrics.histogram(
        "bucket_seconds",
        "How long the creation of a bucket took.",
        &[],
        &[0.1, 1.0, 10.0],
    );

    let started = Instant::now();
    // … create one …
    made.inc();
    seconds.observe_duration(started.elapsed());
}
// ANCHOR_END: metrics
