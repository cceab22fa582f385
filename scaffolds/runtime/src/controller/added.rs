//! Watches that a controller gets while it runs, for kinds that are only known then.

use std::{
    any::Any,
    collections::{BTreeSet, HashMap},
    future::pending,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{StreamExt, stream::FuturesUnordered};
use kube::Client;
use tokio::sync::{mpsc, oneshot};
use tracing::info;

use super::{
    Controller,
    register::Wiring,
    wake::{Mapping, map_handler},
};
use crate::{
    context::ControllerState,
    error::{Error, Result},
    informer::{Informer, InformerConfig, Scope},
    isolate::Authored,
    key::ObjectKey,
    kind::{Kind, KindId},
    manager::{Joining, Pending, stopping},
    metrics::{CacheMetrics, Metrics},
    object::AnyObject,
    predicate::{Filter, Predicate},
    priority::Wake,
    store::Store,
};

/// The time that [`AddedWatches::watch`] waits for a list without progress: the time limit of a request.
const PATIENCE: Duration = Duration::from_secs(30);

/// Adds watches to a controller while it runs, and ends them. Clones share the watches: one is declared with
/// [`Controller::adds_watches`], the reconciler or a task holds another.
///
/// # Guarantees
///
/// - [`watch`](Self::watch) returns once the cache of the kind is filled. There is one watch for each kind, however
///   often it is called.
/// - A kind may be absent, as with [`Controller::optional`]: its cache is empty while the API server does not serve it.
/// - All watches end with the manager. If one ends unexpectedly, the process ends, after the running reconciles.
///
/// # Caveats
///
/// `make manifests` cannot know these kinds: grant `get`, `list` and `watch` on them with [`Controller::rule`]. The
/// caches are those of this controller alone, contain every object of the watched namespaces, and are not read through
/// the [`Context`](crate::Context). After a restart the watches have to be added again.
#[derive(Clone, Default)]
pub struct AddedWatches {
    shared: Arc<WatchRegistry>,
}

#[derive(Default)]
struct WatchRegistry {
    connected: Mutex<Option<Arc<Connected>>>,
    watches: Mutex<HashMap<KindId, Added>>,
}

/// The parts of the controller and its manager that a watch uses.
struct Connected {
    state: Arc<ControllerState>,
    client: Client,
    namespaces: BTreeSet<String>,
    metrics: Metrics,
    /// Takes the watches to the task that runs them.
    run: mpsc::UnboundedSender<Pending<()>>,
}

struct Added {
    informer: Box<dyn Any + Send + Sync>,
    ended: Arc<AtomicBool>,
    /// The watch ends when this is dropped.
    _stop: oneshot::Sender<()>,
    _metrics: CacheMetrics,
}

impl<K: AnyObject> Controller<K> {
    /// Allows watches to be [added](AddedWatches) to this controller while it runs.
    pub fn adds_watches(mut self, added: &AddedWatches) -> Self {
        let added = added.clone();
        self.sources
            .push(Box::new(move |joining, wiring, _| added.connect(joining, wiring)));
        self
    }
}

impl AddedWatches {
    /// No watches yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Watches the objects of a kind from now on, and returns their cache once it is filled. A change of an object wakes
    /// the objects that `map` names, as for [`Controller::watches`]; so do the objects that exist already. If the kind is
    /// watched already, `map` is dropped, and the watch stays as it is.
    ///
    /// # Errors
    ///
    /// [`Error::Retry`] if the first list makes no progress for 30 s, with the last error of the watch, which goes on:
    /// the next call waits for it again; or, at once, if the manager or the controller has stopped. [`Error::Setup`] if no
    /// controller is registered with [`Controller::adds_watches`].
    pub async fn watch<C: AnyObject>(
        &self,
        kind: &Kind<C>,
        map: impl Fn(&C) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> Result<Store<C>> {
        let Some(connected) = self.connected().clone() else {
            let hint = "add `.adds_watches(…)` to a controller, and register it";
            return Err(Error::Setup(format!(
                "{kind} cannot be watched: no controller is connected\n\nhint: {hint}"
            )));
        };
        let map = move |object: &C| map(object).into_iter().map(Wake::from).collect();
        let informer = self.informer(&connected, kind, Authored::new(Arc::new(map)))?;
        let synced = tokio::select! {
            synced = informer.synced_unless_stalled(PATIENCE) => synced,
            // The task that runs the watches has ended: no list comes any more.
            () = connected.run.closed() => return Err(stopping()),
        };
        if synced {
            return Ok(informer.store());
        }
        let error = informer.last_error().unwrap_or_else(|| "no answer".to_owned());
        Err(Error::retry(format!("the watch that was added lists nothing: {error}")))
    }

    /// Ends the watch of a kind, and returns whether there was one. Its cache is dropped; nothing is woken.
    pub fn unwatch<C: AnyObject>(&self, kind: &Kind<C>) -> bool {
        let Some(added) = self.watches().remove(kind.id()) else {
            return false;
        };
        added.ended.store(true, Ordering::SeqCst);
        info!(%kind, "the watch that was added is ended");
        true
    }

    fn informer<C: AnyObject>(&self, of: &Arc<Connected>, kind: &Kind<C>, map: Mapping<C>) -> Result<Informer<C>> {
        let mut watches = self.watches();
        let known = watches.get(kind.id()).and_then(|added| added.informer.downcast_ref());
        if let Some(known) = known {
            return Ok(Informer::clone(known));
        }
        // A controller that stops is disconnected before its watches are taken.
        if !self
            .connected()
            .as_ref()
            .is_some_and(|connected| Arc::ptr_eq(connected, of))
        {
            return Err(stopping());
        }
        let informer = Informer::of(of.client.clone(), kind.clone(), of.config(kind)).without_records();
        let filter = Filter {
            predicate: Predicate::new(|_| true),
            kind: kind.clone(),
            controller: of.state.controller.clone(),
        };
        let handler = map_handler(of.state.clone(), filter, map);
        let ended = Arc::<AtomicBool>::default();
        let has_ended = ended.clone();
        informer.subscribe(move |delta| {
            // The watch may show a change before it stops.
            if !has_ended.load(Ordering::SeqCst) {
                handler(delta);
            }
        });
        let (stop, stopped) = oneshot::channel();
        let run = run(informer.clone(), stopped);
        of.run.send(Box::pin(run)).map_err(|_| stopping())?;
        info!(controller = &*of.state.controller, %kind, "a watch is added");
        let added = Added {
            _metrics: of.metrics.cache(&informer),
            informer: Box::new(informer.clone()),
            ended,
            _stop: stop,
        };
        watches.insert(kind.id().clone(), added);
        Ok(informer)
    }

    fn connect<K: AnyObject>(&self, joining: &Joining<'_>, wiring: &Wiring<K>) -> Result<()> {
        let (manager, mut known) = (joining.manager(), self.connected());
        if manager.chooses_namespaces() {
            let text = "`AddedWatches` cannot be used with --namespace-selector: they would watch every namespace";
            let hint = "name the namespaces with --namespace, or declare the kinds with `.watches`";
            return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
        }
        if known.is_some() {
            let text = format!(
                "the `AddedWatches` of `{}` are those of another controller",
                wiring.state.controller
            );
            return Err(Error::Setup(format!(
                "{text}\n\nhint: make others with `AddedWatches::new`"
            )));
        }
        let (run, watches) = mpsc::unbounded_channel();
        let connected = Connected {
            state: wiring.state.clone(),
            client: manager.client().clone(),
            namespaces: manager.watched().clone(),
            metrics: manager.metrics().clone(),
            run,
        };
        *known = Some(Arc::new(connected));
        joining.background(run_all(watches));
        let ended = self.clone();
        joining.on_release(move || {
            *ended.connected() = None;
            let watches = std::mem::take(&mut *ended.watches());
            watches
                .values()
                .for_each(|added| added.ended.store(true, Ordering::SeqCst));
        });
        Ok(())
    }

    fn connected(&self) -> MutexGuard<'_, Option<Arc<Connected>>> {
        self.shared.connected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watches(&self) -> MutexGuard<'_, HashMap<KindId, Added>> {
        self.shared.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connected {
    fn config<C>(&self, kind: &Kind<C>) -> InformerConfig<C> {
        let everywhere = self.namespaces.is_empty() || !kind.is_namespaced();
        InformerConfig {
            scope: if everywhere {
                Scope::Cluster
            } else {
                Scope::Namespaces(self.namespaces.clone())
            },
            optional: true,
            ..InformerConfig::default()
        }
    }
}

/// Runs a watch until it is ended.
///
/// # Panics
///
/// If it ends before: then nothing would notice changes of the kind. A panic of a background task ends the process.
async fn run<C: AnyObject>(informer: Informer<C>, stopped: oneshot::Receiver<()>) {
    let kind = informer.kind().clone();
    let mut asked = false;
    informer
        .run(async {
            // The sender is dropped.
            _ = stopped.await;
            asked = true;
        })
        .await;
    assert!(asked, "the watch of {kind} that was added ended unexpectedly");
}

/// Runs all watches that are added, until it is dropped with the manager.
async fn run_all(mut watches: mpsc::UnboundedReceiver<Pending<()>>) {
    let mut running = FuturesUnordered::new();
    loop {
        tokio::select! {
            Some(watch) = watches.recv() => running.push(watch),
            Some(()) = running.next() => {}
            else => pending().await,
        }
    }
}
