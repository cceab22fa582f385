//! What the controllers of one process share, and everything that it runs. How that is started and stopped is in `running.rs`.

mod running;

use std::{
    any::{Any, TypeId},
    collections::{BTreeSet, HashMap},
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use kube::Client;
use tokio::sync::watch;

use crate::{
    Object,
    error::{Error, Result},
    events::{Events, Recorder},
    informer::{Informer, InformerConfig, Scope},
    metrics::Metrics,
    rbac::Registration,
    server::{Checks, Probes},
    worker::Runnable,
};

/// Holds what the controllers of one process share: the client, one informer per kind, metrics, the event recorder; and
/// runs them.
///
/// # Start and stop
///
/// Caches are filled first, then, with leader election, the lease is acquired, then the workers start: a standby's caches
/// are warm. A standby remembers no names: every object is reconciled when it comes to lead. On the signal no key is handed
/// out any more, reconciles in hand get `--graceful-shutdown-timeout` (30 s) to end, events are flushed and the lease is
/// released last. Where reconciles had to be cut off it is not released, but left to expire: a request of theirs may still
/// be under way. A lost lease ends everything at once, with an error.
pub struct Manager {
    settings: Settings,
    events: Events,
    informers: Mutex<HashMap<TypeId, Kind>>,
    controllers: Mutex<Vec<(Arc<dyn Runnable>, usize)>>,
    registrations: Mutex<Vec<Registration>>,
    tasks: Mutex<Vec<Pending<()>>>,
    probes: Probes,
    filled: Arc<AtomicBool>,
}

/// What a manager is built from; see [`Manager::builder`] for the defaults.
pub struct ManagerBuilder {
    settings: Settings,
}

struct Settings {
    name: String,
    client: Client,
    namespace: String,
    watched: BTreeSet<String>,
    workers: usize,
    drain: Duration,
    metrics: Metrics,
}

/// One kind's informer: typed for those who subscribe, untyped for the manager.
struct Kind {
    typed: Box<dyn Any + Send + Sync>,
    running: Box<dyn Runs>,
}

type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// An informer of whatever kind.
trait Runs: Send + Sync {
    fn run(&self, stop: watch::Receiver<bool>) -> Pending<()>;
    fn synced(&self) -> Pending<()>;
    fn last_error(&self) -> Option<String>;
    fn kind(&self) -> String;
}

impl<K: Object> Runs for Informer<K> {
    fn run(&self, stop: watch::Receiver<bool>) -> Pending<()> {
        let informer = self.clone();
        Box::pin(async move {
            let mut stop = stop;
            informer.run(async move { _ = stop.wait_for(|stop| *stop).await }).await;
        })
    }

    fn synced(&self) -> Pending<()> {
        let informer = self.clone();
        Box::pin(async move { informer.synced().await })
    }

    fn last_error(&self) -> Option<String> {
        Informer::last_error(self)
    }

    fn kind(&self) -> String {
        K::kind(&()).into_owned()
    }
}

impl ManagerBuilder {
    /// The operator's name: the prefix of its field managers.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.settings.name = name.into();
        self
    }

    /// The namespace the operator itself lives in.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.settings.namespace = namespace.into();
        self
    }

    /// The namespaces to watch; none means all.
    pub fn watch_namespaces(mut self, namespaces: impl IntoIterator<Item = String>) -> Self {
        self.settings.watched = namespaces.into_iter().collect();
        self
    }

    /// Workers of a controller that does not say.
    pub fn default_workers(mut self, workers: usize) -> Self {
        self.settings.workers = workers.max(1);
        self
    }

    /// How long reconciles in hand may take after the signal; zero means they are not waited for.
    pub fn graceful_shutdown_timeout(mut self, drain: Duration) -> Self {
        self.settings.drain = drain;
        self
    }

    /// Where to count; the same as the client's, so that one page has it all.
    pub fn metrics(mut self, metrics: Metrics) -> Self {
        self.settings.metrics = metrics;
        self
    }

    /// The manager, with nothing registered and nothing running.
    pub fn build(self) -> Manager {
        let events = Events::new(self.settings.client.clone(), &self.settings.metrics);
        let (probes, filled) = (Probes::default(), Arc::<AtomicBool>::default());
        let ready = filled.clone();
        probes.readyz.add("informer-sync", move || {
            if ready.load(Ordering::Relaxed) {
                Ok(())
            } else {
                Err("caches are not filled".to_owned())
            }
        });
        Manager {
            settings: self.settings,
            events,
            informers: Mutex::default(),
            controllers: Mutex::default(),
            registrations: Mutex::default(),
            tasks: Mutex::default(),
            probes,
            filled,
        }
    }
}

impl Manager {
    /// A manager on this client, with the defaults: name `operator`, the client's default namespace as its own, all
    /// namespaces watched, one worker a controller, 30 s to drain.
    pub fn builder(client: Client) -> ManagerBuilder {
        ManagerBuilder {
            settings: Settings {
                name: "operator".to_owned(),
                namespace: client.default_namespace().to_owned(),
                client,
                watched: BTreeSet::new(),
                workers: 1,
                drain: Duration::from_secs(30),
                metrics: Metrics::new(),
            },
        }
    }

    /// The client that all controllers share.
    pub fn client(&self) -> &Client {
        &self.settings.client
    }

    /// The namespace the operator itself lives in.
    pub fn namespace(&self) -> &str {
        &self.settings.namespace
    }

    /// Where this process counts what it does.
    pub fn metrics(&self) -> &Metrics {
        &self.settings.metrics
    }

    /// The checks behind `/healthz`, none at first: when one fails, the kubelet restarts the process.
    pub fn healthz(&self) -> &Checks {
        &self.probes.healthz
    }

    /// The checks behind `/readyz`; at first `informer-sync`, that the caches are filled.
    pub fn readyz(&self) -> &Checks {
        &self.probes.readyz
    }

    pub(crate) fn probes(&self) -> Probes {
        self.probes.clone()
    }

    /// The one informer of a kind, shared by everybody who asks: one watch of the API server, one copy of each object.
    pub fn informer<K: Object>(&self) -> Informer<K> {
        self.informer_as(|| Informer::new(self.settings.client.clone(), self.informer_config()).without_records())
    }

    /// The informer of a kind, a new one if there is none yet.
    fn informer_as<K: Object>(&self, new: impl FnOnce() -> Informer<K>) -> Informer<K> {
        let mut informers = lock(&self.informers);
        let kind = informers.entry(TypeId::of::<K>()).or_insert_with(|| {
            let informer = new();
            Kind {
                typed: Box::new(informer.clone()),
                running: Box::new(informer),
            }
        });
        let informer: Option<&Informer<K>> = kind.typed.downcast_ref();
        // The entry under K's TypeId was made by the line above, for this K.
        informer.expect("the informer of a kind is of that kind").clone()
    }

    /// Decides what the one cache of a kind holds: its namespaces, a selection by labels or fields, what a transform
    /// leaves of each object, how often objects are told anew. To be called before anything uses the kind.
    ///
    /// `change` gets the settings as they are otherwise: the manager's namespaces, and `managedFields` stripped but for
    /// what this operator's controllers own, which [`apply_child`](crate::Context::apply_child) compares with.
    ///
    /// # Caveats
    ///
    /// The cache is every controller's. What it leaves out wakes nobody, and is not found by
    /// [`get`](crate::Context::get) or [`children`](crate::Context::children): a child without the labels of a
    /// selection is looked up at the API server each time it is applied, and never pruned. What is written through a
    /// context is in the cache at once only where labels alone select.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] when a controller, or [`informer`](Self::informer), has begun to use the kind.
    pub fn configure_cache<K: Object>(&self, change: impl FnOnce(&mut InformerConfig<K>)) -> Result<()> {
        if lock(&self.informers).contains_key(&TypeId::of::<K>()) {
            let text = format!(
                "the cache of {} is in use, and cannot be configured any more",
                K::kind(&())
            );
            let hint = "configure it before the first controller is registered";
            return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
        }
        let mut config = self.informer_config();
        change(&mut config);
        self.informer_as::<K>(|| Informer::new(self.settings.client.clone(), config));
        Ok(())
    }

    /// Runs `task` beside the controllers: from the time the manager runs, on a standby too, until it is told to stop.
    /// Its end ends nothing else.
    pub fn background(&self, task: impl Future<Output = ()> + Send + 'static) {
        lock(&self.tasks).push(Box::pin(task));
    }

    fn informer_config<K: Object>(&self) -> InformerConfig<K> {
        let watched = &self.settings.watched;
        let everywhere = watched.is_empty() || !crate::key::is_namespaced::<K>();
        InformerConfig {
            scope: if everywhere {
                Scope::Cluster
            } else {
                Scope::Namespaces(watched.clone())
            },
            // The children's comparison needs what our controllers own, and nobody else's; kinds that nobody owns need none.
            keep_managers: vec![self.field_manager("")],
            pack_managed_fields: true,
            ..InformerConfig::default()
        }
    }

    pub(crate) fn default_workers(&self) -> usize {
        self.settings.workers
    }

    /// `<operator>/<controller>`: two controllers that write one object are two managers of its fields.
    pub(crate) fn field_manager(&self, controller: &str) -> String {
        format!("{}/{controller}", self.settings.name)
    }

    pub(crate) fn recorder(&self, controller: &str) -> Recorder {
        self.events.recorder(&self.settings.name, controller)
    }

    pub(crate) fn claim(&self, registration: Registration) -> Result<()> {
        let mut registrations = lock(&self.registrations);
        if registrations
            .iter()
            .any(|known| known.controller == registration.controller)
        {
            let name = &registration.controller;
            // A slip that would mix up metrics and field managers.
            return Err(Error::Setup(format!(
                "two controllers are named `{name}`\n\nhint: give one of them another name"
            )));
        }
        registrations.push(registration);
        Ok(())
    }

    pub(crate) fn add(&self, controller: Arc<dyn Runnable>, workers: usize) {
        lock(&self.controllers).push((controller, workers));
    }

    pub(crate) fn registrations(&self) -> Vec<Registration> {
        lock(&self.registrations).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
