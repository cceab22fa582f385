//! The keys that a change of an object adds to a queue, with their priorities.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use super::register::Wiring;
use crate::{
    child::{applied_for, controller_of, group_of, owners_of},
    context::ControllerState,
    informer::Delta,
    isolate::Authored,
    key::ObjectKey,
    kind::Kind,
    manager::Joining,
    object::AnyObject,
    predicate::Filter,
    priority::{Priority, Wake},
    worker::priority,
};

/// The objects of the kind `K` that a change of an object is about.
pub(super) type Owners<K, C> = fn(&Kind<K>, &C) -> Vec<ObjectKey>;

/// Handles a change of an object that the controller applies, for those that it is applied for.
pub(super) fn own_handler<K: AnyObject, C: AnyObject>(
    wiring: &Wiring<K>,
    filter: Filter<C>,
    woken: Owners<K, C>,
) -> impl Fn(&Delta<C>) + Send + Sync + 'static {
    let (state, owners) = (wiring.state.clone(), wiring.kind.clone());
    move |delta| {
        if filter.passes(delta) {
            for owner in objects(delta).flat_map(|child| woken(&owners, child)) {
                state.queue.add(owner, priority(delta));
            }
        }
        if let Some(child) = objects(delta).next() {
            let key = ObjectKey::of(child);
            for waiting in state.blocked.wake(filter.kind.id(), &key) {
                state.queue.add(waiting, priority(delta));
            }
            if matches!(delta, Delta::Deleted(_)) {
                state.deleted.forget(child);
                for owner in woken(&owners, child) {
                    state.applies.forget(filter.kind.id(), &owner, &key);
                    // Before the workers start, there is nothing to create again.
                    if !state.queue.is_asleep() {
                        state.losses.add(&owner);
                    }
                }
            }
        }
    }
}

/// Maps an object to the keys to wake.
pub(super) type Mapping<W> = Authored<dyn Fn(&W) -> Vec<Wake> + Send + Sync>;

/// Handles a watched object's change for the objects that `map` names.
pub(super) fn map_handler<W: AnyObject>(
    state: Arc<ControllerState>,
    filter: Filter<W>,
    map: Mapping<W>,
) -> impl Fn(&Delta<W>) + Send + Sync + 'static {
    move |delta| {
        // The object may have the name of a child.
        for waiting in state.blocked.wake(filter.kind.id(), &delta.key()) {
            state.queue.add(waiting, priority(delta));
        }
        // Before the workers start, every object is queued anyway.
        if state.queue.is_asleep() || !filter.passes(delta) {
            return;
        }
        for watched in objects(delta) {
            match map.call(|map| map(watched)) {
                Ok(wakes) => wakes.into_iter().for_each(|wake| {
                    state.queue.add(wake.key, wake.priority.unwrap_or(priority(delta)));
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
    let (state, objects) = (wiring.state.clone(), joining.informer_of(&wiring.kind).store());
    move |_| {
        for key in objects.keys() {
            state.queue.add(key, Priority::Low);
        }
    }
}

/// The object of the kind `owners` that controls this child.
pub(super) fn controllers<K, C: AnyObject>(owners: &Kind<K>, child: &C) -> Vec<ObjectKey> {
    let owner = controller_of(child).and_then(|owner| key_of(owners, owner, child));
    owner.into_iter().collect()
}

/// The objects of the kind `owners` that own this object together.
pub(super) fn sharers<K, C: AnyObject>(owners: &Kind<K>, object: &C) -> Vec<ObjectKey> {
    owners_of(object)
        .filter_map(|owner| key_of(owners, owner, object))
        .collect()
}

/// The object of the kind `owners` that this object without an owner is applied for.
pub(super) fn named<K, C: AnyObject>(owners: &Kind<K>, object: &C) -> Vec<ObjectKey> {
    applied_for(owners, object).into_iter().collect()
}

/// The key of an owner, if it is of this kind. Group and kind are compared, the version is not: an owner reference may
/// name any served version.
fn key_of<K, C: AnyObject>(owners: &Kind<K>, owner: &OwnerReference, child: &C) -> Option<ObjectKey> {
    if owner.kind != owners.kind() || group_of(owner) != owners.group() {
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
