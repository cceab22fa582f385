//! Watches the objects of one kind into a [`Store`] and notifies subscribers of changes. One informer serves all
//! controllers of a process; it does not depend on queues or owners.

mod chosen;
mod config;
pub(crate) mod decode;
mod delta;
mod dispatch;
mod echo;
mod health;
mod list_watch;
pub(crate) mod managed;
mod membership;
mod merge;
mod own;
mod paging;
mod place;
mod presence;
mod reflection;
mod relist;
mod shared_use;
mod watch;

use std::fmt::{self, Debug};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kube::{Client, Resource};
use serde::de::DeserializeOwned;
use tokio::{sync::watch::Sender, task::JoinSet, time::sleep_until};

pub use self::config::{InformerConfig, Scope, Selectors};
pub use self::delta::Delta;
pub use self::dispatch::SubscriptionId;
pub(crate) use self::paging::paged;
use self::{
    dispatch::{Dispatch, Handler},
    health::Health,
    place::WatchRequest,
    presence::Presence,
    reflection::{Broken, Reflection},
    shared_use::SharedUses,
};
use crate::{isolate::Authored, key::ObjectKey, kind::Kind, store::Store};

/// A kind that can be watched. Implemented for every type that meets the bounds.
pub trait Watchable: Resource + DeserializeOwned + Clone + Debug + Send + Sync + 'static {}

impl<K: Resource + DeserializeOwned + Clone + Debug + Send + Sync + 'static> Watchable for K {}

/// A handle on one kind's watches, store and subscribers. Cheap to clone.
///
/// # Flow
/// [`Informer::new`], indexes and subscribers, [`Informer::run`] on a task of its own, [`Informer::synced`].
///
/// # Guarantees
/// - Each namespace of the scope has a watch on its own task with its own backoff (0.8 s to 30 s, jittered): a watch
///   that fails, or is forbidden, delays no other. A watch is retried without limit, and does not need to be polled.
/// - Deltas are delivered to every subscriber, in the order of the store's changes, after the store shows them:
///   handlers run one at a time and must not block. A handler's panic is logged; the informer goes on.
/// - A deletion is delivered even if it happened while the watch was down: the next list finds it.
/// - A version is delivered once, even if several lists and watches show it; an older version is never delivered.
/// - If the kind [may be absent](InformerConfig::optional), the informer counts as synced without it. The first list
///   starts when the API server serves the kind; when it no longer does, every object is delivered as deleted.
/// - An object that cannot be decoded as `K` is kept separately ([`Store::invalid`], [`Delta::Invalid`]) and delays
///   nothing.
///
/// # Caveats
/// After the cluster's etcd was restored from a backup, resource versions start from an earlier number: restart the
/// process, as Kubernetes requires of every client with a cache.
///
/// For metadata only, use `Informer<PartialObjectMeta<K>>`.
pub struct Informer<K> {
    shared: Arc<SharedInformer<K>>,
}

struct SharedInformer<K> {
    kind: Kind<K>,
    client: Client,
    config: InformerConfig<K>,
    /// The requests of controllers: set when all uses of the kind are known.
    uses: Mutex<SharedUses>,
    /// Notifies the watches that they start again with a list.
    restarts: Sender<()>,
    /// Each has a watch of its own.
    places: Vec<WatchRequest>,
    store: Store<K>,
    /// Locked for every change, before the store's own lock; readers of the store lock only the latter.
    state: Mutex<InformerState<K>>,
    health: Health,
    presence: Presence,
    /// Counts own writes whose versions cannot be compared with what is stored.
    unordered: AtomicU64,
}

struct InformerState<K> {
    reflection: Reflection<K>,
    dispatch: Dispatch<K>,
}

/// A subscriber's registration. Dropping it has no effect: a subscription lasts as long as the informer, unless it is
/// [ended](Informer::unsubscribe).
#[derive(Debug)]
pub struct Subscription {
    id: SubscriptionId,
}

impl Subscription {
    /// For [`Informer::observe_write`], which does not notify a subscriber of its own writes.
    pub fn id(&self) -> SubscriptionId {
        self.id
    }
}

/// The informer has an index of this name already. The first one stays.
#[derive(Debug, thiserror::Error)]
#[error("there is an index `{0}` already")]
pub struct DuplicateIndex(pub &'static str);

impl<K: Watchable> Informer<K> {
    /// An informer that does nothing until it is run.
    pub fn new(client: Client, config: InformerConfig<K>) -> Self
    where
        K: Resource<DynamicType = ()>,
    {
        Self::of(client, Kind::of(), config)
    }

    /// As [`Self::new`], for a kind that may have no Rust type.
    pub fn of(client: Client, kind: Kind<K>, config: InformerConfig<K>) -> Self {
        let store = Store::new();
        let places = WatchRequest::all(&kind, &config);
        let (reflection, dispatch) = (Reflection::new(store.clone(), places.clone()), Dispatch::new());
        Self {
            shared: Arc::new(SharedInformer {
                kind,
                client,
                uses: Mutex::default(),
                restarts: Sender::new(()),
                store,
                state: Mutex::new(InformerState { reflection, dispatch }),
                health: Health::new(places.len()),
                places,
                presence: Presence::new(config.optional),
                config,
                unordered: AtomicU64::new(0),
            }),
        }
    }

    /// Calls `handler` for every later change. Objects that are stored already are delivered first, as `Added {
    /// initial: true }`, or `Invalid`.
    ///
    /// The handler must not block: it runs on the informer's task, or on the task of a caller of
    /// [`Self::observe_write`], and all other changes wait for it.
    pub fn subscribe(&self, handler: impl Fn(&Delta<K>) + Send + Sync + 'static) -> Subscription {
        let handler: Handler<K> = Authored::new(Arc::new(handler));
        let id = self.shared.change(|state| {
            let replay = state.reflection.replay();
            state.dispatch.join(handler, replay)
        });
        Subscription { id }
    }

    /// As [`Self::subscribe`], as a further handler of a subscriber: a write that one of them observes notifies neither.
    pub(crate) fn subscribe_as(&self, id: SubscriptionId, handler: impl Fn(&Delta<K>) + Send + Sync + 'static) {
        let handler: Handler<K> = Authored::new(Arc::new(handler));
        self.shared.change(|state| {
            let replay = state.reflection.replay();
            state.dispatch.join_as(id, handler, replay);
        });
    }

    /// Allows [`Store::by_index`] to find objects by the values that `values` returns for them. May be called at any
    /// time, and includes objects that are stored already. The function must return the same values for the same
    /// object, and must not block.
    ///
    /// # Errors
    /// If there is an index of that name.
    pub fn add_index(
        &self,
        name: &'static str,
        values: impl Fn(&K) -> Vec<String> + Send + Sync + 'static,
    ) -> Result<(), DuplicateIndex> {
        let mut contents = self.shared.store.write();
        let is_added = contents.add_index(name, Authored::new(Arc::new(values)));
        is_added.then_some(()).ok_or(DuplicateIndex(name))
    }

    /// Ends a subscription. Changes that are being delivered may still reach the handler; later ones do not.
    pub fn unsubscribe(&self, subscription: SubscriptionId) {
        // The handlers that are not used any more are dropped when the lock is not held.
        let _earlier = self.shared.change(|state| state.dispatch.leave(subscription));
    }

    /// Whether the object of this key is in a watched namespace.
    pub(crate) fn covers(&self, key: &ObjectKey) -> bool {
        self.shared.places.iter().any(|place| place.covers(key))
    }

    /// False while the kind may be absent and is: the API server did not serve it when it was last asked.
    pub fn is_served(&self) -> bool {
        self.shared.health.is_served()
    }

    /// Waits until [`Self::is_served`] has this value.
    pub(crate) async fn until_served_is(&self, served: bool) {
        self.shared.health.until_served_is(served).await;
    }

    /// The kind of the objects.
    pub fn kind(&self) -> &Kind<K> {
        &self.shared.kind
    }

    /// The namespaces that are watched; `None` stands for all.
    pub(crate) fn namespaces(&self) -> impl Iterator<Item = Option<&str>> {
        self.shared.places.iter().map(|place| place.namespace.as_deref())
    }

    /// The store of the objects.
    pub fn store(&self) -> Store<K> {
        self.shared.store.clone()
    }

    /// Watches until `shutdown` resolves: for example a cancellation token's `cancelled()` or a watch channel's
    /// `wait_for`. When this returns, or is dropped, its tasks have ended. The store stays readable. It returns before
    /// `shutdown` resolves only if one of its tasks has ended unexpectedly, which is logged.
    ///
    /// An informer runs once; a second call only waits for its `shutdown`.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send) {
        let mut tasks = JoinSet::new();
        if !std::mem::replace(&mut self.shared.uses().started, true) {
            self.shared.health.started();
            for source in 0..self.shared.places.len() {
                tasks.spawn(watch::watch(self.shared.clone(), source));
            }
            if let Some(period) = self.shared.config.resync {
                tasks.spawn(watch::resync(self.shared.clone(), period));
            }
        }
        tokio::select! {
            () = shutdown => {}
            Some(ended) = tasks.join_next() => {
                let kind = self.shared.kind.kind();
                tracing::error!(%kind, "a task of the informer ended unexpectedly: {:?}", ended.err());
            }
        }
        tasks.shutdown().await;
    }

    /// Waits until the first list of every namespace is stored and delivered to the subscribers. Has no time-out:
    /// [`Self::last_error`] returns why it still waits.
    pub async fn synced(&self) {
        self.shared.health.synced().await;
    }

    /// As [`Self::synced`], but returns false once a first list has made no progress for `limit`, since it [may begin](Self::hold).
    pub(crate) async fn synced_unless_stalled(&self, limit: Duration) -> bool {
        self.shared.until_it_may_list().await;
        loop {
            let Some(progressed) = self.shared.health.progressed() else {
                self.synced().await;
                return true;
            };
            tokio::select! {
                () = self.synced() => return true,
                () = sleep_until(progressed + limit) => {}
            }
            if self.shared.health.progressed() == Some(progressed) {
                return false;
            }
        }
    }

    /// The watched namespaces, such as `in all namespaces`.
    pub(crate) fn place(&self) -> String {
        match &self.shared.config.scope {
            Scope::Cluster => "in all namespaces".to_owned(),
            Scope::Namespaces(names) => {
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                format!("in {}", names.join(", "))
            }
        }
    }

    /// Whether [`Self::synced`] would return at once. Stays true when a watch fails later.
    pub fn has_synced(&self) -> bool {
        self.shared.health.has_synced()
    }

    /// The failing watches with their last errors, such as `watch of foobars.test.example.com in all namespaces: 403
    /// …`; `None` while all work. An error may remain for 50 s after the watch was resumed, if nothing happens
    /// meanwhile.
    pub fn last_error(&self) -> Option<String> {
        self.shared.health.last_error()
    }

    /// The number of failing watches.
    pub(crate) fn failing(&self) -> usize {
        self.shared.health.failing()
    }
}

impl<K: Watchable> SharedInformer<K> {
    /// Changes the state, then notifies subscribers.
    fn change<T>(&self, change: impl FnOnce(&mut InformerState<K>) -> T) -> T {
        let result = change(&mut self.lock());
        self.notify_pending();
        result
    }

    fn trim(&self, object: K) -> Result<K, Broken> {
        self.config.trim(object, self.uses().keep_records())
    }

    fn lock(&self) -> MutexGuard<'_, InformerState<K>> {
        // Under this lock, the only code from outside of this module are index functions and destructors, whose panics
        // are caught, and `Deserialize` of texts that it has decoded before.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K> Clone for Informer<K> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

impl<K> Debug for Informer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Informer")
            .field("kind", &self.shared.kind)
            .field("config", &self.shared.config)
            .finish()
    }
}
