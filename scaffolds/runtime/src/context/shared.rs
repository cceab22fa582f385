//! The shared state of a controller's reconciles: its client, its caches, and its writes in progress.

use std::{
    any::Any,
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use kube::Client;
use serde_json::Value;

use super::{Blocked, Deleted, Disowned, Losses, Selector, Unchosen};
use crate::{
    child::{Applies, ChildLabel},
    clock::Clock,
    events::Recorder,
    informer::{Informer, SubscriptionId, Watchable},
    key::ObjectKey,
    kind::{Kind, KindId},
    namespaces::Gate,
    queue::WorkQueue,
};

/// One kind that a controller reads: the shared informer and the controller's own subscription.
pub(crate) struct KindSource<K> {
    pub(crate) informer: Informer<K>,
    pub(crate) subscription: SubscriptionId,
    pub(crate) writes: Writes,
}

/// With which ownership a controller applies objects of a kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Writes {
    /// As the controller of each child.
    pub(crate) owns: bool,
    /// As one of several owners.
    pub(crate) shares: bool,
    /// Without an owner.
    pub(crate) unowned: bool,
}

impl Writes {
    pub(crate) fn any(self) -> bool {
        self.owns || self.shares || self.unowned
    }

    /// Both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            owns: self.owns || other.owns,
            shares: self.shares || other.shares,
            unowned: self.unowned || other.unowned,
        }
    }
}

/// The state of one controller, which its event handlers and its reconciles change.
pub(crate) struct ControllerState {
    pub(crate) controller: Arc<str>,
    pub(crate) queue: WorkQueue,
    pub(crate) gate: Gate,
    pub(crate) applies: Applies,
    pub(crate) blocked: Blocked,
    pub(crate) unchosen: Unchosen,
    pub(crate) deleted: Deleted,
    pub(crate) disowned: Disowned,
    pub(crate) losses: Losses,
    pub(crate) in_flight: InFlight,
}

impl ControllerState {
    pub(crate) fn new(controller: &str, queue: WorkQueue, gate: Gate) -> Arc<Self> {
        Arc::new(Self {
            controller: controller.into(),
            queue,
            gate,
            applies: Applies::default(),
            blocked: Blocked::default(),
            unchosen: Unchosen::default(),
            deleted: Deleted::default(),
            disowned: Disowned::default(),
            losses: Losses::default(),
            in_flight: InFlight::default(),
        })
    }
}

/// The shared parts of a controller's reconciles.
pub(crate) struct ReconcileShared<K> {
    pub(crate) client: Client,
    pub(crate) recorder: Recorder,
    pub(crate) clock: Clock,
    /// The field manager, by which our own writes are recognised.
    pub(crate) manager: String,
    /// Whether the manager has a controller of a name, or may start one.
    pub(crate) knows: Box<dyn Fn(&str) -> bool + Send + Sync>,
    /// The label by which the caches select children.
    pub(crate) label: ChildLabel,
    pub(crate) state: Arc<ControllerState>,
    /// The namespace of the children of cluster-scoped objects.
    pub(crate) namespace: String,
    pub(crate) main: KindSource<K>,
    pub(crate) sources: HashMap<KindId, Box<dyn Any + Send + Sync>>,
    pub(crate) prunes: HashSet<KindId>,
    /// Whether another controller owns the status of the main kind.
    pub(crate) foreign: bool,
    pub(crate) claims: HashMap<KindId, Selector<K>>,
}

impl<K: Watchable> ReconcileShared<K> {
    /// The kind that the controller reconciles.
    pub(crate) fn kind(&self) -> &Kind<K> {
        self.main.informer.kind()
    }
}

/// Patches of reconciled objects in progress, so that a watch event that arrives before the response is recognised as
/// our own.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<HashMap<ObjectKey, Sent>>);

/// The fields that a patch in progress sets.
#[derive(Clone)]
pub(crate) enum Sent {
    Status(Value),
    Finalizers(Vec<String>),
}

impl InFlight {
    pub(crate) fn get(&self, key: &ObjectKey) -> Option<Sent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub(crate) fn begin(&self, key: &ObjectKey, sent: Sent) -> InFlightGuard<'_> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key.clone(), sent);
        InFlightGuard {
            of: self,
            key: key.clone(),
        }
    }
}

pub(crate) struct InFlightGuard<'a> {
    of: &'a InFlight,
    key: ObjectKey,
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.of
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.key);
    }
}
