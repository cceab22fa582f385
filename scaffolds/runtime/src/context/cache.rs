//! Reads from the caches of the kinds that a controller reconciles, owns or watches.

use std::sync::Arc;

use super::Context;
use crate::{
    error::Result,
    key::ObjectKey,
    kind::Kind,
    object::{AnyObject, Object},
};

/// The index of every owned kind, by the uid of an object's controller.
pub(crate) const OWNER_INDEX: &str = "controller-uid";

impl<K: AnyObject> Context<K> {
    /// The object `name` in this object's namespace, or of a cluster-scoped kind, from the cache. The kind must be
    /// reconciled, owned or watched by this controller. The cache of a kind that is only
    /// [owned](crate::Controller::owns) contains this operator's children and no other objects; that of an absent
    /// [optional](crate::Controller::optional) kind is empty.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`](crate::Error::Setup) if the controller has no cache of this kind.
    pub fn get<C: Object>(&self, name: &str) -> Result<Option<Arc<C>>> {
        self.of(&Kind::<C>::of()).get(name)
    }

    /// As [`get`](Self::get), in any namespace that the cache covers.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn find<C: Object>(&self, key: &ObjectKey) -> Result<Option<Arc<C>>> {
        self.of(&Kind::<C>::of()).find(key)
    }

    /// All cached objects of a kind, in all namespaces that the cache covers, by namespace and name.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn list<C: Object>(&self) -> Result<Vec<Arc<C>>> {
        self.of(&Kind::<C>::of()).list()
    }

    /// The cached objects for which the [`index`](crate::Controller::index) of this name returned `value`, in no
    /// particular order.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`](crate::Error::Setup) if the controller has no cache of this kind, or the kind has no such index.
    pub fn by_index<C: Object>(&self, index: &str, value: &str) -> Result<Vec<Arc<C>>> {
        self.of(&Kind::<C>::of()).by_index(index, value)
    }

    /// All cached objects of an owned kind whose controller is this object, by namespace and name. If this object is
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
    /// [`Error::Setup`](crate::Error::Setup) if the controller does not own this kind.
    pub fn children<C: Object>(&self) -> Result<Vec<Arc<C>>> {
        self.of(&Kind::<C>::of()).children()
    }

    /// The cached object `name` in this object's namespace, or of a cluster-scoped kind, if this object is its
    /// controller. After [`apply_child`](Self::apply_child) it is the current child, with its status.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn child<C: Object>(&self, name: &str) -> Result<Option<Arc<C>>> {
        self.of(&Kind::<C>::of()).child(name)
    }

    /// Whether the API server serves a kind that the controller declares [`optional`](crate::Controller::optional): false
    /// while the kind is absent. For any other kind it is true. A change reconciles this object again.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn is_served<C: Object>(&self) -> Result<bool> {
        self.of(&Kind::<C>::of()).is_served()
    }
}
