//! Wakes a controller after changes of its own kind: all but the watch events of its own status writes, and of the write that
//! adds its finalizer; a status change alone after a failed run does not wake it before its backoff ends.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::{
    context::{ControllerState, InFlight, Sent},
    informer::Delta,
    key::ObjectKey,
    object::AnyObject,
    predicate::Filter,
    priority::Priority,
};

/// Turns changes of a controller's own kind into keys of its queue.
pub(crate) struct PrimaryEvents<K> {
    state: Arc<ControllerState>,
    filter: Option<Filter<K>>,
    seen: Mutex<SeenDeletions>,
}

/// The end of objects, as far as this process knows it.
#[derive(Default)]
struct SeenDeletions {
    /// Whether workers run. Earlier deletions have no effect.
    has_workers: bool,
    /// Keys of objects that were deleted since the key was last processed: their remembered state has to be dropped.
    deleted: HashSet<ObjectKey>,
    /// Uids of objects whose finalizer this process has removed, until the cache shows them deleted: no second cleanup.
    released: HashSet<String>,
}

impl<K: AnyObject> PrimaryEvents<K> {
    pub(crate) fn new(state: Arc<ControllerState>, filter: Option<Filter<K>>) -> Self {
        Self {
            state,
            filter,
            seen: Mutex::default(),
        }
    }

    /// Queues the object of a change, unless this controller made the change or its predicate excludes it. A deletion always
    /// passes: nothing is remembered of an object that is gone.
    pub(crate) fn on_event(&self, delta: &Delta<K>) {
        let key = delta.key();
        if let Delta::Deleted(_) = delta {
            self.state.applies.forget_owner(&key);
            self.state.blocked.forget_owner(&key);
            self.state.unchosen.forget_owner(&key);
            self.state.losses.forget_owner(&key);
            self.state.disowned.forget_owner(&key);
        }
        let was_own = match delta {
            Delta::Updated { old, new } => is_own_write(&self.state.in_flight, &key, &**old, &**new),
            _ => false,
        };
        // The informer reports an invalid object; there is nothing to reconcile.
        if was_own || matches!(delta, Delta::Invalid { .. }) || !self.note(&key, delta) {
            return;
        }
        let is_deleted = matches!(delta, Delta::Deleted(_));
        if !is_deleted && self.filter.as_ref().is_some_and(|filter| !filter.passes(delta)) {
            return;
        }
        match delta {
            // A run that failed on this generation would fail again, regardless of the status: otherwise two
            // controllers that write each other's condition would wake each other without any delay.
            Delta::Updated { old, new } if is_status_alone(&**old, &**new) => {
                self.state.queue.add_within_backoff(key, priority(delta));
            }
            _ => self.state.queue.add(key, priority(delta)),
        }
    }

    /// Records a deletion. Returns whether workers run.
    fn note(&self, key: &ObjectKey, delta: &Delta<K>) -> bool {
        let mut seen = self.seen();
        if let (true, Delta::Deleted(object)) = (seen.has_workers, delta) {
            seen.released.remove(object.meta().uid.as_deref().unwrap_or_default());
            // A namespace leaves the cache once it is closed: its objects were not deleted.
            if key
                .namespace()
                .is_none_or(|namespace| self.state.gate.admits(namespace))
            {
                seen.deleted.insert(key.clone());
            }
        }
        seen.has_workers
    }

    /// Queues the object of a change that passes the predicate.
    pub(super) fn enqueue(&self, delta: &Delta<K>) {
        if self.filter.as_ref().is_none_or(|filter| filter.passes(delta)) {
            self.state.queue.add(delta.key(), priority(delta));
        }
    }

    /// Records that there are workers from now on.
    pub(super) fn start(&self) {
        self.seen().has_workers = true;
    }

    /// Whether an object of this name was deleted since the last call, which forgets the deletion.
    pub(super) fn take_deleted(&self, key: &ObjectKey) -> bool {
        self.seen().deleted.remove(key)
    }

    /// Whether this process has removed the finalizer of the object with this uid, although the cache still shows it.
    pub(super) fn is_released(&self, uid: &str) -> bool {
        self.seen().released.contains(uid)
    }

    /// Records that the finalizer of the object with this uid has been removed.
    pub(super) fn note_released(&self, uid: &str) {
        self.seen().released.insert(uid.to_owned());
    }

    /// Records that the cache shows the object deleted.
    pub(super) fn note_deleted(&self, uid: &str) {
        self.seen().released.remove(uid);
    }

    fn seen(&self) -> MutexGuard<'_, SeenDeletions> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
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
