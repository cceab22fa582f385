//! The triggers of a controller apart from its own kind: children, watched objects, a channel; and the indexes by which they
//! are found.

use std::{
    any::Any,
    collections::{BTreeMap, HashMap},
};

use tokio::sync::mpsc;

use super::{Controller, Uses, register::Wiring};
use crate::{
    error::Result,
    key::ObjectKey,
    kind::{Kind, KindId},
    manager::Joining,
    object::{AnyObject, Object},
    predicate::Predicate,
    priority::{Priority, Wake},
};

/// Connects the controller with a source, once its queue exists.
pub(super) type SourceFn<K> = Box<dyn FnOnce(&Joining<'_>, &Wiring<K>, &mut Sources) -> Result<()> + Send>;

/// The kinds that a controller reads apart from its own, with a `Source` each.
pub(super) type Sources = HashMap<KindId, Box<dyn Any + Send + Sync>>;

impl<K: AnyObject> Controller<K> {
    /// Wakes the owner when a child of kind `C` changes: an object whose owner reference with `controller: true` names
    /// an object of kind `K` (in any version). [`Context::apply_child`](crate::Context::apply_child) reads the child
    /// from the cache.
    ///
    /// # Contents of the cache
    ///
    /// If the operator's controllers only own a kind, its cache selects objects by the
    /// [label](crate::Context::child_label) of every child: other objects are neither sent nor kept. Children without
    /// the label that the operator has written, such as with an earlier version, are found by their `managedFields` and labelled
    /// at the start of the process. If a controller also [watches](Self::watches), [claims](Self::claims) or reconciles the kind, or
    /// calls [`caches_all`](Self::caches_all), or if [`Manager::informer`](crate::Manager::informer) is called for it, the cache contains every
    /// object.
    ///
    /// A child whose label is removed disappears from the cache. The owner is woken, and the next
    /// [`apply_child`](crate::Context::apply_child) of that name labels the child again.
    pub fn owns<C: Object>(self) -> Self {
        self.uses(&Kind::<C>::of(), Uses::owns)
    }

    /// As [`owns`](Self::owns), but only changes that pass the predicate wake the owner. Deletions should pass: a
    /// deleted child has to be created again.
    pub fn owns_where<C: Object>(self, predicate: Predicate<C>) -> Self {
        self.uses(&Kind::of(), |kind| kind.owns_where(predicate))
    }

    /// As [`owns`](Self::owns), for children that are also selected by labels: `selector` returns the labels of an object's children.
    /// An object with these labels and without a controller wakes every owner that may adopt it.
    /// [`Context::claim`](crate::Context::claim) adopts and releases children, and children may be deleted
    /// ([`prunes`](Self::prunes) is included).
    ///
    /// Like the functions of [`index`](Self::index), `selector` runs while the cache stores an object, so it must not
    /// read the cache.
    pub fn claims<C: Object>(self, selector: impl Fn(&K) -> BTreeMap<String, String> + Send + Sync + 'static) -> Self {
        self.uses(&Kind::<C>::of(), |kind| kind.claims(selector))
    }

    /// Wakes every owner when an object of kind `C` changes that objects of kind `K` own together: each is named by an
    /// owner reference with `controller: false`. [`Context::apply_shared`](crate::Context::apply_shared) creates and
    /// joins such objects; with [`prunes`](Self::prunes), an owner may
    /// [leave](crate::Context::release_shared) before it is deleted. The cache is the same as for [`owns`](Self::owns).
    pub fn shares<C: Object>(self) -> Self {
        self.uses(&Kind::<C>::of(), Uses::shares)
    }

    /// Wakes the object that an object of kind `C` without an owner was applied for, when that object changes. See
    /// [`Context::apply_unowned`](crate::Context::apply_unowned); with [`prunes`](Self::prunes),
    /// [`Context::delete_unowned`](crate::Context::delete_unowned) deletes such objects. The cache is that of
    /// [`owns`](Self::owns), in all watched namespaces.
    pub fn applies_unowned<C: Object>(self) -> Self {
        self.uses(&Kind::<C>::of(), Uses::applies_unowned)
    }

    /// Keeps every object of kind `C` in the cache, not only this operator's children. For use with
    /// [`owns`](Self::owns), if a reconciler also reads objects of others, without being woken by them. Memory then
    /// grows with the objects that anybody creates in the watched namespaces.
    pub fn caches_all<C: Object>(self) -> Self {
        self.uses(&Kind::<C>::of(), Uses::caches_all)
    }

    /// Allows the kind `C` to be absent: one that this controller reconciles, owns or watches, and that the API server
    /// serves only if its CustomResourceDefinition, or its aggregated API server, is installed.
    ///
    /// # Flow
    ///
    /// While the kind is absent its cache is empty, the operator is ready, and `C` delays nothing. When the kind is
    /// served, its objects are cached and watched; when it is no longer served, also in the version of `C` alone, each
    /// cached object is handled as deleted. Each time, the objects that this controller reconciles are reconciled.
    /// Nothing is restarted.
    ///
    /// A reconciler asks [`Context::is_served`](crate::Context::is_served). Reads of an absent kind find nothing, and
    /// [`apply_child`](crate::Context::apply_child) returns [`Error::Absent`](crate::Error::Absent).
    ///
    /// # Guarantees
    ///
    /// A kind counts as absent only if the API server answers 404 to a list or watch, and its discovery document
    /// confirms that. A 403, 5xx or a broken connection is an error of the watch, which is retried.
    ///
    /// # Caveats
    ///
    /// All controllers of the manager share the cache: one declaration holds for all of them. While a kind is absent,
    /// discovery is asked, after 1 s and then with delays that double up to 10 s, which is how late a new kind may be
    /// noticed. There is no watch of CustomResourceDefinitions, because it would need a permission on the whole cluster.
    pub fn optional<C: Object>(self) -> Self {
        self.uses(&Kind::<C>::of(), Uses::optional)
    }

    /// Starts the operator without the kind `W`, which this controller only [watches](Self::watches), if its cache makes
    /// no progress for `--cache-sync-timeout`: a kind whose list is slow or refused then delays the others by that time,
    /// and does not end the process. This is logged. The list is repeated; once it succeeds, its objects wake the
    /// controllers as new ones do. Until then reads of the kind find nothing.
    ///
    /// # Caveats
    ///
    /// All controllers of the manager share the cache: one declaration holds for all that watch the kind. If a
    /// controller reconciles, owns or claims it, its cache is waited for all the same.
    pub fn starts_without<W: Object>(self) -> Self {
        self.uses(&Kind::<W>::of(), Uses::starts_without)
    }

    /// Allows [`Context::prune_children`](crate::Context::prune_children),
    /// [`release_shared`](crate::Context::release_shared) and [`delete_unowned`](crate::Context::delete_unowned) to delete
    /// objects of kind `C`, which needs a permission of its own. For use with [`owns`](Self::owns),
    /// [`shares`](Self::shares) and [`applies_unowned`](Self::applies_unowned).
    pub fn prunes<C: Object>(self) -> Self {
        self.uses(&Kind::<C>::of(), Uses::prunes)
    }

    /// Wakes the objects that `map` names when an object of kind `W` changes. After an update `map` is called with the
    /// old and with the new object. It runs on the informer's task: keep it short and free of I/O.
    ///
    /// If only names and labels matter, watch [`PartialObjectMeta<W>`](kube::core::PartialObjectMeta): the API server
    /// then sends only metadata, and the cache contains only metadata.
    pub fn watches<W: Object>(self, map: impl Fn(&W) -> Vec<ObjectKey> + Send + Sync + 'static) -> Self {
        self.uses(&Kind::of(), |kind| kind.watches(map))
    }

    /// As [`watches`](Self::watches), but only changes that pass the predicate wake objects.
    pub fn watches_where<W: Object>(
        self,
        predicate: Predicate<W>,
        map: impl Fn(&W) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> Self {
        self.uses(&Kind::of(), |kind| kind.watches_where(predicate, map))
    }

    /// As [`watches_where`](Self::watches_where), and `map` returns the priority of each object.
    pub fn watches_with_priority<W: Object>(
        self,
        predicate: Predicate<W>,
        map: impl Fn(&W) -> Vec<Wake> + Send + Sync + 'static,
    ) -> Self {
        self.uses(&Kind::of(), |kind| kind.watches_with_priority(predicate, map))
    }

    /// Wakes the objects whose keys, or [`Wake`]s, are received from a channel: for sources outside of Kubernetes, such as a webhook
    /// of a cloud or a poll. The channel is drained as long as the manager runs, on a standby too, and does not wait
    /// for reconciles: equal keys that are not reconciled yet are merged, so the queue is bounded by the number of
    /// objects and the channel by its own capacity.
    ///
    /// On a standby the keys are dropped: every object is reconciled once it leads. Keys are lost when the process
    /// ends, too. If a change must not be missed, the reconcile that every object gets after a restart has to find it.
    pub fn watches_channel(mut self, mut keys: mpsc::Receiver<impl Into<Wake> + Send + 'static>) -> Self {
        self.sources.push(Box::new(move |joining, wiring, _| {
            let state = wiring.state.clone();
            joining.background(async move {
                while let Some(wake) = keys.recv().await {
                    let Wake { key, priority } = wake.into();
                    state.queue.add(key, priority.unwrap_or(Priority::Normal));
                }
            });
            Ok(())
        }));
        self
    }

    /// Allows [`Context::by_index`](crate::Context::by_index), and the `map` of [`watches`](Self::watches), to find
    /// objects of kind `C` by the values that `values` returns for them. The index is part of the manager's shared
    /// cache of the kind, so its name is unique among all controllers. `C` is a kind that this controller reconciles,
    /// owns or watches.
    pub fn index<C: Object>(
        self,
        name: &'static str,
        values: impl Fn(&C) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.uses(&Kind::of(), |kind| kind.index(name, values))
    }
}
