//! Polls of reconciles: one that does not return blocks its thread, and with it other reconciles and watches.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use tracing::warn;

use super::TICK;
use crate::{isolate::lock, key::ObjectKey};

/// After this many ticks in one poll a reconcile is named in the log, and again whenever that has doubled: half of the
/// default renew deadline, so before anything else follows from it.
const NAMED: u32 = 5;

/// The workers whose polls are observed.
#[derive(Debug, Default)]
pub(super) struct Registry(Mutex<Vec<Weak<Slot>>>);

/// One worker, which is polled by one thread at a time.
#[derive(Debug)]
struct Slot {
    controller: String,
    key: Mutex<Option<ObjectKey>>,
    /// Polls that have begun or ended so far: odd within one.
    turns: AtomicU64,
    /// The turn that the observer has seen, and the number of ticks since then.
    seen: AtomicU64,
    ticks: AtomicU32,
}

/// The polls of one worker.
pub(crate) struct Polls(Arc<Slot>);

impl Registry {
    pub(super) fn add(&self, controller: &str) -> Polls {
        let slot = Arc::new(Slot {
            controller: controller.to_owned(),
            key: Mutex::default(),
            turns: AtomicU64::new(0),
            seen: AtomicU64::new(0),
            ticks: AtomicU32::new(0),
        });
        lock(&self.0).push(Arc::downgrade(&slot));
        Polls(slot)
    }

    /// One tick: names the reconciles whose current poll has lasted too long.
    pub(super) fn observe(&self) {
        lock(&self.0).retain(|slot| match slot.upgrade() {
            Some(slot) => {
                slot.observe();
                true
            }
            None => false,
        });
    }
}

impl Polls {
    /// Awaits `reconcile`, which is about the object of this key.
    pub(crate) async fn observed<T>(&self, key: &ObjectKey, reconcile: impl Future<Output = T>) -> T {
        *lock(&self.0.key) = Some(key.clone());
        let mut reconcile = pin!(reconcile);
        poll_fn(|cx| {
            let _turn = Turn::begin(&self.0.turns);
            reconcile.as_mut().poll(cx)
        })
        .await
    }
}

/// A poll, until it is dropped: also by a panic.
struct Turn<'a>(&'a AtomicU64);

impl<'a> Turn<'a> {
    fn begin(turns: &'a AtomicU64) -> Self {
        turns.fetch_add(1, Ordering::Relaxed);
        Self(turns)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Slot {
    fn observe(&self) {
        let turn = self.turns.load(Ordering::Relaxed);
        if turn.is_multiple_of(2) || self.seen.swap(turn, Ordering::Relaxed) != turn {
            self.ticks.store(0, Ordering::Relaxed);
            return;
        }
        let ticks = self.ticks.fetch_add(1, Ordering::Relaxed) + 1;
        if ticks.is_multiple_of(NAMED) && (ticks / NAMED).is_power_of_two() {
            let object = lock(&self.key).as_ref().map(ToString::to_string).unwrap_or_default();
            warn!(
                controller = self.controller,
                object,
                "a reconcile has blocked its thread for {:?}",
                TICK * ticks
            );
        }
    }
}
