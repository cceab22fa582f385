//! Orphans: objects that nobody controls and that a selector of `claims` may match. How they are found, and whom they wake.

use std::collections::BTreeMap;

use crate::{
    child::controller_of, informer::Delta, isolate::Authored, key::ObjectKey, object::Object, priority::Priority,
    queue::WorkQueue, store::Store,
};

/// The index of every claimed kind: the namespace of an object that nobody controls.
pub(crate) const ORPHAN_INDEX: &str = "orphan-namespace";

/// Gives the labels by which an object knows its children.
pub(crate) type Selector<K> = Authored<dyn Fn(&K) -> BTreeMap<String, String> + Send + Sync>;

/// Wakes the objects that would adopt a changed orphan. Only live changes count: at the start every object is reconciled
/// anyway.
pub(crate) fn orphan_handler<K: Object, C: Object>(
    queue: WorkQueue,
    owners: Store<K>,
    selector: Selector<K>,
) -> impl Fn(&Delta<C>) + Send + Sync + 'static {
    move |delta| {
        let Some(orphan) = delta.object().filter(|object| controller_of(&***object).is_none()) else {
            return;
        };
        if delta.is_routine() || matches!(delta, Delta::Deleted(_)) {
            return;
        }
        let namespace = orphan.meta().namespace.as_deref();
        for owner in owners.list() {
            let beside = owner.meta().namespace.is_none() || owner.meta().namespace.as_deref() == namespace;
            if !beside {
                continue;
            }
            let key = ObjectKey::of(&*owner);
            match selector.call(|selector| selector(&owner)) {
                Ok(wanted) if is_adoptable(&**orphan, &wanted) => queue.add(key, Priority::Normal),
                Ok(_) => {}
                Err(panic) => tracing::error!(object = %key, "the selector of `claims` panicked: {panic}"),
            }
        }
    }
}

/// The values of an object in [`ORPHAN_INDEX`]: its namespace, if nobody controls it.
pub(crate) fn orphan_namespace<C: Object>(object: &C) -> Vec<String> {
    let orphan = controller_of(object).is_none();
    orphan
        .then(|| object.meta().namespace.clone().unwrap_or_default())
        .into_iter()
        .collect()
}

/// A selector without labels matches nothing: it would take the whole namespace.
pub(super) fn matches<C: Object>(object: &C, wanted: &BTreeMap<String, String>) -> bool {
    let labels = object.meta().labels.as_ref();
    let has = |(name, value): (&String, &String)| labels.is_some_and(|labels| labels.get(name) == Some(value));
    !wanted.is_empty() && wanted.iter().all(has)
}

pub(super) fn is_adoptable<C: Object>(object: &C, wanted: &BTreeMap<String, String>) -> bool {
    object.meta().deletion_timestamp.is_none() && matches(object, wanted)
}
