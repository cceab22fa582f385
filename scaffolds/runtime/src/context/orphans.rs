//! Orphans: objects without a controller that a selector of `claims` may match. How they are found, and which owners
//! they wake.

use std::{any::type_name, collections::BTreeMap, sync::Arc};

use crate::{
    child::controller_of, informer::Delta, isolate::Authored, key::ObjectKey, object::AnyObject, priority::Priority,
    queue::WorkQueue, store::Store,
};

/// The index of every claimed kind, by the namespace of an object without a controller.
pub(crate) const ORPHAN_INDEX: &str = "orphan-namespace";

/// Returns the labels by which an object selects its children.
pub(crate) type Selector<K> = Authored<dyn Fn(&K) -> BTreeMap<String, String> + Send + Sync>;

/// Wakes the objects that may adopt a changed orphan. Only live changes count: at the start every object is reconciled
/// anyway.
///
/// Owners are found by one label of their selectors that the orphan has: owners that select other labels are not
/// compared. A second controller of the same two kinds compares all owners.
pub(crate) fn orphan_handler<K: AnyObject, C: AnyObject>(
    queue: WorkQueue,
    owners: Store<K>,
    selector: Selector<K>,
) -> impl Fn(&Delta<C>) + Send + Sync + 'static {
    let index = type_name::<C>();
    let sought = selector.clone();
    let values = move |owner: &K| {
        wanted_of(&sought, owner)
            .iter()
            .next()
            .map(|(label, value)| place(owner.meta().namespace.as_deref(), label, value))
            .into_iter()
            .collect()
    };
    let is_indexed = owners.write().add_index(index, Authored::new(Arc::new(values)));
    move |delta| {
        let Some(orphan) = delta.object().filter(|object| controller_of(&***object).is_none()) else {
            return;
        };
        if delta.is_routine() || matches!(delta, Delta::Deleted(_)) {
            return;
        }
        let namespace = orphan.meta().namespace.as_deref();
        let candidates = if is_indexed {
            beside(&**orphan)
                .flat_map(|place| owners.by_index(index, &place))
                .collect()
        } else {
            owners.list()
        };
        for owner in candidates {
            let of = owner.meta().namespace.as_deref();
            let wanted = wanted_of(&selector, &*owner);
            if (of.is_none() || of == namespace) && is_adoptable(&**orphan, &wanted) {
                queue.add(ObjectKey::of(&*owner), Priority::Normal);
            }
        }
    }
}

/// The labels by which an owner selects its children; empty if the selector panics.
fn wanted_of<K: AnyObject>(selector: &Selector<K>, owner: &K) -> BTreeMap<String, String> {
    selector.call(|selector| selector(owner)).unwrap_or_else(|panic| {
        tracing::error!(object = %ObjectKey::of(owner), "the selector of `claims` panicked: {panic}");
        BTreeMap::new()
    })
}

/// The index values of the owners that may adopt an orphan: those in its namespace, and cluster-scoped ones.
fn beside<C: AnyObject>(orphan: &C) -> impl Iterator<Item = String> {
    let meta = orphan.meta();
    let namespaces = [None, meta.namespace.as_deref()];
    let namespaces = namespaces.into_iter().skip(usize::from(meta.namespace.is_none()));
    let labels = meta.labels.iter().flatten();
    namespaces.flat_map(move |namespace| labels.clone().map(move |(label, value)| place(namespace, label, value)))
}

fn place(namespace: Option<&str>, label: &str, value: &str) -> String {
    format!("{}/{label}={value}", namespace.unwrap_or_default())
}

/// The values of an object in [`ORPHAN_INDEX`]: its namespace, if it has no controller.
pub(crate) fn orphan_namespace<C: AnyObject>(object: &C) -> Vec<String> {
    let orphan = controller_of(object).is_none();
    orphan
        .then(|| object.meta().namespace.clone().unwrap_or_default())
        .into_iter()
        .collect()
}

/// A selector without labels matches nothing: otherwise it would match the whole namespace.
pub(super) fn matches<C: AnyObject>(object: &C, wanted: &BTreeMap<String, String>) -> bool {
    let labels = object.meta().labels.as_ref();
    let has = |(name, value): (&String, &String)| labels.is_some_and(|labels| labels.get(name) == Some(value));
    !wanted.is_empty() && wanted.iter().all(has)
}

pub(super) fn is_adoptable<C: AnyObject>(object: &C, wanted: &BTreeMap<String, String>) -> bool {
    object.meta().deletion_timestamp.is_none() && matches(object, wanted)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use k8s_openapi::api::{apps::v1::ReplicaSet, core::v1::Pod};

    use super::*;
    use crate::{metrics::Metrics, queue::Backoff};

    fn named<C: AnyObject + Default>(name: &str, namespace: &str, app: &str) -> C {
        let mut object = C::default();
        let meta = object.meta_mut();
        meta.name = Some(name.to_owned());
        meta.namespace = Some(namespace.to_owned());
        meta.labels = Some(BTreeMap::from([
            ("app".to_owned(), app.to_owned()),
            ("tier".to_owned(), "web".to_owned()),
        ]));
        object
    }

    /// Selects by the owner's own labels, and counts its calls.
    fn selector(asked: &Arc<AtomicUsize>) -> Selector<ReplicaSet> {
        let asked = asked.clone();
        Authored::new(Arc::new(move |owner: &ReplicaSet| {
            asked.fetch_add(1, Ordering::Relaxed);
            owner.metadata.labels.clone().unwrap_or_default()
        }))
    }

    fn queue() -> WorkQueue {
        WorkQueue::new(Backoff::default(), Metrics::new().queue("claims"))
    }

    async fn woken(queue: &WorkQueue) -> Vec<String> {
        let mut names = Vec::new();
        while !queue.is_empty() {
            names.extend(queue.next().await.map(|held| held.key().name().to_owned()));
        }
        names.sort();
        names
    }

    #[tokio::test]
    async fn an_orphan_wakes_the_owners_that_select_it_without_reading_others() {
        let (asked, owners) = (Arc::new(AtomicUsize::new(0)), Store::new());
        let queues = [queue(), queue()];
        // The second controller of the same two kinds has no index of its own.
        let handlers = queues
            .clone()
            .map(|queue| orphan_handler::<_, Pod>(queue, owners.clone(), selector(&asked)));
        for number in 0..1_000 {
            let (name, app) = (format!("owner-{number}"), format!("app-{}", number / 4));
            let owner: ReplicaSet = named(&name, &format!("team-{}", number % 2), &app);
            owners.write().insert(ObjectKey::of(&owner), Arc::new(owner), None);
        }
        let looks = [2, 1_000];
        for ((handler, queue), looks) in handlers.iter().zip(&queues).zip(looks) {
            asked.store(0, Ordering::Relaxed);
            let object = Arc::new(named("orphan", "team-1", "app-7"));
            handler(&Delta::Added { object, initial: false });
            assert_eq!(woken(queue).await, ["owner-29", "owner-31"]);
            assert_eq!(asked.load(Ordering::Relaxed), looks);
        }
    }

    #[tokio::test]
    async fn orphans_of_any_namespace_wake_cluster_scoped_owners_and_a_changed_selector_applies() {
        let (asked, owners) = (Arc::new(AtomicUsize::new(0)), Store::new());
        let queue = queue();
        let handler = orphan_handler::<_, Pod>(queue.clone(), owners.clone(), selector(&asked));
        let mut owner: ReplicaSet = named("owner", "", "shop");
        owner.metadata.namespace = None;
        let key = ObjectKey::of(&owner);
        owners.write().insert(key.clone(), Arc::new(owner.clone()), None);
        let orphan = |app: &str| {
            let object = Arc::new(named("orphan", "team-1", app));
            handler(&Delta::Added { object, initial: false });
        };
        orphan("shop");
        assert_eq!(woken(&queue).await, ["owner"]);
        owner.metadata.labels = Some(BTreeMap::from([("app".to_owned(), "other".to_owned())]));
        owners.write().insert(key, Arc::new(owner), None);
        orphan("shop");
        assert_eq!(woken(&queue).await, [""; 0]);
        orphan("other");
        assert_eq!(woken(&queue).await, ["owner"]);
    }
}
