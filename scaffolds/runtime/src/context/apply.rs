//! Applies one object for the reconciled one, with whichever ownership; compares it with the cache, and keeps the cache
//! up to date.

use std::sync::Arc;

use k8s_openapi::ByteString;
use kube::api::Patch;
use serde_json::{Map, Value, json};

use super::{Context, KindSource};
use crate::{
    api::Requests,
    child::{Applied, Child, Done, Existing, Ownership},
    error::{Error, NotOwned, Result},
    key::ObjectKey,
    kind::Kind,
    object::AnyObject,
};

/// An object to be applied.
pub(super) struct Wanted<C> {
    pub(super) intent: C,
    pub(super) key: ObjectKey,
    pub(super) ownership: Ownership,
    pub(super) existing: Existing,
}

impl<K: AnyObject> Context<K> {
    /// Brings one object to its intent, and the cache to the response.
    pub(super) async fn apply<C: AnyObject>(&self, kind: &Kind<C>, wanted: Wanted<C>) -> Result<Applied<C>> {
        let Wanted {
            intent,
            key,
            ownership,
            existing,
        } = wanted;
        let source = self.source(kind).ok();
        if source.is_some_and(|source| !source.informer.is_served()) {
            return Err(Error::Absent(kind.kind().to_owned()));
        }
        let requests = Requests::beside(&self.shared.client, kind, &key);
        let child = Child {
            requests: &requests,
            intent: self.complete(kind, intent, &key, &ownership)?,
            key: &key,
            ownership: &ownership,
            owner_key: &self.key,
            manager: &self.shared.manager,
            applies: &self.shared.state.applies,
            existing,
            watched: source.is_some(),
        };
        let cached = match source {
            Some(source) => source.informer.store().get(&key),
            None => child.requests.get(key.name()).await?.map(Arc::new),
        };
        let mut done = match cached.as_deref() {
            Some(observed) => Box::pin(self.join(&child, observed)).await,
            None => Box::pin(self.apply_new(&child, source)).await,
        };
        match &mut done {
            Ok(Done {
                applied: Applied::Created(written) | Applied::Updated(written),
                news,
            }) => {
                if let Some(source) = source {
                    let except = (!*news).then_some(source.subscription);
                    source.informer.observe_write(written.clone(), except);
                }
                written.meta_mut().managed_fields = None;
            }
            Err(Error::NotOwned(found)) => self.wait_for(kind, found, cached.as_ref())?,
            _ => {}
        }
        if self.is_gone() {
            self.shared.state.applies.forget_owner(&self.key);
            self.shared.state.blocked.forget_owner(&self.key);
        }
        done.map(|done| done.applied)
    }

    /// Creates a child that the cache does not contain. If it exists nevertheless, because somebody removed its label or the
    /// watch is late, the reconciler has made its intent without the child, such as a new password for a Secret: the child is
    /// not changed in this run, and the next one finds it in the cache.
    async fn apply_new<C: AnyObject>(&self, child: &Child<'_, C>, source: Option<&KindSource<C>>) -> Result<Done<C>> {
        self.check_losses().await?;
        let found = match child.create().await? {
            Ok(done) => return Ok(done),
            Err(found) => found,
        };
        if let Some(source) = source.filter(|_| child.is(&found))
            && self.show(child, source, &found).await?
            && child.existing != Existing::Kept
        {
            return Err(Error::retry(format!(
                "{} `{}` exists, but was not in the cache, because its label was removed or the watch is late: it is not \
                 changed before the next reconcile",
                child.requests.kind().kind(),
                child.key
            )));
        }
        let done = self.join(child, &found).await?;
        Ok(Done { news: true, ..done })
    }

    /// Brings an existing object to the intent, unless it would be adopted for an owner that is being deleted: the
    /// garbage collector may just have orphaned the object, and would delete it with its new reference.
    async fn join<C: AnyObject>(&self, child: &Child<'_, C>, observed: &C) -> Result<Done<C>> {
        if child.adopts(observed) && !self.may_adopt().await? {
            let (kind, key) = (child.requests.kind().kind(), child.key);
            return Err(Error::retry(format!(
                "{kind} `{key}` is not adopted, because `{}` is being deleted",
                self.key
            )));
        }
        child.join(observed).await
    }

    /// Stores an existing child in the cache, with the operator's label. Returns false if the cache does not select it.
    async fn show<C: AnyObject>(&self, child: &Child<'_, C>, source: &KindSource<C>, found: &C) -> Result<bool> {
        let (label, meta) = (&self.shared.label, found.meta());
        let shown = if label.is_on(meta) {
            found.clone()
        } else {
            let patch = Patch::Merge(label.patch(meta.uid.as_deref()));
            // As the search for children without the label: not as the manager whose fields are compared with the intent.
            let manager = self.shared.manager.split('/').next().unwrap_or_default();
            child.requests.patch(child.key.name(), None, &patch, manager).await?
        };
        Ok(source.informer.observe_write(shown, None))
    }

    /// Reconciles this object again when the object that has its child's name gets another controller or is deleted.
    fn wait_for<C: AnyObject>(&self, kind: &Kind<C>, found: &NotOwned, cached: Option<&Arc<C>>) -> Result<()> {
        let (key, blocked) = (&found.key, &self.shared.state.blocked);
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
        // A change before we waited has caused no notification.
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
    pub(super) fn is_gone(&self) -> bool {
        !self.shared.main.informer.store().contains(&self.key)
    }

    /// The intent as it is sent: with its namespace, the name of this object and the operator's label, and without fields
    /// that an intent must not set.
    pub(crate) fn complete<C: AnyObject>(
        &self,
        kind: &Kind<C>,
        mut child: C,
        key: &ObjectKey,
        ownership: &Ownership,
    ) -> Result<Value> {
        let meta = child.meta_mut();
        ownership.set(meta);
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
        if (kind.group(), kind.kind()) == ("", "Secret") {
            encode_string_data(&mut intent);
        }
        Ok(intent)
    }
}

/// Moves the texts of a Secret's `stringData` into its `data`, as the API server does: a read shows only the latter.
fn encode_string_data(secret: &mut Value) {
    // Anything but texts is left for the server to refuse.
    let is_text = |texts: &Map<String, Value>| texts.values().all(Value::is_string);
    if !secret["stringData"].as_object().is_some_and(is_text) {
        return;
    }
    let Some(Value::Object(texts)) = secret.as_object_mut().and_then(|secret| secret.remove("stringData")) else {
        return;
    };
    if texts.is_empty() {
        return;
    }
    if !secret["data"].is_object() {
        secret["data"] = json!({});
    }
    for (name, text) in texts {
        let text = text.as_str().unwrap_or_default();
        secret["data"][name] = json!(ByteString(text.as_bytes().to_vec()));
    }
}
