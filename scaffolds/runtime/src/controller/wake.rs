//! Which keys a change of an object adds to a queue, and with which priority.

use std::sync::Arc;

use super::register::Wiring;
use crate::{
    child::controller_of,
    context::Blocked,
    informer::Delta,
    isolate::Authored,
    key::ObjectKey,
    kind::Kind,
    manager::Joining,
    object::AnyObject,
    predicate::Filter,
    priority::{Priority, Wake},
    queue::WorkQueue,
    worker::priority,
};

/// Handles a child's change for its owner.
pub(super) fn own_handler<K: AnyObject, C: AnyObject>(
    wiring: &Wiring<K>,
    filter: Filter<C>,
) -> impl Fn(&Delta<C>) + Send + Sync + 'static {
    let (queue, blocked, applies) = (wiring.queue.clone(), wiring.blocked.clone(), wiring.applies.clone());
    let (deleted, owners) = (wiring.deleted.clone(), wiring.kind.clone());
    move |delta| {
        if filter.passes(delta) {
            for owner in objects(delta).filter_map(|child| owner_of(&owners, child)) {
                queue.add(owner, priority(delta));
            }
        }
        if let Some(child) = objects(delta).next() {
            let key = ObjectKey::of(child);
            for waiting in blocked.wake(filter.kind.id(), &key) {
                queue.add(waiting, priority(delta));
            }
            if matches!(delta, Delta::Deleted(_)) {
                deleted.forget(child);
                if let Some(owner) = owner_of(&owners, child) {
                    applies.forget(filter.kind.id(), &owner, &key);
                }
            }
        }
    }
}

/// Maps an object to the keys to wake.
pub(super) type Mapping<W> = Authored<dyn Fn(&W) -> Vec<Wake> + Send + Sync>;

/// Handles a watched object's change for the objects that `map` names.
pub(super) fn map_handler<W: AnyObject>(
    queue: WorkQueue,
    blocked: Arc<Blocked>,
    filter: Filter<W>,
    map: Mapping<W>,
) -> impl Fn(&Delta<W>) + Send + Sync + 'static {
    move |delta| {
        // The object may have the name of a child.
        for waiting in blocked.wake(filter.kind.id(), &delta.key()) {
            queue.add(waiting, priority(delta));
        }
        // Before the workers start, every object is queued anyway.
        if queue.is_asleep() || !filter.passes(delta) {
            return;
        }
        for watched in objects(delta) {
            match map.call(|map| map(watched)) {
                Ok(wakes) => wakes.into_iter().for_each(|wake| {
                    queue.add(wake.key, wake.priority.unwrap_or(priority(delta)));
                }),
                Err(panic) => {
                    let (controller, kind, object) = (&*filter.controller, filter.kind.kind(), delta.key());
                    tracing::error!(controller, kind, %object, "`map` panicked, so no object is woken: {panic}");
                }
            }
        }
    }
}

/// Handles that a kind is served again, or no longer: what a reconcile does may depend on it.
pub(super) fn presence_handler<K: AnyObject>(
    wiring: &Wiring<K>,
    joining: &Joining<'_>,
) -> impl Fn(bool) + Send + Sync + 'static {
    let (queue, objects) = (wiring.queue.clone(), joining.informer_of(&wiring.kind).store());
    move |_| {
        for key in objects.keys() {
            queue.add(key, Priority::Low);
        }
    }
}

/// The object of the kind `owners` that controls this child. Group and kind are compared, the version is not: an owner reference
/// may name any served version.
fn owner_of<K, C: AnyObject>(owners: &Kind<K>, child: &C) -> Option<ObjectKey> {
    let owner = controller_of(child)?;
    let group = owner.api_version.rsplit_once('/').map_or("", |(group, _)| group);
    if owner.kind != owners.kind() || group != owners.group() {
        return None;
    }
    // A namespaced owner is always in its child's namespace; a cluster-scoped owner has none.
    let namespace = if owners.is_namespaced() {
        child.meta().namespace.as_deref()
    } else {
        None
    };
    Some(ObjectKey::new(namespace, &owner.name))
}

/// The objects of a delta: after an update the new one and the old one.
pub(super) fn objects<C>(delta: &Delta<C>) -> impl Iterator<Item = &C> {
    delta.object().into_iter().chain(delta.old()).map(|object| &**object)
}
