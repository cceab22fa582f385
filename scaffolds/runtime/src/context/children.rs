//! The owned children of an object: applied, adopted, pruned.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde_json::{Value, json};

use super::Context;
use crate::{
    api::Requests,
    child::{Applied, Child},
    error::{Error, NotOwned, Result},
    key::{ObjectKey, check_name, check_namespace},
    kind::Kind,
    object::{AnyObject, Object},
};

impl<K: AnyObject> Context<K> {
    /// Applies `intent` to one child: creates it if it is missing, repairs it if it differs, and sends no request if it
    /// is as intended. `intent` is complete: a field that an earlier intent had and this one does not is removed.
    /// Fields of other field managers stay.
    ///
    /// The child gets this object as its controller, the operator's [label](Self::child_label), and its namespace if
    /// the intent names none: see [`namespace`](Self::namespace). Kubernetes deletes it with its owner.
    ///
    /// Values are compared, regardless of their recorded field manager. A value that the server stores in another form
    /// is applied once in each process; quantities (`1000m`, `1`) are compared by their amounts.
    ///
    /// # Errors
    ///
    /// [`Error::NotOwned`] if an object of that name exists and this object is not its controller; it is not changed,
    /// and this object is reconciled again once the other is deleted or gets another controller: at once if a cache of
    /// this controller contains it, else it is polled, with delays that double from 1 s to 5 minutes. [`Error::Kube`]
    /// if a request fails. [`Error::Absent`], without a request, while the API server does not serve an
    /// [optional](crate::Controller::optional) kind. [`Error::Setup`], without a request, if this object cannot own such a child: the child has
    /// no name, or one that is invalid in a path, it is in another namespace than its namespaced owner, or it is
    /// cluster-scoped and its owner is not.
    pub async fn apply_child<C: Object>(&self, intent: C) -> Result<Applied<C>> {
        Box::pin(self.apply(&Kind::of(), intent, false)).await
    }

    /// As [`apply_child`](Self::apply_child), but an existing object of that name without a controller becomes a child
    /// of this object: its fields are set to those of `intent`, and it is deleted with its owner from now on. Its other
    /// fields stay. If two owners adopt one object, one of them gets it.
    ///
    /// # Errors
    ///
    /// As [`apply_child`](Self::apply_child): an object that another object controls is never changed.
    pub async fn adopt_child<C: Object>(&self, intent: C) -> Result<Applied<C>> {
        Box::pin(self.apply(&Kind::of(), intent, true)).await
    }

    pub(super) async fn apply<C: AnyObject>(&self, kind: &Kind<C>, intent: C, adopts: bool) -> Result<Applied<C>> {
        let owner = self.owner_reference();
        let key = self.key_of_child(kind, &intent)?;
        let source = self.source(kind).ok();
        if source.is_some_and(|source| !source.informer.is_served()) {
            return Err(Error::Absent(kind.kind().to_owned()));
        }
        let child = Child {
            requests: Requests::beside(&self.shared.client, kind, &key),
            intent: self.complete(kind, intent, &key)?,
            key: &key,
            owner: &owner,
            owner_key: &self.key,
            manager: &self.shared.manager,
            applies: &self.shared.applies,
            adopts,
            watched: source.is_some(),
        };
        let cached = match source {
            Some(source) => source.informer.store().get(&key),
            None => child.requests.get(key.name()).await?.map(Arc::new),
        };
        let mut applied = Box::pin(child.apply(cached.as_deref())).await;
        let is_new = matches!(applied, Ok(Applied::Created(_)));
        match &mut applied {
            Ok(Applied::Created(written) | Applied::Updated(written)) => {
                if let Some(source) = source {
                    // An object that was created just now has no changes of others; any other may have, unless the
                    // cache shows its state.
                    let news = match &cached {
                        Some(known) => child.shows_others(known, written)?,
                        None => !is_new,
                    };
                    let except = (!news).then_some(source.subscription);
                    source.informer.observe_write(written.clone(), except);
                }
                written.meta_mut().managed_fields = None;
            }
            Err(Error::NotOwned(found)) => self.wait_for(kind, found, cached.as_ref())?,
            _ => {}
        }
        if self.is_gone() {
            self.shared.applies.forget_owner(&self.key);
            self.shared.blocked.forget_owner(&self.key);
        }
        applied
    }

    /// Reconciles this object again when the object that has its child's name gets another controller or is deleted.
    fn wait_for<C: AnyObject>(&self, kind: &Kind<C>, found: &NotOwned, cached: Option<&Arc<C>>) -> Result<()> {
        let (key, blocked) = (&found.key, &self.shared.blocked);
        blocked.wait(kind.id(), key, &self.key);
        let watched = self.shared.sources.contains_key(kind.id());
        let Some(source) = self.source(kind).ok().filter(|_| watched) else {
            blocked.ask(&self.shared.client, kind, found);
            return Ok(());
        };
        let now = source.informer.store().get(key);
        if now.is_none() && cached.is_none() && source.informer.selects() {
            blocked.ask(&self.shared.client, kind, found);
            return Ok(());
        }
        // A change before we waited has notified nobody.
        let version = |object: Option<&Arc<C>>| object.and_then(|object| object.meta().resource_version.clone());
        if cached.is_none() || version(now.as_ref()) != version(cached) {
            let text = format!(
                "{} `{key}` is not controlled by this object, and changed meanwhile",
                kind.kind()
            );
            return Err(Error::retry(text));
        }
        Ok(())
    }

    /// Whether the object was deleted during the reconcile. The deletion handler clears its entries; an entry that is
    /// added later has to be cleared by the code that adds it.
    fn is_gone(&self) -> bool {
        self.shared.main.informer.store().get(&self.key).is_none()
    }

    /// Deletes the children of kind `C` whose names are not in `keep`: children of an earlier spec. Returns how many.
    ///
    /// # Guarantees
    ///
    /// - The children to delete are observed, never remembered: they are found after any restart. Call it after the
    ///   children of this spec are applied, in every reconcile; if there is nothing to delete, no request is sent.
    /// - An object is deleted only if this object (by uid) is its controller, and only if its uid is still the observed
    ///   one. Objects that are being deleted already are skipped.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the controller does not declare [`prunes`](crate::Controller::prunes); [`Error::Kube`] if a
    /// request fails; the next reconcile finds the remaining children.
    pub async fn prune_children<C: Object>(&self, keep: &[&str]) -> Result<usize> {
        self.prune(&Kind::<C>::of(), keep).await
    }

    pub(super) async fn prune<C: AnyObject>(&self, kind: &Kind<C>, keep: &[&str]) -> Result<usize> {
        let children = self.of(kind).children()?;
        if !self.shared.prunes.contains(kind.id()) {
            let (controller, kind) = (&self.shared.manager, kind.kind());
            let text = format!("`{controller}` does not declare that it prunes {kind}");
            return Err(Error::Setup(format!("{text}\n\nhint: add `.prunes::<{kind}>()` to it")));
        }
        let mut deleted = 0;
        for child in children {
            let meta = child.meta();
            let (name, uid) = (
                meta.name.as_deref().unwrap_or_default(),
                meta.uid.as_deref().unwrap_or_default(),
            );
            if keep.contains(&name) || meta.deletion_timestamp.is_some() {
                continue;
            }
            let requests = Requests::beside(&self.shared.client, kind, &ObjectKey::of(&*child));
            deleted += usize::from(requests.delete(name, uid).await?);
        }
        Ok(deleted)
    }

    /// The key of a child, if this object can own it: the garbage collector considers an owner absent if it is neither
    /// in its child's namespace nor cluster-scoped.
    pub(crate) fn key_of_child<C: AnyObject>(&self, kind: &Kind<C>, intent: &C) -> Result<ObjectKey> {
        let meta = intent.meta();
        let name = meta.name.as_deref().unwrap_or_default();
        let refuse = |text: &str| Err(Error::Setup(format!("a child of kind {} {text}", kind.kind())));
        if name.is_empty() {
            return refuse("has no name");
        }
        if let Err(why) = check_name(name) {
            return refuse(&format!("cannot be named `{}`: {why}", name.escape_debug()));
        }
        if !kind.is_namespaced() {
            if self.key.namespace().is_some() {
                return refuse("is cluster-scoped, but its owner is not");
            }
            return Ok(ObjectKey::new(None, name));
        }
        let asked = meta.namespace.as_deref();
        if self.key.namespace().is_some() && asked.is_some_and(|asked| asked != self.namespace()) {
            return refuse("has another namespace than its owner");
        }
        let namespace = asked.unwrap_or(self.namespace());
        if let Err(why) = check_namespace(namespace) {
            return refuse(&format!("cannot be in namespace `{}`: {why}", namespace.escape_debug()));
        }
        Ok(ObjectKey::new(Some(namespace), name))
    }

    pub(crate) fn owner_reference(&self) -> OwnerReference {
        let (kind, meta) = (self.shared.kind(), self.object.meta());
        OwnerReference {
            api_version: kind.api_version(),
            kind: kind.kind().to_owned(),
            name: meta.name.clone().unwrap_or_default(),
            uid: meta.uid.clone().unwrap_or_default(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }

    /// The intent as it is sent: with its namespace, its owner reference and the operator's label, and without fields
    /// that an intent must not set.
    pub(crate) fn complete<C: AnyObject>(&self, kind: &Kind<C>, mut child: C, key: &ObjectKey) -> Result<Value> {
        let meta = child.meta_mut();
        meta.owner_references
            .get_or_insert_default()
            .push(self.owner_reference());
        meta.managed_fields = None;
        meta.resource_version = None;
        self.shared.label.set(meta);
        let mut intent = serde_json::to_value(child).map_err(Error::retry)?;
        // An object without a Rust type may not name its kind.
        intent["apiVersion"] = json!(kind.api_version());
        intent["kind"] = json!(kind.kind());
        if kind.is_namespaced() {
            intent["metadata"]["namespace"] = json!(key.namespace());
        }
        if let Some(intent) = intent.as_object_mut() {
            intent.remove("status");
        }
        Ok(intent)
    }
}
