//! The tools of a reconciler: the object's key, the cache, the owned children, the status, events.

mod apply;
mod blocked;
mod cache;
mod children;
mod claim;
mod keep_pods;
mod losses;
mod of_kind;
mod orphans;
mod shared;
mod shared_objects;
mod status;
mod unchosen;
mod unowned;

use std::sync::{Arc, Mutex, PoisonError, atomic::AtomicBool};

use k8s_openapi::{api::core::v1::ObjectReference, jiff::Timestamp};
use kube::Client;

pub(crate) use self::{
    blocked::Blocked,
    cache::OWNER_INDEX,
    keep_pods::{Deleted, Disowned},
    losses::Losses,
    orphans::{ORPHAN_INDEX, Selector, orphan_handler, orphan_namespace},
    shared::{ControllerState, InFlight, KindSource, ReconcileShared, Sent, Writes},
    shared_objects::{SHARED_INDEX, owner_uids},
    unchosen::Unchosen,
    unowned::{MARK_INDEX, marks},
};
pub use self::{keep_pods::KeptPods, of_kind::OfKind};
use crate::{
    api::Requests,
    error::{Error, Result},
    events::EventType,
    jitter,
    key::ObjectKey,
    kind::Kind,
    object::{AnyObject, Object},
    priority::{Priority, Wake},
};

/// One reconcile of one object of kind `K`, passed to the [`Reconciler`](crate::Reconciler), which must not keep it.
///
/// Reads come from the cache. Do not send a cached object back as a whole: at most this operator's `managedFields` are
/// kept, in a packed form. Change it with [`apply_child`](Self::apply_child), a patch, or after a [`live`](Self::live)
/// read. Writes made through the context are in the cache before the call returns, so the next reconcile of this
/// process never sees a state older than its own writes.
pub struct Context<K> {
    pub(crate) shared: Arc<ReconcileShared<K>>,
    pub(crate) key: ObjectKey,
    pub(crate) object: Arc<K>,
    pub(crate) attempt: u32,
    pub(crate) reconcile_id: u64,
    /// The priority of the next run, if the reconciler has set it.
    pub(crate) priority: Arc<Mutex<Option<Priority>>>,
    /// Whether the reconciler has changed the status in this run, or has left it equal.
    pub(crate) patched: Arc<AtomicBool>,
}

impl<K: AnyObject> Context<K> {
    /// The client, for requests that the context has no method for. Their effects reach the cache through the watch
    /// only.
    pub fn client(&self) -> &Client {
        &self.shared.client
    }

    /// The name of the object being reconciled.
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    /// The namespace for children that name none: the object's own, or the operator's if the object is cluster-scoped.
    pub fn namespace(&self) -> &str {
        self.key.namespace().unwrap_or(&self.shared.namespace)
    }

    /// Key and value of the label that every child made through the context carries. The cache of a kind that is only
    /// [owned](crate::Controller::owns) contains the objects with this label: set it on children that are created
    /// without the context.
    pub fn child_label(&self) -> (&'static str, &str) {
        self.shared.label.pair()
    }

    /// The time of the [manager's clock](crate::ManagerBuilder::clock). Read it in place of the system's, so that tests can set it.
    pub fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// Bytes of the operating system's random generator, for a password or a token of this object. In a simulation they
    /// depend only on its seed, the object and the purpose, so that runs can be compared.
    ///
    /// # Errors
    ///
    /// [`Error::Retry`] if `/dev/urandom` cannot be read.
    pub fn random<const N: usize>(&self, purpose: &str) -> Result<[u8; N]> {
        jitter::bytes(&format!("{} {purpose}", self.key)).map_err(Error::retry)
    }

    /// The number of consecutive reconciles of this object, before this one, that failed or returned a requeue with back-off; 0
    /// at first.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// A number, unique in this process, that is in every log line of this reconcile.
    pub fn reconcile_id(&self) -> u64 {
        self.reconcile_id
    }

    /// Requests a reconcile of another object of this controller, or of this one again, without a delay.
    pub fn wake(&self, wake: impl Into<Wake>) {
        let Wake { key, priority } = wake.into();
        self.shared.state.queue.add(key, priority.unwrap_or(Priority::Normal));
    }

    /// Sets the priority with which this object is requeued, by the returned action or after a failure. By default it
    /// keeps the priority with which it was queued for this reconcile.
    pub fn requeue_with(&self, priority: Priority) {
        *self.priority.lock().unwrap_or_else(PoisonError::into_inner) = Some(priority);
    }

    pub(crate) fn next_priority(&self) -> Option<Priority> {
        *self.priority.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the object from the API server, not from the cache; `None` if it is gone or another object has its name.
    ///
    /// # Errors
    ///
    /// [`Error::Kube`] if the request fails.
    pub async fn live(&self) -> Result<Option<K>> {
        let live = Requests::beside(&self.shared.client, self.shared.kind(), &self.key)
            .get(self.key.name())
            .await?;
        Ok(live.filter(|live| live.meta().uid == self.object.meta().uid))
    }

    /// Records an event about the object. It never waits, and never fails: equal events are counted together, and
    /// events that the API server cannot take in time are dropped. `reason` is one CamelCase word; `note` is cut at 1
    /// kB.
    pub fn event(&self, type_: EventType, reason: &str, note: impl Into<String>) {
        self.record(
            &reference(self.shared.kind(), &*self.object),
            type_,
            reason,
            note.into(),
        );
    }

    /// As [`event`](Self::event), about another object, such as one that this object uses: its users see what happens
    /// to it. The event is in that object's namespace, where the operator needs its permission for events too.
    /// [`OfKind::event_about`] is for kinds without a Rust type.
    pub fn event_about<C: Object>(&self, other: &C, type_: EventType, reason: &str, note: impl Into<String>) {
        self.of(&Kind::of()).event_about(other, type_, reason, note);
    }

    pub(super) fn record(&self, about: &ObjectReference, type_: EventType, reason: &str, note: String) {
        self.shared.recorder.event(about, type_, reason, "Reconcile", &note);
    }
}

/// An object as an event names it.
pub(super) fn reference<C: AnyObject>(kind: &Kind<C>, object: &C) -> ObjectReference {
    let meta = object.meta();
    ObjectReference {
        api_version: Some(kind.api_version()),
        kind: Some(kind.kind().to_owned()),
        namespace: meta.namespace.clone(),
        name: meta.name.clone(),
        uid: meta.uid.clone(),
        ..ObjectReference::default()
    }
}
