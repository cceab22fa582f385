//! What a change of an object means for a queue: whose key is added, and with which priority.

use super::register::Wiring;
use crate::{
    child::controller_of,
    informer::Delta,
    isolate::Authored,
    key::{ObjectKey, is_namespaced},
    object::Object,
    predicate::Predicate,
    worker::priority,
};

/// What a child's change means for its owner.
pub(super) fn own_handler<K: Object, C: Object>(
    wiring: &Wiring<K>,
    predicate: Predicate<C>,
) -> impl Fn(&Delta<C>) + Send + Sync + 'static {
    let (queue, blocked, applies) = (wiring.queue.clone(), wiring.blocked.clone(), wiring.applies.clone());
    let (deleted, controller) = (wiring.deleted.clone(), wiring.controller.clone());
    move |delta| {
        if predicate.passes(delta, &controller) {
            for owner in objects(delta).filter_map(|child| owner_of::<K, C>(child)) {
                queue.add(owner, priority(delta));
            }
        }
        if let Some(child) = objects(delta).next() {
            let key = ObjectKey::of(child);
            for waiting in blocked.wake::<C>(&key) {
                queue.add(waiting, priority(delta));
            }
            if matches!(delta, Delta::Deleted(_)) {
                deleted.forget(child);
                if let Some(owner) = owner_of::<K, C>(child) {
                    applies.forget::<C>(&owner, &key);
                }
            }
        }
    }
}

/// What an author's function gives for an object: the keys to wake.
type Mapping<W> = Authored<dyn Fn(&W) -> Vec<ObjectKey> + Send + Sync>;

/// What a watched object's change means for the objects that `map` names.
pub(super) fn map_handler<K: Object, W: Object>(
    wiring: &Wiring<K>,
    predicate: Predicate<W>,
    map: Mapping<W>,
) -> impl Fn(&Delta<W>) + Send + Sync + 'static {
    let (queue, controller) = (wiring.queue.clone(), wiring.controller.clone());
    let blocked = wiring.blocked.clone();
    move |delta| {
        // It may stand where a child should be.
        for waiting in blocked.wake::<W>(&delta.key()) {
            queue.add(waiting, priority(delta));
        }
        // Before the workers start every object is queued in any case.
        if queue.is_asleep() || !predicate.passes(delta, &controller) {
            return;
        }
        for watched in objects(delta) {
            match map.call(|map| map(watched)) {
                Ok(keys) => keys.into_iter().for_each(|key| queue.add(key, priority(delta))),
                Err(panic) => {
                    let (kind, object) = (W::kind(&()), delta.key());
                    tracing::error!(controller = &*controller, %kind, %object, "`map` panicked, and wakes nobody: {panic}");
                }
            }
        }
    }
}

/// The object of kind `K` that controls this child. Group and kind count, the version does not: the same object may be
/// named in any version that is served.
fn owner_of<K: Object, C: Object>(child: &C) -> Option<ObjectKey> {
    let owner = controller_of(child)?;
    let group = owner.api_version.rsplit_once('/').map_or("", |(group, _)| group);
    if owner.kind != K::kind(&()) || group != K::group(&()) {
        return None;
    }
    // An owner in a namespace is always in its child's; a cluster-scoped one is in none.
    let namespace = if is_namespaced::<K>() {
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
