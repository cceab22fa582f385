//! The namespaces in which the operator works, if a label selector chooses them: they join and leave while the manager runs.
//!
//! One watch for each kind shows all namespaces, and the caches store the objects of those that are chosen. A namespace that
//! joins is listed into all caches before an object in it is reconciled; before it leaves, the running reconciles in it end.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::{
    StreamExt,
    future::{join, join_all},
    stream::FuturesUnordered,
};
use k8s_openapi::api::core::v1::Namespace;
use kube::{Client, core::PartialObjectMeta};
use tokio::sync::{Notify, watch};
use tracing::{error, info};

use super::{Manager, added::Work, any_informer::AnyInformer, caches::Cache, lock};
use crate::{
    informer::{Informer, InformerConfig},
    metrics::{CacheMetrics, Metrics},
    namespaces::Gate,
};

/// The choice of namespaces.
pub(super) struct Choosing {
    pub(super) informer: Informer<PartialObjectMeta<Namespace>>,
    /// The namespaces that match now; `None` until they are known.
    wanted: watch::Sender<Option<BTreeSet<String>>>,
    /// Whether this process leads: its search for children beside the workers may miss namespaces that join later.
    pub(super) searched: AtomicBool,
    _metrics: CacheMetrics,
}

impl Choosing {
    pub(super) fn new(client: Client, selector: String, metrics: &Metrics) -> Self {
        let config = InformerConfig {
            label_selector: Some(selector),
            ..InformerConfig::default()
        };
        let informer = Informer::new(client, config);
        Self {
            _metrics: metrics.cache(&informer),
            informer,
            wanted: watch::Sender::new(None),
            searched: AtomicBool::new(false),
        }
    }

    /// The namespaces that match now; `None` until they are known.
    pub(super) fn wanted(&self) -> Option<BTreeSet<String>> {
        self.wanted.borrow().clone()
    }

    /// Waits until the namespaces are known.
    pub(super) async fn known(&self) {
        // Fails only when the sender is dropped, but `self` owns the sender.
        _ = self.wanted.subscribe().wait_for(Option::is_some).await;
    }

    fn names(&self) -> BTreeSet<String> {
        let keys = self.informer.store().keys();
        keys.iter().map(|key| key.name().to_owned()).collect()
    }

    /// Waits until this namespace does not match any more.
    async fn until_unwanted(&self, namespace: &str) {
        let is_unwanted =
            |wanted: &Option<BTreeSet<String>>| wanted.as_ref().is_some_and(|wanted| !wanted.contains(namespace));
        // Fails only when the sender is dropped, but `self` owns the sender.
        _ = self.wanted.subscribe().wait_for(is_unwanted).await;
    }
}

impl Manager {
    /// The namespaces that are open to reconciles.
    pub(crate) fn gate(&self) -> &Gate {
        &self.core.gate
    }

    /// Whether labels choose the namespaces.
    pub(crate) fn chooses_namespaces(&self) -> bool {
        self.core.choosing.is_some()
    }

    /// Lets namespaces join and leave, until it is dropped.
    pub(super) async fn choose_namespaces(self) {
        let Some(choosing) = &self.core.choosing else { return };
        let changed = Arc::new(Notify::new());
        let notify = changed.clone();
        choosing.informer.subscribe(move |_| notify.notify_one());
        choosing.informer.synced().await;
        let mut members = FuturesUnordered::new();
        let mut following = self.begin_with(choosing);
        members.extend(following.iter().map(|name| self.member(choosing, name.clone(), true)));
        loop {
            tokio::select! {
                () = changed.notified() => {
                    choosing.wanted.send_replace(Some(choosing.names()));
                }
                Some(left) = members.next() => {
                    following.remove(&left);
                }
            }
            for name in choosing.wanted().unwrap_or_default() {
                if following.insert(name.clone()) {
                    members.push(self.member(choosing, name, false));
                }
            }
        }
    }

    /// Runs the caches, with the namespaces that match now.
    fn begin_with(&self, choosing: &Choosing) -> BTreeSet<String> {
        let wanted = choosing.names();
        info!(namespaces = wanted.len(), "the namespaces to work in are known");
        wanted.iter().for_each(|name| self.core.gate.open(name));
        for work in self.start_chosen(choosing, &wanted) {
            self.core.added.run(work);
        }
        wanted
    }

    /// Records which namespaces are chosen, in one step with the caches' start: a cache that is added later sees them.
    fn start_chosen(&self, choosing: &Choosing, wanted: &BTreeSet<String>) -> Vec<Work> {
        let mut caches = lock(&self.core.caches);
        choosing.wanted.send_replace(Some(wanted.clone()));
        let waiting = caches.values_mut().filter(|cache| !cache.has_started());
        let start = |cache: &mut Cache| {
            cache.running.choose(wanted.clone());
            cache.start()
        };
        waiting.map(start).collect()
    }

    /// Runs a cache, unless the namespaces are not known yet.
    pub(super) fn start_cache(&self, cache: &mut Cache) {
        match self.core.choosing.as_ref().map(Choosing::wanted) {
            None => self.core.added.run(cache.start()),
            Some(Some(wanted)) => {
                cache.running.choose(wanted);
                self.core.added.run(cache.start());
            }
            Some(None) => {}
        }
    }

    /// Follows one namespace until it has left. Returns its name.
    async fn member(&self, choosing: &Choosing, name: String, joined: bool) -> String {
        if !joined {
            tokio::select! {
                () = self.join_namespace(choosing, &name) => {}
                () = choosing.until_unwanted(&name) => {}
            }
        }
        choosing.until_unwanted(&name).await;
        self.core.gate.close(&name).await;
        let caches = self.running_caches();
        caches.iter().for_each(|cache| cache.running.leave(&name));
        info!(namespace = name, "the namespace is not worked in any more");
        name
    }

    /// Lists a namespace into the caches, then opens it. Caches that may be late are not waited for.
    async fn join_namespace(&self, choosing: &Choosing, name: &str) {
        let (late, needed): (Vec<_>, Vec<_>) = self.running_caches().into_iter().partition(|cache| cache.may_be_late);
        let open = async {
            join_all(needed.iter().map(|cache| cache.join(name))).await;
            // The leader's search, if that is still to come, includes this namespace.
            if choosing.searched.load(Ordering::SeqCst) {
                self.find_children_in(name).await;
            }
            self.open_namespace(name).await;
        };
        join(open, join_all(late.iter().map(|cache| cache.join(name)))).await;
    }

    async fn find_children_in(&self, name: &str) {
        for search in self.searches(|_, _| true) {
            let labelled = loop {
                if search.kind.is_held() {
                    break false;
                }
                match search.run_in(name).await {
                    Ok(labelled) => break labelled,
                    Err(error) => error!(namespace = name, "{error}"),
                }
            };
            if !labelled {
                self.core.added.run(Box::pin(async move {
                    search.run_late().await;
                    None
                }));
            }
        }
    }

    /// Lets reconciles pass, and queues each object in the namespace, and those that wait to write in it.
    async fn open_namespace(&self, name: &str) {
        let mut controllers: Vec<_> = lock(&self.core.controllers)
            .iter()
            .map(|registered| registered.controller.clone())
            .collect();
        let added = self.core.added.controllers();
        controllers.extend(added.iter().filter_map(|added| added.runnable()));
        self.core.gate.open(name);
        for controller in &controllers {
            controller.queue_namespace(name).await;
        }
        info!(namespace = name, "the namespace is worked in");
    }

    fn running_caches(&self) -> Vec<RunningCache> {
        let caches = lock(&self.core.caches);
        let running = |cache: &Cache| {
            Some(RunningCache {
                running: cache.running.clone(),
                // A held cache waits for a converter, and with it only the controllers of its kind.
                may_be_late: cache.may_be_late() || cache.running.is_held(),
                stopped: cache.stopped()?,
            })
        };
        caches.values().filter_map(running).collect()
    }
}

/// A cache whose informer runs.
struct RunningCache {
    running: Arc<dyn AnyInformer>,
    may_be_late: bool,
    stopped: watch::Receiver<bool>,
}

impl RunningCache {
    /// Returns when the objects of a namespace are stored, or when the cache has ended.
    async fn join(&self, namespace: &str) {
        let mut stopped = self.stopped.clone();
        tokio::select! {
            () = self.running.join(namespace) => {}
            // Also if its sender is dropped, with the cache.
            _ = stopped.wait_for(|stopped| *stopped) => {}
        }
    }
}
