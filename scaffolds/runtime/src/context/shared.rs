//! What all reconciles of one controller share: its client, its caches, and what is under way.

use std::{
    any::{Any, TypeId},
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use kube::Client;
use serde_json::Value;

use crate::{
    child::Applies,
    claim::{Deleted, Selector},
    events::Recorder,
    informer::{Informer, SubscriptionId},
    key::ObjectKey,
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
    pub(super) fn wait<C: 'static>(&self, child: &ObjectKey, owner: &ObjectKey) {
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

    pub(super) fn begin(self: &Arc<Self>, key: &ObjectKey, status: Value) -> InFlightGuard {
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

pub(super) struct InFlightGuard {
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
