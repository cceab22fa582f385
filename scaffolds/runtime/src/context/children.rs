//! The owned children of a reconcile: applied, adopted, pruned.

use std::{any::TypeId, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde_json::{Value, json};

use super::Context;
use crate::{
    api::Requests,
    child::{Applied, Child},
    error::{Error, NotOwned, Result},
    key::{ObjectKey, check_name, check_namespace, is_namespaced},
    object::Object,
};

impl<K: Object> Context<K> {
    /// Makes one child as `intent` says: created when missing, repaired when it differs, and left alone, without a
    /// request, when it is as it should be. `intent` is complete: a field that an earlier one had and this one lacks is
    /// removed. Fields of other writers stay.
    ///
    /// The child gets this object as its controller, the operator's [label](Self::child_label), and its namespace where it
    /// names none: see [`namespace`](Self::namespace). Kubernetes deletes it with its owner.
    ///
    /// Values are compared, whoever is recorded as their writer. A value that the server stores in another form is applied once
    /// in a process; quantities (`1000m`, `1`) are compared by their amounts.
    ///
    /// # Errors
    ///
    /// [`Error::NotOwned`] when an object of that name belongs to somebody else, or to nobody; it is not touched, and this
    /// object is reconciled again once it goes or changes hands: at once where a cache of this controller shows it, else
    /// it is asked for, with delays that double from 1 s to 5 minutes. [`Error::Kube`] when a request
    /// fails. [`Error::Setup`], and no request, when such a child cannot be owned: it has no name, or one that cannot stand in
    /// a path, is in another namespace than a namespaced owner, or in none.
    pub async fn apply_child<C: Object>(&self, intent: C) -> Result<Applied<C>> {
        self.apply(intent, false).await
    }

    /// As [`apply_child`](Self::apply_child), but an object of that name which has no controller becomes this one's
    /// child: it is brought in line with `intent`, and is deleted with its owner from now on. What it has beyond the
    /// intent stays. Where two owners reach for one object, one gets it.
    ///
    /// # Errors
    ///
    /// As [`apply_child`](Self::apply_child): an object that another one controls is never touched.
    pub async fn adopt_child<C: Object>(&self, intent: C) -> Result<Applied<C>> {
        self.apply(intent, true).await
    }

    async fn apply<C: Object>(&self, intent: C, adopts: bool) -> Result<Applied<C>> {
        let owner = self.owner_reference();
        let key = self.key_of_child(&intent)?;
        let source = self.source::<C>().ok();
        let child = Child {
            requests: Requests::beside(&self.shared.client, &key),
            intent: self.complete(intent, &key, &owner)?,
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
        let mut applied = child.apply(cached.as_deref()).await;
        let is_new = matches!(applied, Ok(Applied::Created(_)));
        match &mut applied {
            Ok(Applied::Created(written) | Applied::Updated(written)) => {
                if let Some(source) = source {
                    // What was made anew, nobody has changed; all else may have been, where the cache does not say.
                    let news = match &cached {
                        Some(known) => child.shows_others(known, written)?,
                        None => !is_new,
                    };
                    let except = (!news).then_some(source.subscription);
                    source.informer.observe_write(written.clone(), except);
                }
                written.meta_mut().managed_fields = None;
            }
            Err(Error::NotOwned(found)) => self.wait_for(found, cached.as_ref())?,
            _ => {}
        }
        if self.is_gone() {
            self.shared.applies.forget_owner(&self.key);
            self.shared.blocked.forget_owner(&self.key);
        }
        applied
    }

    /// Has this object reconciled again when the one in its child's place changes hands or goes.
    fn wait_for<C: Object>(&self, found: &NotOwned, cached: Option<&Arc<C>>) -> Result<()> {
        let (key, blocked) = (&found.key, &self.shared.blocked);
        blocked.wait::<C>(key, &self.key);
        let watched = self.shared.sources.contains_key(&TypeId::of::<C>());
        let Some(source) = self.source::<C>().ok().filter(|_| watched) else {
            blocked.ask::<C>(&self.shared.client, found);
            return Ok(());
        };
        let now = source.informer.store().get(key);
        if now.is_none() && cached.is_none() && source.informer.selects() {
            blocked.ask::<C>(&self.shared.client, found);
            return Ok(());
        }
        // What changed before we waited has woken nobody.
        let version = |object: Option<&Arc<C>>| object.and_then(|object| object.meta().resource_version.clone());
        if cached.is_none() || version(now.as_ref()) != version(cached) {
            let text = format!("{} `{key}` is somebody else's, and changing", C::kind(&()));
            return Err(Error::retry(text));
        }
        Ok(())
    }

    /// Whether the object went while it was worked on. Whoever hears of its end clears up; what is remembered afterwards, is
    /// cleared up by who remembers it.
    fn is_gone(&self) -> bool {
        self.shared.main.informer.store().get(&self.key).is_none()
    }

    /// Deletes the children of kind `C` whose names are not in `keep`: those that an earlier spec asked for and this one
    /// does not. Returns how many.
    ///
    /// # Guarantees
    ///
    /// - What there is to delete is observed, never remembered: it is found after any restart. Call it after the
    ///   children of this spec are made, in every reconcile; with nothing to delete it sends nothing.
    /// - Only objects whose controller is this very object (by uid) are deleted, and only while they are the ones that were
    ///   seen (by uid). Those that are on their way out already are left to it.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] where the controller does not declare [`prunes`](crate::Controller::prunes);
    /// [`Error::Kube`] when a request fails, after which the rest is found by the next reconcile.
    pub async fn prune_children<C: Object>(&self, keep: &[&str]) -> Result<usize> {
        let children = self.children::<C>()?;
        if !self.shared.prunes.contains(&TypeId::of::<C>()) {
            let (controller, kind) = (&self.shared.manager, C::kind(&()));
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
            let requests = Requests::<C>::beside(&self.shared.client, &ObjectKey::of(&*child));
            deleted += usize::from(requests.delete(name, uid).await?);
        }
        Ok(deleted)
    }

    /// Where a child goes, if it can be this object's at all: the garbage collector takes an owner that it does not find
    /// in its child's namespace, or in none, for gone.
    pub(crate) fn key_of_child<C: Object>(&self, intent: &C) -> Result<ObjectKey> {
        let (kind, meta) = (C::kind(&()), intent.meta());
        let name = meta.name.as_deref().unwrap_or_default();
        let refuse = |text: &str| Err(Error::Setup(format!("a child of kind {kind} {text}")));
        if name.is_empty() {
            return refuse("has no name");
        }
        if let Err(why) = check_name(name) {
            return refuse(&format!("cannot be named `{}`: {why}", name.escape_debug()));
        }
        if !is_namespaced::<C>() {
            if self.key.namespace().is_some() {
                return refuse("is cluster-scoped, and its owner is not");
            }
            return Ok(ObjectKey::new(None, name));
        }
        let asked = meta.namespace.as_deref();
        if self.key.namespace().is_some() && asked.is_some_and(|asked| asked != self.namespace()) {
            return refuse("is meant for another namespace than its owner's");
        }
        let namespace = asked.unwrap_or(self.namespace());
        if let Err(why) = check_namespace(namespace) {
            return refuse(&format!("cannot be in namespace `{}`: {why}", namespace.escape_debug()));
        }
        Ok(ObjectKey::new(Some(namespace), name))
    }

    pub(crate) fn owner_reference(&self) -> OwnerReference {
        let meta = self.object.meta();
        OwnerReference {
            api_version: K::api_version(&()).into_owned(),
            kind: K::kind(&()).into_owned(),
            name: meta.name.clone().unwrap_or_default(),
            uid: meta.uid.clone().unwrap_or_default(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }

    /// The intent as it is sent: with its place, its owner and the operator's label, and without what is not its to say.
    pub(crate) fn complete<C: Object>(&self, mut child: C, key: &ObjectKey, owner: &OwnerReference) -> Result<Value> {
        let meta = child.meta_mut();
        meta.owner_references.get_or_insert_default().push(owner.clone());
        meta.managed_fields = None;
        meta.resource_version = None;
        self.shared.label.set(meta);
        let mut intent = serde_json::to_value(child).map_err(Error::retry)?;
        if is_namespaced::<C>() {
            intent["metadata"]["namespace"] = json!(key.namespace());
        }
        if let Some(intent) = intent.as_object_mut() {
            intent.remove("status");
        }
        Ok(intent)
    }
}
