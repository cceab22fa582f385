//! Declarations of a controller for the objects of one kind, with or without a Rust type.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Controller, Named,
    sources::Sources,
    wake::{Owners, controllers, map_handler, named, own_handler, presence_handler, sharers},
};
use crate::{
    child::controller_of,
    context::{
        KindSource, MARK_INDEX, ORPHAN_INDEX, OWNER_INDEX, SHARED_INDEX, Selector, Writes, marks, orphan_handler,
        orphan_namespace, owner_uids,
    },
    error::Error,
    informer::{Delta, Informer},
    isolate::Authored,
    key::ObjectKey,
    kind::Kind,
    manager::Joining,
    object::AnyObject,
    predicate::Predicate,
    priority::Wake,
    rbac::Use,
};

/// Declarations of a controller of kind `K` for the objects of one kind: see [`Controller::uses`]. Each method declares the same as
/// the method of the controller of the same name.
#[must_use]
pub struct Uses<K: kube::Resource, C> {
    controller: Controller<K>,
    kind: Kind<C>,
}

impl<K: AnyObject> Controller<K> {
    /// Declares what the controller does with the objects of a kind that has no Rust type:
    ///
    /// ```
    /// # use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
    /// # use kubewright_runtime::{Controller, Kind};
    /// # fn declare(controller: Controller<DynamicObject>) -> Controller<DynamicObject> {
    /// let kind = GroupVersionKind::gvk("cert-manager.io", "v1", "Certificate");
    /// let certificates = Kind::<DynamicObject>::namespaced(ApiResource::from_gvk(&kind));
    /// controller.uses(&certificates, |certificates| certificates.owns().prunes().optional())
    /// # }
    /// ```
    ///
    /// Two kinds without Rust types differ in group, version or resource; each has a cache, permissions and children of
    /// its own.
    pub fn uses<C: AnyObject>(self, kind: &Kind<C>, declare: impl FnOnce(Uses<K, C>) -> Uses<K, C>) -> Self {
        let uses = Uses {
            controller: self,
            kind: kind.clone(),
        };
        declare(uses).controller
    }
}

impl<K: AnyObject, C: AnyObject> Uses<K, C> {
    /// See [`Controller::owns`].
    pub fn owns(self) -> Self {
        self.owns_where(Predicate::new(|_| true))
    }

    /// See [`Controller::owns_where`].
    pub fn owns_where(mut self, predicate: Predicate<C>) -> Self {
        let kind = self.kind.clone();
        self.controller.uses.push(Use::owned(&kind));
        self.controller.sources.push(Box::new(move |joining, wiring, sources| {
            let handler = own_handler(wiring, wiring.filter(&kind, predicate), controllers);
            let informer = joining.children_of(&wiring.kind, &kind);
            joining.on_presence(&informer, presence_handler(wiring, joining));
            keep_children(&informer);
            keep(joining, sources, informer, handler, OWNS);
            Ok(())
        }));
        self
    }

    /// See [`Controller::claims`].
    pub fn claims(mut self, selector: impl Fn(&K) -> BTreeMap<String, String> + Send + Sync + 'static) -> Self {
        let kind = self.kind.clone();
        let selector: Selector<K> = Authored::new(Arc::new(selector));
        let controller = &mut self.controller;
        controller.uses.extend([Use::owned(&kind), Use::pruned(&kind)]);
        controller.prunes.insert(kind.id().clone());
        controller.claims.insert(kind.id().clone(), selector.clone());
        controller.sources.push(Box::new(move |joining, wiring, sources| {
            let owned = own_handler(wiring, wiring.filter(&kind, Predicate::new(|_| true)), controllers);
            let owners = joining.informer_of(&wiring.kind).store();
            let orphaned = orphan_handler(wiring.state.queue.clone(), owners, selector);
            // An orphan may lack the operator's label.
            let informer = joining.informer_of(&kind);
            joining.manager().require(&kind);
            joining.on_presence(&informer, presence_handler(wiring, joining));
            keep_children(&informer);
            _ = informer.add_index(ORPHAN_INDEX, orphan_namespace::<C>);
            let handler = move |delta: &Delta<C>| {
                owned(delta);
                orphaned(delta);
            };
            keep(joining, sources, informer, handler, OWNS);
            Ok(())
        }));
        self
    }

    /// See [`Controller::shares`].
    pub fn shares(mut self) -> Self {
        // An owner that joins or leaves changes owner references: where OwnerReferencesPermissionEnforcement is enabled, that
        // needs the permission to delete the object.
        self.controller.uses.push(Use::pruned(&self.kind));
        self.applies(Use::owned, sharers, SHARED_INDEX, owner_uids::<C>, SHARES)
    }

    /// See [`Controller::applies_unowned`].
    pub fn applies_unowned(self) -> Self {
        self.applies(Use::unowned, named, MARK_INDEX, marks::<C>, UNOWNED)
    }

    /// Objects of the kind are found by `index`, and wake the objects that `owners` returns.
    fn applies(
        mut self,
        used: fn(&Kind<C>) -> Use,
        owners: Owners<K, C>,
        index: &'static str,
        values: fn(&C) -> Vec<String>,
        writes: Writes,
    ) -> Self {
        let kind = self.kind.clone();
        self.controller.uses.push(used(&kind));
        self.controller.sources.push(Box::new(move |joining, wiring, sources| {
            let handler = own_handler(wiring, wiring.filter(&kind, Predicate::new(|_| true)), owners);
            let informer = joining.labelled_of(&kind);
            joining.on_presence(&informer, presence_handler(wiring, joining));
            // Another controller that applies this kind may have added the same index.
            _ = informer.add_index(index, values);
            keep(joining, sources, informer, handler, writes);
            Ok(())
        }));
        self
    }

    /// See [`Controller::caches_all`].
    pub fn caches_all(mut self) -> Self {
        let kind = self.kind.clone();
        self.controller.sources.push(Box::new(move |joining, _, _| {
            joining.informer_of(&kind);
            Ok(())
        }));
        self
    }

    /// See [`Controller::optional`].
    pub fn optional(mut self) -> Self {
        let kind = self.kind.clone();
        self.controller.optional.push(Named::of(&kind));
        self.controller.sources.push(Box::new(move |joining, _, _| {
            joining.cached(&kind).allow_absence();
            Ok(())
        }));
        self
    }

    /// See [`Controller::starts_without`].
    pub fn starts_without(mut self) -> Self {
        let kind = self.kind.clone();
        self.controller.late.push(Named::of(&kind));
        self.controller.sources.push(Box::new(move |joining, _, _| {
            joining.cached(&kind);
            joining.manager().allow_lateness(&kind);
            Ok(())
        }));
        self
    }

    /// See [`Controller::prunes`].
    pub fn prunes(mut self) -> Self {
        self.controller.uses.push(Use::pruned(&self.kind));
        self.controller.prunes.insert(self.kind.id().clone());
        self
    }

    /// See [`Controller::watches`].
    pub fn watches(self, map: impl Fn(&C) -> Vec<ObjectKey> + Send + Sync + 'static) -> Self {
        self.watches_where(Predicate::new(|_| true), map)
    }

    /// See [`Controller::watches_where`].
    pub fn watches_where(
        self,
        predicate: Predicate<C>,
        map: impl Fn(&C) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> Self {
        self.watches_with_priority(predicate, move |object| {
            map(object).into_iter().map(Wake::from).collect()
        })
    }

    /// See [`Controller::watches_with_priority`].
    pub fn watches_with_priority(
        mut self,
        predicate: Predicate<C>,
        map: impl Fn(&C) -> Vec<Wake> + Send + Sync + 'static,
    ) -> Self {
        let kind = self.kind.clone();
        self.controller.uses.push(Use::watched(&kind));
        self.controller.sources.push(Box::new(move |joining, wiring, sources| {
            let filter = wiring.filter(&kind, predicate);
            let handler = map_handler(wiring.state.clone(), filter, Authored::new(Arc::new(map)));
            let source = subscribe(joining, joining.informer_of(&kind), handler);
            joining.on_presence(&source.informer, presence_handler(wiring, joining));
            // Another controller may adopt the object as a child, by its name.
            source.informer.keep_records();
            sources.entry(kind.id().clone()).or_insert(Box::new(source));
            Ok(())
        }));
        self
    }

    /// See [`Controller::index`].
    pub fn index(mut self, name: &'static str, values: impl Fn(&C) -> Vec<String> + Send + Sync + 'static) -> Self {
        let kind = self.kind.clone();
        self.controller.indexed.push(Named::of(&kind));
        self.controller.sources.push(Box::new(move |joining, _, _| {
            let added = joining.index(&kind, name, values);
            added.map_err(|error| Error::Setup(format!("{}: {error}\n\nhint: give it another name", kind.kind())))
        }));
        self
    }
}

/// Subscribes to an informer.
pub(super) fn subscribe<C: AnyObject>(
    joining: &Joining<'_>,
    informer: Informer<C>,
    handler: impl Fn(&Delta<C>) + Send + Sync + 'static,
) -> KindSource<C> {
    let subscription = joining.subscribe(&informer, handler);
    KindSource {
        informer,
        subscription,
        writes: Writes::default(),
    }
}

const OWNS: Writes = Writes {
    owns: true,
    shares: false,
    unowned: false,
};
const SHARES: Writes = Writes {
    owns: false,
    shares: true,
    unowned: false,
};
const UNOWNED: Writes = Writes {
    owns: false,
    shares: false,
    unowned: true,
};

/// Subscribes to a kind that the controller writes, and keeps this operator's `managedFields` of its objects. However
/// it owns them, there is one subscription, so that its own writes do not wake it.
fn keep<C: AnyObject>(
    joining: &Joining<'_>,
    sources: &mut Sources,
    informer: Informer<C>,
    handler: impl Fn(&Delta<C>) + Send + Sync + 'static,
    writes: Writes,
) {
    informer.keep_records();
    let id = informer.kind().id().clone();
    // A source that only watches this kind is replaced: writes of children notify every subscriber but their owners.
    let known = sources
        .get(&id)
        .and_then(|source| source.downcast_ref::<KindSource<C>>());
    let source = match known.filter(|source| source.writes.any()) {
        Some(known) => {
            informer.subscribe_as(known.subscription, handler);
            KindSource {
                informer,
                subscription: known.subscription,
                writes: known.writes.and(writes),
            }
        }
        None => KindSource {
            writes,
            ..subscribe(joining, informer, handler)
        },
    };
    sources.insert(id, Box::new(source));
}

/// Indexes children by their owner.
fn keep_children<C: AnyObject>(informer: &Informer<C>) {
    // Another controller that owns this kind may have added the same index.
    _ = informer.add_index(OWNER_INDEX, |child: &C| {
        controller_of(child)
            .map(|owner| owner.uid.clone())
            .into_iter()
            .collect()
    });
}
