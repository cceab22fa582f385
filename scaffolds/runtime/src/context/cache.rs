//! What a reconcile reads: the caches of the kinds that its controller reconciles, owns or watches.

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

/// The index of every owned kind: the uid of an object's controller.
pub(crate) const OWNER_INDEX: &str = "controller-uid";

impl<K: Object> Context<K> {
    /// The object `name` beside this one, or of a cluster-scoped kind, from the cache. The kind must be reconciled, owned
    /// or watched by this controller. Of a kind that is only [owned](crate::Controller::owns) the cache holds this operator's
    /// children and nothing else.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] where the controller has no cache of this kind.
    pub fn get<C: Object>(&self, name: &str) -> Result<Option<Arc<C>>> {
        self.find(&self.beside::<C>(name))
    }

    /// As [`get`](Self::get), of any namespace that the cache covers.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn find<C: Object>(&self, key: &ObjectKey) -> Result<Option<Arc<C>>> {
        Ok(self.source::<C>()?.informer.store().get(key))
    }

    /// All cached objects of a kind, of all namespaces that the cache covers, in no particular order.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn list<C: Object>(&self) -> Result<Vec<Arc<C>>> {
        Ok(self.source::<C>()?.informer.store().list())
    }

    /// The cached objects for which the [`index`](crate::Controller::index) of this name gave `value`, in no particular
    /// order.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] where the controller has no cache of this kind, or the kind no such index.
    pub fn by_index<C: Object>(&self, index: &str, value: &str) -> Result<Vec<Arc<C>>> {
        let store = self.source::<C>()?.informer.store();
        if !store.has_index(index) {
            let kind = C::kind(&());
            let hint = format!("hint: add `.index(\"{index}\", |object: &{kind}| …)` to the controller");
            return Err(Error::Setup(format!("{kind} has no index `{index}`\n\n{hint}")));
        }
        Ok(store.by_index(index, value))
    }

    /// All cached objects of an owned kind whose controller is this object, in no particular order. Those of an object in a
    /// namespace are in that namespace: what names it as its controller elsewhere, is not its child.
    ///
    /// # Caveats
    ///
    /// Whoever may create objects of this kind may name any controller. In a namespace that is between its users; but where
    /// this object is cluster-scoped, so is everybody: look at the namespaces of what you find, or know your children by their
    /// names ([`child`](Self::child)).
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] where the controller does not own this kind.
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

    /// The cached object `name` beside this one, or of a cluster-scoped kind, if this object is its controller: after
    /// [`apply_child`](Self::apply_child) the child as it is, with its status.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn child<C: Object>(&self, name: &str) -> Result<Option<Arc<C>>> {
        let uid = self.object.meta().uid.as_deref();
        let found = self.get::<C>(name)?;
        Ok(found.filter(|child| controller_of(&**child).map(|owner| owner.uid.as_str()) == uid))
    }

    /// Whether an object can be this one's child, by where it is.
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
