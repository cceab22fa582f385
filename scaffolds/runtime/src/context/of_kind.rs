//! The objects of one kind, as a reconciler reads and writes them, also where the kind has no Rust type.

use std::{any::Any, sync::Arc};

use super::{Context, KindSource, OWNER_INDEX, Writes, reference};
use crate::{
    child::{Applied, Existing, controller_of},
    error::{Error, Result},
    events::EventType,
    key::ObjectKey,
    kind::Kind,
    object::AnyObject,
};

/// The methods of [`Context`] for the objects of one kind: see [`Context::of`]. Each method works as the method of the
/// context of the same name, and returns the same errors.
#[allow(clippy::missing_errors_doc, reason = "they are those of the methods of the context")]
pub struct OfKind<'a, K, C> {
    cx: &'a Context<K>,
    kind: &'a Kind<C>,
}

impl<K: AnyObject> Context<K> {
    /// The objects of a kind that has no Rust type: its cache, and children of that kind. The kind is reconciled, owned
    /// or watched by this controller: see [`Controller::uses`](crate::Controller::uses).
    pub fn of<'a, C: AnyObject>(&'a self, kind: &'a Kind<C>) -> OfKind<'a, K, C> {
        OfKind { cx: self, kind }
    }

    pub(crate) fn source<C: AnyObject>(&self, kind: &Kind<C>) -> Result<&KindSource<C>> {
        // Children of the controller's own kind have a subscription of their own, so that a write of one queues it.
        let declared: Option<&dyn Any> = self.shared.sources.get(kind.id()).map(|source| &**source as _);
        let main: &dyn Any = &self.shared.main;
        let is_main = kind.id() == self.shared.kind().id();
        let source = declared
            .or(is_main.then_some(main))
            .and_then(|source| source.downcast_ref());
        source.ok_or_else(|| {
            let (controller, kind) = (&self.shared.manager, kind.kind());
            Error::Setup(format!(
                "`{controller}` neither owns nor watches {kind}\n\nhint: add `.owns::<{kind}>()` to it"
            ))
        })
    }

    /// With which ownership the controller applies objects of a kind.
    pub(super) fn writes<C: AnyObject>(&self, kind: &Kind<C>) -> Writes {
        let source = self.shared.sources.get(kind.id());
        let source = source.and_then(|source| source.downcast_ref::<KindSource<C>>());
        source.map(|source| source.writes).unwrap_or_default()
    }

    /// Whether an object's namespace allows it to be a child of this object.
    pub(super) fn is_beside<C: AnyObject>(&self, object: &C) -> bool {
        self.key.namespace().is_none() || object.meta().namespace.as_deref() == self.key.namespace()
    }
}

impl<K: AnyObject, C: AnyObject> OfKind<'_, K, C> {
    /// See [`Context::get`].
    pub fn get(&self, name: &str) -> Result<Option<Arc<C>>> {
        let namespace = self.kind.is_namespaced().then(|| self.cx.namespace());
        self.find(&ObjectKey::new(namespace, name))
    }

    /// See [`Context::find`].
    pub fn find(&self, key: &ObjectKey) -> Result<Option<Arc<C>>> {
        Ok(self.source()?.informer.store().get(key))
    }

    /// See [`Context::list`].
    pub fn list(&self) -> Result<Vec<Arc<C>>> {
        Ok(self.source()?.informer.store().list())
    }

    /// See [`Context::by_index`].
    pub fn by_index(&self, index: &str, value: &str) -> Result<Vec<Arc<C>>> {
        let store = self.source()?.informer.store();
        if !store.has_index(index) {
            let kind = self.kind.kind();
            let hint = format!("hint: add `.index(\"{index}\", |object: &{kind}| …)` to the controller");
            return Err(Error::Setup(format!("{kind} has no index `{index}`\n\n{hint}")));
        }
        Ok(store.by_index(index, value))
    }

    /// See [`Context::children`].
    pub fn children(&self) -> Result<Vec<Arc<C>>> {
        let store = self.source()?.informer.store();
        if !store.has_index(OWNER_INDEX) {
            let (controller, kind) = (&self.cx.shared.manager, self.kind.kind());
            let text = format!("`{controller}` watches {kind} but does not own it");
            return Err(Error::Setup(format!("{text}\n\nhint: add `.owns::<{kind}>()` to it")));
        }
        let uid = self.cx.object.meta().uid.as_deref().unwrap_or_default();
        let mut children = store.by_index(OWNER_INDEX, uid);
        children.retain(|child| self.cx.is_beside(&**child));
        Ok(children)
    }

    /// See [`Context::child`].
    pub fn child(&self, name: &str) -> Result<Option<Arc<C>>> {
        let uid = self.cx.object.meta().uid.as_deref();
        let found = self.get(name)?;
        Ok(found.filter(|child| controller_of(&**child).map(|owner| owner.uid.as_str()) == uid))
    }

    /// See [`Context::is_served`].
    pub fn is_served(&self) -> Result<bool> {
        Ok(self.source()?.informer.is_served())
    }

    /// See [`Context::event_about`].
    pub fn event_about(&self, other: &C, type_: EventType, reason: &str, note: impl Into<String>) {
        self.cx.record(&reference(self.kind, other), type_, reason, note.into());
    }

    /// See [`Context::apply_child`]. `apiVersion` and `kind` of the intent are set.
    pub async fn apply_child(&self, intent: C) -> Result<Applied<C>> {
        Box::pin(self.cx.apply_owned(self.kind, intent, Existing::Repaired)).await
    }

    /// See [`Context::create_once`].
    pub async fn create_once(&self, intent: C) -> Result<Applied<C>> {
        Box::pin(self.cx.apply_owned(self.kind, intent, Existing::Kept)).await
    }

    /// See [`Context::adopt_child`].
    pub async fn adopt_child(&self, intent: C) -> Result<Applied<C>> {
        Box::pin(self.cx.apply_owned(self.kind, intent, Existing::Adopted)).await
    }

    /// See [`Context::prune_children`].
    pub async fn prune_children(&self, keep: &[&str]) -> Result<usize> {
        self.cx.prune(self.kind, keep).await
    }

    /// See [`Context::delete_children`].
    pub async fn delete_children(&self, children: &[Arc<C>]) -> Result<usize> {
        self.cx.delete(self.kind, children).await
    }

    /// See [`Context::apply_shared`].
    pub async fn apply_shared(&self, intent: C) -> Result<Applied<C>> {
        Box::pin(self.cx.apply_co_owned(self.kind, intent, Existing::Repaired)).await
    }

    /// See [`Context::adopt_shared`].
    pub async fn adopt_shared(&self, intent: C) -> Result<Applied<C>> {
        Box::pin(self.cx.apply_co_owned(self.kind, intent, Existing::Adopted)).await
    }

    /// See [`Context::shared_objects`].
    pub fn shared_objects(&self) -> Result<Vec<Arc<C>>> {
        self.cx.co_owned(self.kind)
    }

    /// See [`Context::release_shared`].
    pub async fn release_shared(&self, keep: &[&str]) -> Result<usize> {
        Box::pin(self.cx.release_co_owned(self.kind, keep)).await
    }

    /// See [`Context::apply_unowned`].
    pub async fn apply_unowned(&self, intent: C) -> Result<Applied<C>> {
        Box::pin(self.cx.apply_marked(self.kind, intent, Existing::Repaired)).await
    }

    /// See [`Context::adopt_unowned`].
    pub async fn adopt_unowned(&self, intent: C) -> Result<Applied<C>> {
        Box::pin(self.cx.apply_marked(self.kind, intent, Existing::Adopted)).await
    }

    /// See [`Context::unowned_objects`].
    pub fn unowned_objects(&self) -> Result<Vec<Arc<C>>> {
        self.cx.marked(self.kind)
    }

    /// See [`Context::delete_unowned`].
    pub async fn delete_unowned(&self, keep: &[ObjectKey]) -> Result<usize> {
        Box::pin(self.cx.delete_marked(self.kind, keep)).await
    }

    /// See [`Context::claim`].
    pub async fn claim(&self) -> Result<Vec<Arc<C>>> {
        self.cx.claim_of(self.kind).await
    }

    fn source(&self) -> Result<&KindSource<C>> {
        self.cx.source(self.kind)
    }
}
