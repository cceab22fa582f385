//! What a reconciler may use: who it is called for, the cache, the owned children, the status, events.

mod blocked;
mod cache;
mod children;
mod claim;
mod keep_pods;
mod orphans;
mod shared;
mod status;

use std::sync::Arc;

use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;

pub use self::keep_pods::KeptPods;
pub(crate) use self::{
    blocked::Blocked,
    cache::OWNER_INDEX,
    keep_pods::Deleted,
    orphans::{ORPHAN_INDEX, Selector, orphan_handler, orphan_namespace},
    shared::{InFlight, Shared, Source},
};
use crate::{api::Requests, error::Result, events::EventType, key::ObjectKey, object::Object};

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

    /// Key and value of the label that every child made through the context carries. The cache of a kind that is only
    /// [owned](crate::Controller::owns) holds the objects with this label: set it on children that are made past the context.
    pub fn child_label(&self) -> (&'static str, &str) {
        self.shared.label.pair()
    }

    /// How many runs for this object have failed in a row before this one; 0 at first.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// A number of this process that is in every log line of this reconcile.
    pub fn reconcile_id(&self) -> u64 {
        self.reconcile_id
    }

    /// The object as the API server has it now, past the cache; `None` when it is gone or another one has its name.
    ///
    /// # Errors
    ///
    /// [`Error::Kube`](crate::Error::Kube) when the request fails.
    pub async fn live(&self) -> Result<Option<K>> {
        let live = Requests::<K>::beside(&self.shared.client, &self.key)
            .get(self.key.name())
            .await?;
        Ok(live.filter(|live| live.meta().uid == self.object.meta().uid))
    }

    /// Records an event about the object. It never waits, and never fails: equal events are counted together, and what
    /// the API server cannot take in time is dropped. `reason` is one CamelCase word; `note` is cut at 1 kB.
    pub fn event(&self, type_: EventType, reason: &str, note: impl Into<String>) {
        self.shared
            .recorder
            .event(&self.reference(), type_, reason, "Reconcile", &note.into());
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
