//! Reads from the caches of the kinds that a controller reconciles, owns or watches.

use std::{
    any::{Any, TypeId},
    sync::Arc,
};

use super::{Context, Source};
use crate::{
    child::controller_of,
    error::{Error, Result},
    key::{ObjectKey, is_namespaced},
    object::Object,
};

/// The index of every owned kind, by the uid of an object's controller.
pub(crate) const OWNER_INDEX: &str = "controller-uid";

impl<K: Object> Context<K> {
    /// The object `name` in this object's namespace, or of a cluster-scoped kind, from the cache. The kind must be
    /// reconciled, owned or watched by this controller. The cache of a kind that is only
    /// [owned](crate::Controller::owns) contains this operator's children and no other objects; that of an absent
    /// [optional](crate::Controller::optional) kind is empty.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the controller has no cache of this kind.
    pub fn get<C: Object>(&self, name: &str) -> Result<Option<Arc<C>>> {
        self.find(&self.beside::<C>(name))
    }

    /// As [`get`](Self::get), in any namespace that the cache covers.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn find<C: Object>(&self, key: &ObjectKey) -> Result<Option<Arc<C>>> {
        Ok(self.source::<C>()?.informer.store().get(key))
    }

    /// All cached objects of a kind, in all namespaces that the cache covers, in no particular order.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn list<C: Object>(&self) -> Result<Vec<Arc<C>>> {
        Ok(self.source::<C>()?.informer.store().list())
    }

    /// The cached objects for which the [`index`](crate::Controller::index) of this name returned `value`, in no
    /// particular order.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the controller has no cache of this kind, or the kind has no such index.
    pub fn by_index<C: Object>(&self, index: &str, value: &str) -> Result<Vec<Arc<C>>> {
        let store = self.source::<C>()?.informer.store();
        if !store.has_index(index) {
            let kind = C::kind(&());
            let hint = format!("hint: add `.index(\"{index}\", |object: &{kind}| …)` to the controller");
            return Err(Error::Setup(format!("{kind} has no index `{index}`\n\n{hint}")));
        }
        Ok(store.by_index(index, value))
    }

    /// All cached objects of an owned kind whose controller is this object, in no particular order. If this object is
    /// namespaced, only objects in its namespace are its children, even if others name it as their controller.
    ///
    /// # Caveats
    ///
    /// Anybody who may create objects of this kind may name any controller in them. For a namespaced object these are
    /// the users of its namespace; for a cluster-scoped object they are the users of all namespaces: check the
    /// namespaces of the children, or read them by name ([`child`](Self::child)).
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the controller does not own this kind.
    pub fn children<C: Object>(&self) -> Result<Vec<Arc<C>>> {
        let store = self.source::<C>()?.informer.store();
        if !store.has_index(OWNER_INDEX) {
            let (controller, kind) = (&self.shared.manager, C::kind(&()));
            let text = format!("`{controller}` watches {kind} but does not own it");
            return Err(Error::Setup(format!("{text}\n\nhint: add `.owns::<{kind}>()` to it")));
        }
        let uid = self.object.meta().uid.as_deref().unwrap_or_default();
        let mut children = store.by_index(OWNER_INDEX, uid);
        children.retain(|child| self.is_beside(&**child));
        Ok(children)
    }

    /// The cached object `name` in this object's namespace, or of a cluster-scoped kind, if this object is its
    /// controller. After [`apply_child`](Self::apply_child) it is the current child, with its status.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn child<C: Object>(&self, name: &str) -> Result<Option<Arc<C>>> {
        let uid = self.object.meta().uid.as_deref();
        let found = self.get::<C>(name)?;
        Ok(found.filter(|child| controller_of(&**child).map(|owner| owner.uid.as_str()) == uid))
    }

    /// Whether the API server serves a kind that the controller declares [`optional`](crate::Controller::optional): false
    /// while the kind is absent. For any other kind it is true. A change reconciles this object again.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn is_served<C: Object>(&self) -> Result<bool> {
        Ok(self.source::<C>()?.informer.is_served())
    }

    /// Whether an object's namespace allows it to be a child of this object.
    fn is_beside<C: Object>(&self, object: &C) -> bool {
        self.key.namespace().is_none() || object.meta().namespace.as_deref() == self.key.namespace()
    }

    pub(crate) fn source<C: Object>(&self) -> Result<&Source<C>> {
        let other = || self.shared.sources.get(&TypeId::of::<C>())?.downcast_ref();
        let main: &dyn Any = &self.shared.main;
        let source = main.downcast_ref().or_else(other);
        source.ok_or_else(|| {
            let (controller, kind) = (&self.shared.manager, C::kind(&()));
            Error::Setup(format!(
                "`{controller}` neither owns nor watches {kind}\n\nhint: add `.owns::<{kind}>()` to it"
            ))
        })
    }

    fn beside<C: Object>(&self, name: &str) -> ObjectKey {
        ObjectKey::new(is_namespaced::<C>().then(|| self.namespace()), name)
    }
}
