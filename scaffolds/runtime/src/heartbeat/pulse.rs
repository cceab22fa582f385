//! One thing that has to make progress: it beats, and the observer counts the ticks without a beat.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use tracing::{error, info};

use super::{LIMIT, TICK};

/// All that has to make progress now.
#[derive(Debug, Default)]
pub(super) struct Pulses(Mutex<Vec<Weak<Pulse>>>);

/// Something that has to make progress, until it is dropped.
#[derive(Debug)]
pub(super) struct Pulse {
    /// For errors: a subject, such as `the main runtime`.
    name: &'static str,
    beats: AtomicU64,
    /// The beats that the observer has seen.
    seen: AtomicU64,
    /// Ticks without a beat.
    silent: AtomicU32,
}

impl Pulses {
    pub(super) fn add(&self, name: &'static str) -> Arc<Pulse> {
        let pulse = Arc::new(Pulse {
            name,
            beats: AtomicU64::new(0),
            seen: AtomicU64::new(0),
            silent: AtomicU32::new(0),
        });
        self.lock().push(Arc::downgrade(&pulse));
        pulse
    }

    /// One tick. Returns the most ticks that one of them has been without a beat.
    pub(super) fn observe(&self) -> u32 {
        let mut most = 0;
        self.lock().retain(|pulse| match pulse.upgrade() {
            Some(pulse) => {
                most = most.max(pulse.observe());
                true
            }
            None => false,
        });
        most
    }

    /// The name of the one that has been without a beat for the longest time.
    pub(super) fn most_silent(&self) -> Option<&'static str> {
        let pulses: Vec<_> = self.lock().iter().filter_map(Weak::upgrade).collect();
        let most = pulses.iter().max_by_key(|pulse| pulse.silent.load(Ordering::Relaxed));
        most.map(|pulse| pulse.name)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Weak<Pulse>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pulse {
    pub(super) fn beat(&self) {
        self.beats.fetch_add(1, Ordering::Relaxed);
    }

    /// Beats as often as this for as long as `future` runs, in the same task: a poll of `future` that does not return
    /// ends the beats.
    pub(super) async fn beside<T>(&self, tick: Duration, future: impl Future<Output = T>) -> T {
        let mut beats = pin!(async {
            loop {
                self.beat();
                tokio::time::sleep(tick).await;
            }
        });
        let mut future = pin!(future);
        poll_fn(|cx| {
            // It never ends.
            _ = beats.as_mut().poll(cx);
            future.as_mut().poll(cx)
        })
        .await
    }

    fn observe(&self) -> u32 {
        let beats = self.beats.load(Ordering::Relaxed);
        if self.seen.swap(beats, Ordering::Relaxed) != beats {
            if self.silent.swap(0, Ordering::Relaxed) >= LIMIT {
                info!("{} makes progress again", self.name);
            }
            return 0;
        }
        let silent = self.silent.fetch_add(1, Ordering::Relaxed) + 1;
        if silent == LIMIT {
            let hint = "do not block in async code: use `spawn_blocking`";
            error!(
                hint,
                "{} has made no progress for {:?}: /healthz fails, and the leader lease is not renewed",
                self.name,
                TICK * LIMIT
            );
        }
        silent
    }
}
