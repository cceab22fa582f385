//! What a reconciler may use: the cache, the owned children, the status, events.

use std::{
    any::{Any, TypeId},
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use k8s_openapi::{
    api::core::v1::ObjectReference,
    apimachinery::pkg::apis::meta::v1::{Condition, OwnerReference},
};
use kube::{Client, api::Patch, core::object::HasStatus};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    Object,
    api::Requests,
    child::{Applied, Applies, Child},
    claim::{Deleted, Selector},
    error::{Error, Result},
    events::{EventType, Recorder},
    informer::{Informer, SubscriptionId},
    key::ObjectKey,
    patch::merge_diff,
    status,
};

/// One kind that a controller reads: the shared informer and the controller's own place among its subscribers.
pub(crate) struct Source<K> {
    pub(crate) informer: Informer<K>,
    pub(crate) subscription: SubscriptionId,
}

/// Owners that wait for an object which is not theirs to go away, by that object's name.
#[derive(Default)]
pub(crate) struct Blocked(Mutex<HashMap<(TypeId, ObjectKey), Vec<ObjectKey>>>);

impl Blocked {
    fn wait<C: 'static>(&self, child: &ObjectKey, owner: &ObjectKey) {
        let mut blocked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let owners = blocked.entry((TypeId::of::<C>(), child.clone())).or_default();
        if !owners.contains(owner) {
            owners.push(owner.clone());
        }
    }

    pub(crate) fn wake<C: 'static>(&self, child: &ObjectKey) -> Vec<ObjectKey> {
        let mut blocked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if blocked.is_empty() {
            Vec::new()
        } else {
            blocked.remove(&(TypeId::of::<C>(), child.clone())).unwrap_or_default()
        }
    }
}

/// What all reconciles of one controller share.
pub(crate) struct Shared<K> {
    pub(crate) client: Client,
    pub(crate) recorder: Recorder,
    /// The field manager, which is also how our own writes are told from others'.
    pub(crate) manager: String,
    /// Where children of cluster-scoped objects live.
    pub(crate) namespace: String,
    pub(crate) main: Source<K>,
    pub(crate) sources: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
    pub(crate) prunes: HashSet<TypeId>,
    /// Whether the status of the main kind is another controller's.
    pub(crate) foreign: bool,
    pub(crate) applies: Arc<Applies>,
    pub(crate) blocked: Arc<Blocked>,
    pub(crate) claims: HashMap<TypeId, Selector<K>>,
    pub(crate) deleted: Arc<Deleted>,
    pub(crate) in_flight: Arc<InFlight>,
}

/// Status patches that are on their way, so that a watch event which overtakes the response is known as our own.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<HashMap<ObjectKey, Value>>);

impl InFlight {
    pub(crate) fn get(&self, key: &ObjectKey) -> Option<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn begin(self: &Arc<Self>, key: &ObjectKey, status: Value) -> InFlightGuard {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key.clone(), status);
        InFlightGuard {
            of: self.clone(),
            key: key.clone(),
        }
    }
}

struct InFlightGuard {
    of: Arc<InFlight>,
    key: ObjectKey,
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.of
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.key);
    }
}

/// One reconcile of one object of kind `K`: handed to the [`Reconciler`](crate::Reconciler), not kept.
///
/// Reads come from the cache. A cached object is not for sending back as a whole: of its `managedFields` at most this
/// operator's records are kept, in a form of their own. Change it with [`apply_child`](Self::apply_child), a patch, or
/// after a [`live`](Self::live) read. Writes made through the context are in the cache before the call returns, so the next
/// reconcile of this process never sees a world older than its own writes.
pub struct Context<K> {
    pub(crate) shared: Arc<Shared<K>>,
    pub(crate) key: ObjectKey,
    pub(crate) object: Arc<K>,
    pub(crate) attempt: u32,
    pub(crate) reconcile_id: u64,
}

impl<K: Object> Context<K> {
    /// The client, for requests that the context has no word for. What is written with it reaches the cache by the
    /// watch only.
    pub fn client(&self) -> &Client {
        &self.shared.client
    }

    /// The name of the object being reconciled.
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    /// The namespace for children that name none: the object's own, or the operator's where the object is cluster-scoped.
    pub fn namespace(&self) -> &str {
        self.key.namespace().unwrap_or(&self.shared.namespace)
    }

    /// How many runs for this object have failed in a row before this one; 0 at first.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// A number of this process that is in every log line of this reconcile.
    pub fn reconcile_id(&self) -> u64 {
        self.reconcile_id
    }

    /// The object `name` beside this one, or of a cluster-scoped kind, from the cache. The kind must be reconciled, owned
    /// or watched by this controller.
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

    /// All cached objects of an owned or watched kind whose controller is this object.
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
        Ok(store.by_index(OWNER_INDEX, uid))
    }

    /// The object as the API server has it now, past the cache; `None` when it is gone or another one has its name.
    ///
    /// # Errors
    ///
    /// [`Error::Kube`] when the request fails.
    pub async fn live(&self) -> Result<Option<K>> {
        let live = Requests::<K>::beside(&self.shared.client, &self.key)
            .get(self.key.name())
            .await?;
        Ok(live.filter(|live| live.meta().uid == self.object.meta().uid))
    }

    /// Makes one child as `intent` says: created when missing, repaired when it differs, and left alone, without a
    /// request, when it is as it should be. `intent` is complete: a field that an earlier one had and this one lacks is
    /// removed. Fields of other writers stay.
    ///
    /// The child gets this object as its controller, and its namespace where it names none: see
    /// [`namespace`](Self::namespace). Kubernetes deletes it with its owner.
    ///
    /// # Errors
    ///
    /// [`Error::NotOwned`] when an object of that name belongs to somebody else, or to nobody; it is not touched, and this
    /// object is reconciled again once it changes. [`Error::Kube`] when a request fails. [`Error::Setup`] when such a
    /// child cannot be owned: it has no name, is in another namespace than a namespaced owner, or in none.
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
            intent: complete(intent, &key, &owner)?,
            key: &key,
            owner: &owner,
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
        match (&mut applied, source) {
            (Ok(Applied::Created(written) | Applied::Updated(written)), source) => {
                let records = written.meta_mut().managed_fields.take();
                if let Some(source) = source {
                    let mut written = written.clone();
                    written.meta_mut().managed_fields = records;
                    source.informer.observe_write(written, Some(source.subscription));
                }
            }
            (Err(Error::NotOwned(_)), Some(source)) => {
                self.shared.blocked.wait::<C>(&key, &self.key);
                // What changed before we waited has woken nobody.
                let version =
                    |object: Option<&Arc<C>>| object.and_then(|object| object.meta().resource_version.clone());
                let now = source.informer.store().get(&key);
                if cached.is_none() || version(now.as_ref()) != version(cached.as_ref()) {
                    let text = format!("{} `{key}` is somebody else's, and changing", C::kind(&()));
                    return Err(Error::retry(text));
                }
            }
            _ => {}
        }
        applied
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
            let text = format!("`{controller}` does not say that it prunes {kind}");
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

    /// A condition of this object, tied to the generation being reconciled.
    pub fn condition(&self, type_: &str, verdict: bool, reason: &str, message: impl Into<String>) -> Condition {
        Condition {
            observed_generation: self.object.meta().generation,
            ..status::condition(type_, verdict, reason, message)
        }
    }

    /// Changes the object's status, through the status subresource: the spec and the generation are never touched.
    /// Returns whether anything was written; a change that leaves the status equal sends nothing, and the write
    /// does not trigger this controller again.
    ///
    /// # Errors
    ///
    /// [`Error::Kube`] when the request fails; a 409, because the object changed meanwhile, is
    /// [`Class::Conflict`](crate::Class::Conflict) and soon retried.
    pub async fn patch_status(&self, change: impl FnOnce(&mut K::Status)) -> Result<bool>
    where
        K: HasStatus,
        K::Status: Clone + Default + PartialEq + Serialize,
    {
        let latest = self.latest();
        let before = latest.status().cloned().unwrap_or_default();
        let mut after = before.clone();
        change(&mut after);
        if latest.status().is_some() && before == after {
            return Ok(false);
        }
        let before = latest
            .status()
            .map_or(Value::Null, |_| serde_json::to_value(&before).unwrap_or_default());
        self.send_status(&latest, &before, serde_json::to_value(&after).map_err(Error::retry)?)
            .await
    }

    /// Records an event about the object. It never waits, and never fails: equal events are counted together, and what
    /// the API server cannot take in time is dropped. `reason` is one CamelCase word; `note` is cut at 1 kB.
    pub fn event(&self, type_: EventType, reason: &str, note: impl Into<String>) {
        self.shared
            .recorder
            .event(&self.reference(), type_, reason, "Reconcile", &note.into());
    }

    /// The newest the cache has of this very object.
    pub(crate) fn latest(&self) -> Arc<K> {
        let cached = self.shared.main.informer.store().get(&self.key);
        cached
            .filter(|cached| cached.meta().uid == self.object.meta().uid)
            .unwrap_or_else(|| self.object.clone())
    }

    pub(crate) async fn send_status(&self, latest: &K, before: &Value, after: Value) -> Result<bool> {
        let Some(diff) = merge_diff(before, &after) else {
            return Ok(false);
        };
        let patch = json!({"metadata": {"resourceVersion": latest.meta().resource_version}, "status": diff});
        let guard = self.shared.in_flight.begin(&self.key, after);
        let written = self.patch(Some("status"), patch).await?;
        self.observe(written);
        drop(guard);
        Ok(true)
    }

    /// A merge patch of the object itself. The caller decides whether the answer belongs into the cache.
    pub(crate) async fn patch(&self, part: Option<&str>, patch: Value) -> Result<K> {
        let requests = Requests::<K>::beside(&self.shared.client, &self.key);
        requests
            .patch(self.key.name(), part, &Patch::Merge(patch), &self.shared.manager)
            .await
    }

    pub(crate) fn observe(&self, written: K) {
        self.shared
            .main
            .informer
            .observe_write(written, Some(self.shared.main.subscription));
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

    /// Where a child goes, if it can be this object's at all: the garbage collector takes an owner that it does not find
    /// in its child's namespace, or in none, for gone.
    pub(crate) fn key_of_child<C: Object>(&self, intent: &C) -> Result<ObjectKey> {
        let (kind, meta) = (C::kind(&()), intent.meta());
        let name = meta.name.as_deref().unwrap_or_default();
        let refuse = |text: &str| Err(Error::Setup(format!("a child of kind {kind} {text}")));
        if name.is_empty() {
            return refuse("has no name");
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
        Ok(ObjectKey::new(Some(asked.unwrap_or(self.namespace())), name))
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

    fn reference(&self) -> ObjectReference {
        let meta = self.object.meta();
        ObjectReference {
            api_version: Some(K::api_version(&()).into_owned()),
            kind: Some(K::kind(&()).into_owned()),
            namespace: meta.namespace.clone(),
            name: meta.name.clone(),
            uid: meta.uid.clone(),
            ..ObjectReference::default()
        }
    }
}

/// The index of every owned kind: the uid of an object's controller.
pub(crate) const OWNER_INDEX: &str = "controller-uid";

/// The intent as it is sent: with its place and its owner, and without what is not its to say.
pub(crate) fn complete<C: Object>(mut child: C, key: &ObjectKey, owner: &OwnerReference) -> Result<Value> {
    let meta = child.meta_mut();
    meta.owner_references.get_or_insert_default().push(owner.clone());
    meta.managed_fields = None;
    meta.resource_version = None;
    let mut intent = serde_json::to_value(child).map_err(Error::retry)?;
    if is_namespaced::<C>() {
        intent["metadata"]["namespace"] = json!(key.namespace());
    }
    if let Some(intent) = intent.as_object_mut() {
        intent.remove("status");
    }
    Ok(intent)
}

/// Whether the kind lives in namespaces.
pub(crate) fn is_namespaced<K: Object>() -> bool {
    TypeId::of::<K::Scope>() != TypeId::of::<k8s_openapi::ClusterResourceScope>()
}
