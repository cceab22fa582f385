//! What a controller's own kind does to its queue: changes wake it, but for the echo of its own status; what a failed run
//! has no reason to look at does not wake it before its time.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    context::InFlight, informer::Delta, key::ObjectKey, object::Object, predicate::Predicate, priority::Priority,
    queue::WorkQueue,
};

/// A controller's changes of its own kind, between the informer and the worker.
pub(crate) struct Main<K> {
    queue: WorkQueue,
    in_flight: Arc<InFlight>,
    predicate: Option<Predicate<K>>,
    controller: Arc<str>,
    /// Objects that went since their key was last worked on: their memory has to be freed.
    gone: Arc<Mutex<HashSet<ObjectKey>>>,
    /// Whether there are workers. What goes before is remembered by nobody.
    started: Arc<AtomicBool>,
    /// Uids whose finalizer was removed by this process, until the cache shows them gone: no second cleanup.
    finalized: Arc<Mutex<HashSet<String>>>,
}

impl<K: Object> Main<K> {
    pub(crate) fn new(
        queue: WorkQueue,
        in_flight: Arc<InFlight>,
        predicate: Option<Predicate<K>>,
        controller: Arc<str>,
    ) -> Self {
        Self {
            queue,
            in_flight,
            predicate,
            controller,
            gone: Arc::default(),
            started: Arc::default(),
            finalized: Arc::default(),
        }
    }

    pub(crate) fn handler(&self) -> impl Fn(&Delta<K>) + Send + Sync + 'static {
        let (queue, in_flight) = (self.queue.clone(), self.in_flight.clone());
        let (gone, finalized, predicate) = (self.gone.clone(), self.finalized.clone(), self.predicate.clone());
        let (started, controller) = (self.started.clone(), self.controller.clone());
        move |delta| {
            if !started.load(Ordering::SeqCst) {
                return;
            }
            let key = delta.key();
            match delta {
                Delta::Updated { old, new } if is_own_status(&in_flight, &key, &**old, &**new) => return,
                Delta::Deleted(object) => {
                    lock(&finalized).remove(object.meta().uid.as_deref().unwrap_or_default());
                    lock(&gone).insert(key.clone());
                }
                // The informer reports it; there is nothing to reconcile.
                Delta::Invalid { .. } => return,
                _ => {}
            }
            if predicate
                .as_ref()
                .is_some_and(|predicate| !predicate.passes(delta, &controller))
            {
                return;
            }
            match delta {
                // What failed on this very generation fails again, whatever the status says by now: two controllers that write
                // each other's condition would else wake each other as fast as the network carries it.
                Delta::Updated { old, new } if is_status_alone(&**old, &**new) => {
                    queue.add_within_backoff(key, priority(delta));
                }
                _ => queue.add(key, priority(delta)),
            }
        }
    }

    /// There are workers from now on.
    pub(super) fn start(&self) {
        self.started.store(true, Ordering::SeqCst);
    }

    /// Whether an object of this name went since this was asked last.
    pub(super) fn has_gone(&self, key: &ObjectKey) -> bool {
        lock(&self.gone).remove(key)
    }

    /// Whether this process has removed the finalizer of the object of this uid, which the cache shows nevertheless.
    pub(super) fn is_finalized(&self, uid: &str) -> bool {
        lock(&self.finalized).contains(uid)
    }

    /// Its finalizer has been removed.
    pub(super) fn finalized(&self, uid: &str) {
        lock(&self.finalized).insert(uid.to_owned());
    }

    /// The cache has seen it go.
    pub(super) fn has_ended(&self, uid: &str) {
        lock(&self.finalized).remove(uid);
    }

    /// Queues what passes.
    pub(super) fn see(&self, delta: &Delta<K>) {
        if self
            .predicate
            .as_ref()
            .is_none_or(|predicate| predicate.passes(delta, &self.controller))
        {
            self.queue.add(delta.key(), priority(delta));
        }
    }
}

/// Whether an update is the echo of the status patch that this controller has under way: nothing else moved.
fn is_own_status<K: Object>(in_flight: &InFlight, key: &ObjectKey, old: &K, new: &K) -> bool {
    let Some(sent) = in_flight.get(key) else { return false };
    let stable = |object: &K| {
        let mut meta = object.meta().clone();
        meta.resource_version = None;
        meta.managed_fields = None;
        meta
    };
    let status = || serde_json::to_value(new).ok().map(|mut new| new["status"].take());
    // Without a generation nothing says that the spec stood still.
    new.meta().generation.is_some() && stable(old) == stable(new) && status() == Some(sent)
}

/// Whether an update can only have changed the status.
fn is_status_alone<K: Object>(old: &K, new: &K) -> bool {
    let (old, new) = (old.meta(), new.meta());
    // Without a generation nothing says that the spec stood still.
    old.generation.is_some()
        && old.generation == new.generation
        && old.uid == new.uid
        && old.deletion_timestamp == new.deletion_timestamp
        && old.finalizers == new.finalizers
        && old.labels == new.labels
        && old.annotations == new.annotations
        && old.owner_references == new.owner_references
}

/// Live changes go before what is only there already.
pub(crate) fn priority<C>(delta: &Delta<C>) -> Priority {
    if delta.is_routine() {
        Priority::Low
    } else {
        Priority::Normal
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
