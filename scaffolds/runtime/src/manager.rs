//! The shared parts of the controllers of one process, and its tasks. Start and shutdown are in `running.rs`.

mod added;
mod any_informer;
mod builder;
mod caches;
mod component;
mod converted;
mod draining;
mod filling;
mod joining;
mod labelling;
mod namespaces;
mod opening;
mod running;
mod searching;
mod storage_version;
mod tasks;

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    future::Future,
    sync::{Arc, Mutex, OnceLock, Weak, atomic::AtomicBool},
};

use kube::Client;
use serde_json::Value;
use tracing::warn;

use self::{
    added::Added, builder::Settings, caches::Cache, component::Components, converted::Converted, namespaces::Choosing,
    tasks::Authored,
};
pub(crate) use self::{
    added::{AddedController, stopping},
    any_informer::Pending,
    joining::{Claim, Joining, Uses},
};
pub use self::{
    builder::ManagerBuilder,
    component::{Component, ComponentManifests, Drain, ManifestFolder, Process},
    storage_version::StorageVersion,
    tasks::{Stop, Task},
};
use crate::{
    child::ChildLabel,
    client::{self, Guards, WriteGate},
    clock::Clock,
    condition_types::ConditionTypes,
    error::{Error, Result},
    events::{Events, Recorder},
    heartbeat::Heartbeat,
    isolate::lock,
    kind::KindId,
    metrics::Metrics,
    namespaces::Gate,
    rbac::{self, Registration, Rule},
    server::{Checks, Probes, RouteRequest, RouteResponse, Routes, Served},
    worker::Runnable,
};

/// Holds what the controllers of one process share: the client, one informer per kind, metrics, the event recorder; and
/// runs the controllers.
///
/// # Start and stop
///
/// Caches are filled first, but for those of kinds that the operator [converts](Manager::converts); then, with leader
/// election, the lease is acquired; then the workers start: a standby's caches are warm. A standby does not remember keys: every object is reconciled when it becomes the leader. After the
/// signal no more keys are handed out, running reconciles get `--graceful-shutdown-timeout` (30 s) to end, events are
/// flushed, and the lease is released last. If reconciles had to be cancelled, it is not released, but left to expire:
/// one of their requests may still be in progress. A lost lease ends everything at once, with an error. A panic of a
/// worker or a cache ends the process too, after the running reconciles, so that no process holds the lease without
/// working.
pub struct Manager {
    core: Arc<Core>,
}

/// A manager, unless it is gone. It may be kept in a reconciler, which the manager owns.
#[derive(Clone)]
pub(crate) struct WeakManager(Weak<Core>);

/// A controller that works for as long as the manager.
#[derive(Clone)]
struct Registered {
    controller: Arc<dyn Runnable>,
    workers: usize,
    /// The kinds of its caches.
    kinds: HashSet<KindId>,
}

/// The shared state of a manager and its handles.
struct Core {
    settings: Settings,
    events: Events,
    caches: Mutex<BTreeMap<KindId, Cache>>,
    controllers: Mutex<Vec<Registered>>,
    registrations: Mutex<Vec<Registration>>,
    /// Controllers that may be added while the manager runs.
    expected: Mutex<Vec<Registration>>,
    granted: Mutex<Vec<Rule>>,
    conditions: ConditionTypes,
    added: Added,
    /// The namespaces that are open to reconciles.
    gate: Gate,
    /// If a label selector chooses the namespaces.
    choosing: Option<Choosing>,
    components: Components,
    converted: Converted,
    admission: OnceLock<Client>,
    authored: Authored,
    heartbeat: Heartbeat,
    probes: Probes,
    routes: Routes,
    filled: Arc<AtomicBool>,
}

impl Manager {
    /// The client that all controllers share.
    pub fn client(&self) -> &Client {
        &self.core.settings.client
    }

    /// The namespace of the operator itself.
    pub fn namespace(&self) -> &str {
        &self.core.settings.namespace
    }

    /// The metrics of this process.
    pub fn metrics(&self) -> &Metrics {
        &self.core.settings.metrics
    }

    /// Whether the main runtime and this manager make progress, once it is started. [`Operator`](crate::Operator) starts it,
    /// and lets the leader election depend on it.
    pub fn heartbeat(&self) -> &Heartbeat {
        &self.core.heartbeat
    }

    /// The checks behind `/healthz`; by default `main-runtime`, which fails if the main runtime or the manager has made no
    /// progress for 20 s. If one fails, the kubelet restarts the process.
    pub fn healthz(&self) -> &Checks {
        &self.core.probes.healthz
    }

    /// The checks behind `/readyz`; by default `informer-sync`, which passes when the caches are filled, but for those of kinds that the operator converts.
    pub fn readyz(&self) -> &Checks {
        &self.core.probes.readyz
    }

    /// The clock that reconcilers read.
    pub fn clock(&self) -> &Clock {
        &self.core.settings.clock
    }

    /// The operator's name.
    pub fn name(&self) -> &str {
        &self.core.settings.name
    }

    /// The client of webhooks and certificates, which may write on a standby too, and has no limit on requests per second.
    ///
    /// # Errors
    ///
    /// [`Error::Kube`] if the credentials cannot be used.
    pub fn admission_client(&self) -> Result<Client> {
        let Some(access) = &self.core.settings.access else {
            return Ok(self.core.settings.client.clone());
        };
        if let Some(client) = self.core.admission.get() {
            return Ok(client.clone());
        }
        // Not limited: an API server waits for a webhook, and a certificate must not expire behind a queue of reconciles.
        let guards = Guards::from(WriteGate::open()).watch_silence(access.watch_silence);
        let client = client::build(access.config.clone(), &access.agent, self.metrics(), guards)?;
        Ok(self.core.admission.get_or_init(|| client).clone())
    }

    /// Serves a path of the operator's own on the metrics server: the `GET` requests of all clients, or with
    /// `--metrics-secure` of those whom the API server authorizes to `get` this URL. The handler runs with the reconciles, for at
    /// most 30 s; a panic of it is a response with 500. Nothing is served while `--metrics-bind-address` is 0, which is
    /// logged.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the path is taken, or is not one (`/debug/queue`): letters, digits, `-`, `.`, `_` and `~`
    /// between slashes. Taken are `/metrics`, `/debug/pprof/` and all below, and the paths of other routes.
    pub fn route<F>(&self, path: &str, handler: impl Fn(RouteRequest) -> F + Send + Sync + 'static) -> Result<()>
    where
        F: Future<Output = RouteResponse> + Send + 'static,
    {
        self.core.routes.add(path, handler)
    }

    pub(crate) fn served(&self) -> Served {
        Served {
            probes: self.core.probes.clone(),
            routes: self.core.routes.clone(),
            certificate: None,
        }
    }

    /// Runs `task` in addition to the controllers: from the time the manager runs, or at once if it runs already, on a
    /// standby too, until the workers have ended; then it is cancelled. A [`Task`] can clean up, fail, or be the leader's
    /// alone. When the task returns, nothing else ends. If it panics, the process ends, after the running reconciles:
    /// otherwise the panic could stay unnoticed. Once the manager is stopping, nothing is run, which is logged.
    pub fn background(&self, task: impl Future<Output = ()> + Send + 'static) {
        if self.is_stopping() {
            warn!("a background task is not run: {}", stopping());
            return;
        }
        self.core.added.background(task);
    }

    /// A permission that the operator needs outside of its controllers, as in a [`background`](Self::background) task: it
    /// goes into `config/rbac/role.yaml`.
    pub fn grant(&self, rule: Rule) {
        lock(&self.core.granted).push(rule);
    }

    /// The watched namespaces; none stands for all.
    pub(crate) fn watched(&self) -> &BTreeSet<String> {
        &self.core.settings.watched
    }

    pub(crate) fn default_workers(&self) -> usize {
        self.core.settings.workers
    }

    /// `<operator>/<controller>`: two controllers that write one object are two field managers.
    pub(crate) fn field_manager(&self, controller: &str) -> String {
        format!("{}/{controller}", self.core.settings.name)
    }

    pub(crate) fn child_label(&self) -> ChildLabel {
        ChildLabel::new(&self.core.settings.name)
    }

    pub(crate) fn conditions(&self) -> &ConditionTypes {
        &self.core.conditions
    }

    pub(crate) fn recorder(&self, controller: &str) -> Recorder {
        self.core.events.recorder(&self.core.settings.name, controller)
    }

    /// A further handle, for a task of the manager itself.
    fn share(&self) -> Self {
        Self {
            core: self.core.clone(),
        }
    }

    pub(crate) fn downgrade(&self) -> WeakManager {
        WeakManager(Arc::downgrade(&self.core))
    }

    /// Whether the manager runs, or has run: what joins it now is added.
    pub(crate) fn has_begun(&self) -> bool {
        self.core.added.has_begun()
    }

    /// Whether the manager stops, or has stopped.
    pub(crate) fn is_stopping(&self) -> bool {
        self.core.added.is_stopping()
    }

    /// Grants the permissions of a controller that may be added later.
    pub(crate) fn expect(&self, registration: Registration) {
        lock(&self.core.expected).push(registration);
    }

    /// Whether there is a controller of this name, or one may be started.
    pub(crate) fn knows(&self, controller: &str) -> bool {
        let has = |all: &Mutex<Vec<Registration>>| lock(all).iter().any(|known| known.controller == controller);
        has(&self.core.registrations) || has(&self.core.expected)
    }

    pub(crate) fn claim(&self, registration: Registration) -> Result<()> {
        let mut registrations = lock(&self.core.registrations);
        if registrations
            .iter()
            .any(|known| known.controller == registration.controller)
        {
            let name = &registration.controller;
            // A mistake that would mix up metrics and field managers.
            return Err(Error::Setup(format!(
                "two controllers are named `{name}`\n\nhint: give one of them another name"
            )));
        }
        registrations.push(registration);
        Ok(())
    }

    /// Gives up the name of a controller, its condition and its metrics.
    pub(crate) fn unclaim(&self, controller: &str) {
        lock(&self.core.registrations).retain(|known| known.controller != controller);
        self.core.conditions.remove(controller);
        self.core.settings.metrics.forget_controller(controller);
    }

    /// Keeps what a registered controller uses for as long as the manager.
    pub(crate) fn keep(&self, uses: Uses) {
        uses.tasks.into_iter().for_each(|task| self.core.added.background(task));
    }

    pub(crate) fn add(&self, controller: Arc<dyn Runnable>, workers: usize, uses: Uses) {
        let kinds = uses.kinds.clone();
        self.keep(uses);
        lock(&self.core.controllers).push(Registered {
            controller,
            workers,
            kinds,
        });
    }

    /// The documents of `config/rbac/role.yaml`.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if a rule cannot be granted to an operator of named namespaces.
    pub fn roles(&self, namespaced: bool) -> Result<Vec<Value>> {
        rbac::documents(&self.declared(), &lock(&self.core.granted), namespaced)
    }

    /// Grants the rules of [`rbac::of_versions`] for the controllers of these kinds.
    pub(crate) fn grant_for_versions(&self, kinds: &BTreeSet<[String; 2]>) {
        let rules = rbac::of_versions(&self.declared(), kinds);
        rules.into_iter().for_each(|rule| self.grant(rule));
    }

    /// The declarations of all controllers, including controllers that may be started.
    fn declared(&self) -> Vec<Registration> {
        let mut registrations = lock(&self.core.registrations).clone();
        registrations.extend(lock(&self.core.expected).iter().cloned());
        registrations
    }
}

impl WeakManager {
    pub(crate) fn upgrade(&self) -> Option<Manager> {
        self.0.upgrade().map(|core| Manager { core })
    }
}
