//! What wakes a controller beside its own kind: children, watched objects, a channel; and the indexes they are found by.

use std::{
    any::{Any, TypeId},
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use tokio::sync::mpsc;

use super::{
    Controller,
    register::Wiring,
    wake::{map_handler, own_handler},
};
use crate::{
    child::controller_of,
    context::{ORPHAN_INDEX, OWNER_INDEX, Selector, Source, orphan_handler, orphan_namespace},
    error::{Error, Result},
    informer::{Delta, Informer},
    isolate::Authored,
    key::ObjectKey,
    manager::Manager,
    object::Object,
    predicate::Predicate,
    priority::Priority,
    rbac::Use,
};

/// Connects the controller with what wakes it, once its queue is there.
pub(super) type SourceFn<K> = Box<dyn FnOnce(&Manager, &Wiring<K>, &mut Sources) -> Result<()>>;

/// The kinds that a controller reads beside its own: a [`Source`] each.
pub(super) type Sources = HashMap<TypeId, Box<dyn Any + Send + Sync>>;

impl<K: Object> Controller<K> {
    /// Wakes the owner when a child of kind `C` changes, which is an object whose owner reference with
    /// `controller: true` names an object of kind `K` (in any version). The child is known to
    /// [`Context::apply_child`](crate::Context::apply_child) from the cache.
    ///
    /// # What the cache holds
    ///
    /// A kind that the operator's controllers only own is selected by the [label](crate::Context::child_label) that every child
    /// gets: objects of others are neither sent nor kept. Children that lack it, because an earlier version of the operator
    /// or somebody else has made them, are found and labelled when the process starts to work. Where a controller also
    /// [watches](Self::watches), [claims](Self::claims) or reconciles the kind, or [`caches_all`](Self::caches_all) says so, or
    /// [`Manager::informer`] is asked for it, the cache holds every object.
    ///
    /// A child whose label is removed is gone as far as the cache can tell. The owner is woken, and the next
    /// [`apply_child`](crate::Context::apply_child) of that name labels it again.
    pub fn owns<C: Object>(self) -> Self {
        self.owns_where::<C>(Predicate::new(|_| true))
    }

    /// As [`owns`](Self::owns), but only those changes of children that pass wake the owner. Deletions should: a child
    /// that is gone is to be made again.
    pub fn owns_where<C: Object>(mut self, predicate: Predicate<C>) -> Self {
        self.uses.push(Use::owned::<C>());
        self.sources.push(Box::new(move |manager, wiring, sources| {
            let source = subscribe(manager.children_of::<K, C>(), own_handler::<K, C>(wiring, predicate));
            keep_children(&source);
            // In the place of a mere watch of this kind: writes of children notify every subscriber but their owners.
            sources.insert(TypeId::of::<C>(), Box::new(source));
            Ok(())
        }));
        self
    }

    /// As [`owns`](Self::owns), for children that are known by labels as well: `selector` gives those of an object. Such an
    /// object without a controller wakes whoever may adopt it. [`Context::claim`](crate::Context::claim) settles who is whose, and
    /// children may be deleted ([`prunes`](Self::prunes) is included).
    ///
    /// Like the functions of [`index`](Self::index), `selector` runs while the cache takes in an object, so it must not read the cache.
    pub fn claims<C: Object>(
        mut self,
        selector: impl Fn(&K) -> BTreeMap<String, String> + Send + Sync + 'static,
    ) -> Self {
        let selector: Selector<K> = Authored::new(Arc::new(selector));
        self.uses.extend([Use::owned::<C>(), Use::pruned::<C>()]);
        self.prunes.insert(TypeId::of::<C>());
        self.claims.insert(TypeId::of::<C>(), selector.clone());
        self.sources.push(Box::new(move |manager, wiring, sources| {
            let owned = own_handler::<K, C>(wiring, Predicate::new(|_| true));
            let orphaned = orphan_handler(wiring.queue.clone(), manager.informer::<K>().store(), selector);
            // An orphan has no label of the operator's.
            let source = subscribe(manager.informer::<C>(), move |delta: &Delta<C>| {
                owned(delta);
                orphaned(delta);
            });
            keep_children(&source);
            _ = source.informer.add_index(ORPHAN_INDEX, orphan_namespace::<C>);
            sources.insert(TypeId::of::<C>(), Box::new(source));
            Ok(())
        }));
        self
    }

    /// Keeps every object of kind `C` in the cache, not this operator's children alone. Beside [`owns`](Self::owns), for a
    /// reconciler that reads objects of others too, without being woken by them. Memory then grows with what anybody in the
    /// watched namespaces creates.
    pub fn caches_all<C: Object>(mut self) -> Self {
        self.sources.push(Box::new(|manager, _, _| {
            manager.informer::<C>();
            Ok(())
        }));
        self
    }

    /// Lets [`Context::prune_children`](crate::Context::prune_children) delete children of kind `C`, which is a permission
    /// of its own. Beside [`owns`](Self::owns).
    pub fn prunes<C: Object>(mut self) -> Self {
        self.uses.push(Use::pruned::<C>());
        self.prunes.insert(TypeId::of::<C>());
        self
    }

    /// Wakes the objects that `map` names when an object of kind `W` changes. After an update `map` is asked about the
    /// old and the new object. It runs on the informer's task: keep it short and free of I/O.
    ///
    /// Where names and labels are all that counts, watch [`PartialObjectMeta<W>`](kube::core::PartialObjectMeta): the API
    /// server then sends the metadata alone, and the cache holds no more.
    pub fn watches<W: Object>(self, map: impl Fn(&W) -> Vec<ObjectKey> + Send + Sync + 'static) -> Self {
        self.watches_where(Predicate::new(|_| true), map)
    }

    /// As [`watches`](Self::watches), but only those changes that pass wake anybody.
    pub fn watches_where<W: Object>(
        mut self,
        predicate: Predicate<W>,
        map: impl Fn(&W) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> Self {
        self.uses.push(Use::watched::<W>());
        self.sources.push(Box::new(move |manager, wiring, sources| {
            let source = subscribe(
                manager.informer::<W>(),
                map_handler(wiring, predicate, Authored::new(Arc::new(map))),
            );
            // It may be made a child by its name.
            source.informer.keep_records();
            sources.entry(TypeId::of::<W>()).or_insert(Box::new(source));
            Ok(())
        }));
        self
    }

    /// Wakes the objects whose keys come out of a channel: for what is outside of Kubernetes, a webhook of a cloud or a
    /// poll. It is emptied as long as the manager runs, on a standby too, and waits for no reconcile: keys that are not
    /// handled yet are joined, so the queue is bounded by the number of objects and the channel by its own capacity.
    ///
    /// On a standby the keys are dropped: every object is reconciled once it leads. They are lost with the process, too. What must not be missed after a restart has to be found by the reconcile that
    /// every object gets then.
    pub fn watches_channel(mut self, mut keys: mpsc::Receiver<ObjectKey>) -> Self {
        self.sources.push(Box::new(move |manager, wiring, _| {
            let queue = wiring.queue.clone();
            manager.background(async move {
                while let Some(key) = keys.recv().await {
                    queue.add(key, Priority::Normal);
                }
            });
            Ok(())
        }));
        self
    }

    /// Lets [`Context::by_index`](crate::Context::by_index), and the `map` of [`watches`](Self::watches), find objects of
    /// kind `C` by the values that `values` gives for them. The index belongs to the manager's one cache of the kind, so
    /// its name is unique among all controllers. `C` is a kind that this controller reconciles, owns or watches.
    pub fn index<C: Object>(
        mut self,
        name: &'static str,
        values: impl Fn(&C) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.indexed.push((TypeId::of::<C>(), C::kind(&())));
        self.sources.push(Box::new(move |manager, _, _| {
            let added = manager.cached::<C>().add_index(name, values);
            added.map_err(|error| Error::Setup(format!("{}: {error}\n\nhint: give it another name", C::kind(&()))))
        }));
        self
    }
}

/// Joins the subscribers of an informer.
pub(super) fn subscribe<C: Object>(
    informer: Informer<C>,
    handler: impl Fn(&Delta<C>) + Send + Sync + 'static,
) -> Source<C> {
    let subscription = informer.subscribe(handler).id();
    Source { informer, subscription }
}

/// Children are found by their owner, and compared with the records of what this operator owns of them.
fn keep_children<C: Object>(source: &Source<C>) {
    source.informer.keep_records();
    // Another controller that owns this kind may have added the very same index.
    _ = source.informer.add_index(OWNER_INDEX, |child: &C| {
        controller_of(child)
            .map(|owner| owner.uid.clone())
            .into_iter()
            .collect()
    });
}
