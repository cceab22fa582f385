//! Wakes a controller after changes of its own kind: all but the watch events of its own status writes, and of the write that
//! adds its finalizer; a status change alone after a failed run does not wake it before its backoff ends.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::{
    context::{InFlight, Sent},
    informer::Delta,
    key::ObjectKey,
    namespaces::Gate,
    object::AnyObject,
    predicate::Filter,
    priority::Priority,
    queue::WorkQueue,
};

/// Turns changes of a controller's own kind into requests of its queue.
pub(crate) struct Main<K> {
    queue: WorkQueue,
    in_flight: Arc<InFlight>,
    filter: Option<Filter<K>>,
    gate: Gate,
    /// Keys of objects that were deleted since the key was last processed: their remembered state has to be dropped.
    gone: Arc<Mutex<HashSet<ObjectKey>>>,
    /// True once workers run. Earlier deletions have no effect.
    started: Arc<AtomicBool>,
    /// Uids of objects whose finalizer this process has removed, until the cache shows them deleted: no second cleanup.
    finalized: Arc<Mutex<HashSet<String>>>,
}

impl<K: AnyObject> Main<K> {
    pub(crate) fn new(queue: WorkQueue, in_flight: Arc<InFlight>, filter: Option<Filter<K>>, gate: Gate) -> Self {
        Self {
            queue,
            in_flight,
            filter,
            gate,
            gone: Arc::default(),
            started: Arc::default(),
            finalized: Arc::default(),
        }
    }

    pub(crate) fn handler(&self) -> impl Fn(&Delta<K>) + Send + Sync + 'static {
        let (queue, in_flight) = (self.queue.clone(), self.in_flight.clone());
        let (gone, finalized, filter) = (self.gone.clone(), self.finalized.clone(), self.filter.clone());
        let (started, gate) = (self.started.clone(), self.gate.clone());
        move |delta| {
            if !started.load(Ordering::SeqCst) {
                return;
            }
            let key = delta.key();
            match delta {
                Delta::Updated { old, new } if is_own_write(&in_flight, &key, &**old, &**new) => return,
                Delta::Deleted(object) => {
                    lock(&finalized).remove(object.meta().uid.as_deref().unwrap_or_default());
                    // A namespace leaves the cache once it is closed: its objects were not deleted.
                    if key.namespace().is_none_or(|namespace| gate.admits(namespace)) {
                        lock(&gone).insert(key.clone());
                    }
                }
                // The informer reports it; there is nothing to reconcile.
                Delta::Invalid { .. } => return,
                _ => {}
            }
            if filter.as_ref().is_some_and(|filter| !filter.passes(delta)) {
                return;
            }
            match delta {
                // A run that failed on this generation would fail again, regardless of the status: otherwise two
                // controllers that write each other's condition would wake each other without any delay.
                Delta::Updated { old, new } if is_status_alone(&**old, &**new) => {
                    queue.add_within_backoff(key, priority(delta));
                }
                _ => queue.add(key, priority(delta)),
            }
        }
    }

    /// Records that there are workers from now on.
    pub(super) fn start(&self) {
        self.started.store(true, Ordering::SeqCst);
    }

    /// True if an object of this name was deleted since the last call, which forgets the deletion.
    pub(super) fn has_gone(&self, key: &ObjectKey) -> bool {
        lock(&self.gone).remove(key)
    }

    /// Whether this process has removed the finalizer of the object with this uid, although the cache still shows it.
    pub(super) fn is_finalized(&self, uid: &str) -> bool {
        lock(&self.finalized).contains(uid)
    }

    /// Records that the finalizer of the object with this uid has been removed.
    pub(super) fn finalized(&self, uid: &str) {
        lock(&self.finalized).insert(uid.to_owned());
    }

    /// Records that the cache shows the object deleted.
    pub(super) fn has_ended(&self, uid: &str) {
        lock(&self.finalized).remove(uid);
    }

    /// Queues a change that passes.
    pub(super) fn see(&self, delta: &Delta<K>) {
        if self.filter.as_ref().is_none_or(|filter| filter.passes(delta)) {
            self.queue.add(delta.key(), priority(delta));
        }
    }
}

/// Whether an update is the watch event of this controller's patch in progress: nothing else changed.
fn is_own_write<K: AnyObject>(in_flight: &InFlight, key: &ObjectKey, old: &K, new: &K) -> bool {
    let Some(sent) = in_flight.get(key) else { return false };
    let status = |object: &K| {
        serde_json::to_value(object)
            .ok()
            .map(|mut object| object["status"].take())
    };
    let mut before = stable(old);
    let as_sent = match sent {
        Sent::Status(sent) => status(new) == Some(sent),
        Sent::Finalizers(sent) => {
            before.finalizers = Some(sent);
            status(new) == status(old)
        }
    };
    // Without a generation, an unchanged spec cannot be detected.
    as_sent && before.generation.is_some() && before == stable(new)
}

/// The metadata without what each write changes.
fn stable<K: AnyObject>(object: &K) -> ObjectMeta {
    ObjectMeta {
        resource_version: None,
        managed_fields: None,
        ..object.meta().clone()
    }
}

/// Whether an update can only have changed the status.
fn is_status_alone<K: AnyObject>(old: &K, new: &K) -> bool {
    let (old, new) = (old.meta(), new.meta());
    // Without a generation, an unchanged spec cannot be detected.
    old.generation.is_some()
        && old.generation == new.generation
        && old.uid == new.uid
        && old.deletion_timestamp == new.deletion_timestamp
        && old.finalizers == new.finalizers
        && old.labels == new.labels
        && old.annotations == new.annotations
        && old.owner_references == new.owner_references
}

/// Live changes have a higher priority than objects of the initial list.
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
