//! The three types of metric values. Cheap handles: clones share the value, and no operation blocks.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// A number that only grows, from zero at the start of the process.
#[derive(Clone, Debug, Default)]
pub struct Counter(Arc<AtomicU64>);

impl Counter {
    /// Adds one.
    pub fn inc(&self) {
        self.add(1);
    }

    /// Adds `n`.
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// The current number.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A number that goes up and down.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<AtomicF64>);

impl Gauge {
    /// Replaces the number.
    pub fn set(&self, value: f64) {
        self.0.0.store(value.to_bits(), Ordering::Relaxed);
    }

    /// Adds `delta`, which may be negative.
    pub fn add(&self, delta: f64) {
        self.0.add(delta);
    }

    /// The number now.
    pub fn get(&self) -> f64 {
        self.0.get()
    }
}

/// Counts values in buckets.
#[derive(Clone)]
pub struct Histogram(Arc<Buckets>);

struct Buckets {
    /// Upper bounds, inclusive, ascending; the last bucket, without bound, is only in `counts`.
    bounds: Vec<f64>,
    counts: Vec<AtomicU64>,
    sum: AtomicF64,
}

impl Histogram {
    /// An empty histogram of these upper bounds, in any order; a bucket without bound is added.
    pub(super) fn new(bounds: &[f64]) -> Self {
        let mut bounds: Vec<_> = bounds.iter().copied().filter(|bound| bound.is_finite()).collect();
        bounds.sort_by(f64::total_cmp);
        bounds.dedup();
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self(Arc::new(Buckets {
            bounds,
            counts,
            sum: AtomicF64::default(),
        }))
    }

    /// Counts one value. NaN is not counted.
    pub fn observe(&self, value: f64) {
        if value.is_nan() {
            return;
        }
        let bucket = self.0.bounds.partition_point(|bound| *bound < value);
        self.0.sum.add(value);
        self.0.counts[bucket].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a duration, in seconds.
    pub fn observe_duration(&self, duration: Duration) {
        self.observe(duration.as_secs_f64());
    }

    /// The number of counted values.
    pub fn count(&self) -> u64 {
        self.0.counts.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// The sum of the values counted.
    pub fn sum(&self) -> f64 {
        self.0.sum.get()
    }

    /// Each upper bound with the number of values at or below it; the last bound is infinity.
    pub(super) fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        let bounds = self.0.bounds.iter().copied().chain([f64::INFINITY]);
        bounds.zip(&self.0.counts).scan(0, |total, (bound, count)| {
            *total += count.load(Ordering::Relaxed);
            Some((bound, *total))
        })
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count())
            .field("sum", &self.sum())
            .finish()
    }
}

/// The bits of an `f64`: the standard library has no atomic one.
#[derive(Debug, Default)]
struct AtomicF64(AtomicU64);

impl AtomicF64 {
    fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    fn add(&self, delta: f64) {
        let sum = |bits| Some((f64::from_bits(bits) + delta).to_bits());
        // The closure always returns a value, so the update never fails.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
    }
}
