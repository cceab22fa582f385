//! Notifies subscribers, in the order in which the store changed, and never under a lock: a handler may read the store,
//! subscribe or write through the informer.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{SharedInformer, Watchable, delta::Delta};
use crate::{isolate::Authored, kind::Kind};

/// Identifies a subscriber of an informer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SubscriptionId(u64);

pub(super) type Handler<K> = Authored<dyn Fn(&Delta<K>) + Send + Sync>;

/// Replaced as a whole, so that the notifying task can iterate over it without a lock.
type Subscribers<K> = Arc<Vec<(SubscriptionId, Handler<K>)>>;

/// Changes that subscribers have not been notified of. Stored with the state that changed, under the same lock.
pub(super) struct Dispatch<K> {
    subscribers: Subscribers<K>,
    pending: VecDeque<DispatchItem<K>>,
    /// A task is notifying. There is at most one at a time, which keeps the order; it also delivers what other tasks
    /// add meanwhile.
    busy: bool,
    last_id: u64,
    /// Subscribers that left while another task was about to admit them.
    left: Vec<SubscriptionId>,
}

enum DispatchItem<K> {
    Delta {
        delta: Delta<K>,
        except: Option<SubscriptionId>,
    },
    Join {
        id: SubscriptionId,
        handler: Handler<K>,
        replay: Vec<Delta<K>>,
    },
    Listed {
        source: usize,
        round: u64,
    },
    Absent {
        source: usize,
    },
}

impl<K> Dispatch<K> {
    pub(super) fn new() -> Self {
        Self {
            subscribers: Arc::default(),
            pending: VecDeque::new(),
            busy: false,
            last_id: 0,
            left: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, deltas: impl IntoIterator<Item = Delta<K>>, except: Option<SubscriptionId>) {
        self.pending
            .extend(deltas.into_iter().map(|delta| DispatchItem::Delta { delta, except }));
    }

    /// Adds a subscriber that gets `replay`, and then the later changes.
    pub(super) fn join(&mut self, handler: Handler<K>, replay: Vec<Delta<K>>) -> SubscriptionId {
        self.last_id += 1;
        let id = SubscriptionId(self.last_id);
        self.join_as(id, handler, replay);
        id
    }

    /// As [`join`](Self::join), as a further handler of a subscriber.
    pub(super) fn join_as(&mut self, id: SubscriptionId, handler: Handler<K>, replay: Vec<Delta<K>>) {
        self.pending.push_back(DispatchItem::Join { id, handler, replay });
    }

    /// Adds a marker that `source` has been listed in this [round](super::health::Health::round), after all pending
    /// changes.
    pub(super) fn listed(&mut self, source: usize, round: u64) {
        self.pending.push_back(DispatchItem::Listed { source, round });
    }

    /// Adds a marker that the API server does not serve the kind to `source`, after all pending changes.
    pub(super) fn absent(&mut self, source: usize) {
        self.pending.push_back(DispatchItem::Absent { source });
    }

    /// Takes the pending changes and the subscribers; `None` if nothing is pending or another task is notifying.
    fn take(&mut self, mine: bool) -> Option<(VecDeque<DispatchItem<K>>, Subscribers<K>)> {
        if self.busy && !mine {
            return None;
        }
        self.busy = !self.pending.is_empty();
        self.busy
            .then(|| (std::mem::take(&mut self.pending), self.subscribers.clone()))
    }

    /// Removes a subscriber. Changes that are being delivered may still reach it. Returns the earlier subscribers, to be
    /// dropped when the lock is not held.
    pub(super) fn leave(&mut self, id: SubscriptionId) -> Subscribers<K> {
        let pending = self.pending.len();
        self.pending
            .retain(|item| !matches!(item, DispatchItem::Join { id: joining, .. } if *joining == id));
        let others = self.subscribers.iter().filter(|(known, _)| *known != id);
        let others: Vec<_> = others.cloned().collect();
        if self.busy && pending == self.pending.len() && others.len() == self.subscribers.len() {
            self.left.push(id);
        }
        std::mem::replace(&mut self.subscribers, Arc::new(others))
    }

    fn admit(&mut self, id: SubscriptionId, handler: Handler<K>) -> Subscribers<K> {
        if let Some(at) = self.left.iter().position(|left| *left == id) {
            self.left.swap_remove(at);
            return self.subscribers.clone();
        }
        let mut subscribers = Vec::clone(&self.subscribers);
        subscribers.push((id, handler));
        self.subscribers = Arc::new(subscribers);
        self.subscribers.clone()
    }
}

impl<K: Watchable> SharedInformer<K> {
    /// Notifies subscribers of all pending changes, unless another task is notifying: that task delivers them.
    pub(super) fn notify_pending(&self) {
        let mut mine = false;
        loop {
            // A statement of its own, because the lock must not be held while handlers run.
            let taken = self.lock().dispatch.take(mine);
            let Some((items, mut subscribers)) = taken else { return };
            mine = true;
            for item in items {
                match item {
                    DispatchItem::Delta { delta, except } => {
                        let others = subscribers.iter().filter(|(id, _)| Some(*id) != except);
                        others.for_each(|(_, handler)| call(&self.kind, handler, &delta));
                    }
                    DispatchItem::Join { id, handler, replay } => {
                        replay.iter().for_each(|delta| call(&self.kind, &handler, delta));
                        subscribers = self.lock().dispatch.admit(id, handler);
                    }
                    DispatchItem::Listed { source, round } => {
                        if self.health.listed(source, round) {
                            self.presence.notify(true);
                        }
                    }
                    DispatchItem::Absent { source } => {
                        if self.health.absent(source) {
                            self.presence.notify(false);
                        }
                    }
                }
            }
        }
    }
}

/// Calls one handler. If it panics, the others are still called and the watch goes on.
fn call<K: Watchable>(kind: &Kind<K>, handler: &Handler<K>, delta: &Delta<K>) {
    if let Err(panic) = handler.call(|handler| handler(delta)) {
        let (kind, object) = (kind.kind(), delta.key());
        tracing::error!(%kind, %object, "an informer's event handler panicked and missed one event: {panic}");
    }
}
