//! What the controllers of one process share, and the tasks that it runs. Start and shutdown are in `running.rs`.

mod builder;
mod caches;
mod draining;
mod labelling;
mod running;
mod tasks;

use std::{
    collections::{BTreeSet, HashMap},
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
};

use kube::Client;
use serde_json::Value;

pub(crate) use self::caches::Pending;
pub use self::{
    builder::ManagerBuilder,
    tasks::{Stop, Task},
};
use self::{builder::Settings, caches::Cache, tasks::Authored};
use crate::{
    child::ChildLabel,
    condition_types::ConditionTypes,
    error::{Error, Result},
    events::{Events, Recorder},
    heartbeat::Heartbeat,
    kind::KindId,
    metrics::Metrics,
    rbac::{self, Registration, Rule},
    server::{Checks, Probes},
    worker::Runnable,
};

/// Holds what the controllers of one process share: the client, one informer per kind, metrics, the event recorder; and
/// runs the controllers.
///
/// # Start and stop
///
/// Caches are filled first; then, with leader election, the lease is acquired; then the workers start: a standby's
/// caches are warm. A standby does not remember keys: every object is reconciled when it becomes the leader. After the
/// signal no more keys are handed out, running reconciles get `--graceful-shutdown-timeout` (30 s) to end, events are
/// flushed, and the lease is released last. If reconciles had to be cancelled, it is not released, but left to expire:
/// one of their requests may still be in progress. A lost lease ends everything at once, with an error. A panic of a
/// worker or a cache ends the process too, after the running reconciles, so that no process holds the lease without
/// working.
pub struct Manager {
    settings: Settings,
    events: Events,
    caches: Mutex<HashMap<KindId, Cache>>,
    controllers: Mutex<Vec<(Arc<dyn Runnable>, usize)>>,
    registrations: Mutex<Vec<Registration>>,
    granted: Mutex<Vec<Rule>>,
    conditions: ConditionTypes,
    tasks: Mutex<Vec<Pending<()>>>,
    authored: Authored,
    heartbeat: Heartbeat,
    probes: Probes,
    filled: Arc<AtomicBool>,
}

impl Manager {
    /// The client that all controllers share.
    pub fn client(&self) -> &Client {
        &self.settings.client
    }

    /// The namespace of the operator itself.
    pub fn namespace(&self) -> &str {
        &self.settings.namespace
    }

    /// The metrics of this process.
    pub fn metrics(&self) -> &Metrics {
        &self.settings.metrics
    }

    /// Whether the main runtime makes progress, once it is started. [`Operator`](crate::Operator) starts it, and lets the
    /// leader election depend on it.
    pub fn heartbeat(&self) -> &Heartbeat {
        &self.heartbeat
    }

    /// The checks behind `/healthz`; by default `main-runtime`, which fails if the main runtime has made no progress for
    /// 20 s. If one fails, the kubelet restarts the process.
    pub fn healthz(&self) -> &Checks {
        &self.probes.healthz
    }

    /// The checks behind `/readyz`; by default `informer-sync`, which passes when the caches are filled.
    pub fn readyz(&self) -> &Checks {
        &self.probes.readyz
    }

    pub(crate) fn probes(&self) -> Probes {
        self.probes.clone()
    }

    /// Runs `task` in addition to the controllers: from the time the manager runs, on a standby too, until the workers
    /// have ended; then it is cancelled. A [`Task`] can clean up, fail, or be the leader's alone. When the task returns,
    /// nothing else ends. If it panics, the process ends, after the running reconciles:
    /// otherwise the panic could stay unnoticed.
    pub fn background(&self, task: impl Future<Output = ()> + Send + 'static) {
        lock(&self.tasks).push(Box::pin(task));
    }

    /// A permission that the operator needs outside of its controllers, as in a [`background`](Self::background) task: it
    /// goes into `config/rbac/role.yaml`.
    pub fn grant(&self, rule: Rule) {
        lock(&self.granted).push(rule);
    }

    /// The watched namespaces; none stands for all.
    pub(crate) fn watched(&self) -> &BTreeSet<String> {
        &self.settings.watched
    }

    pub(crate) fn default_workers(&self) -> usize {
        self.settings.workers
    }

    /// `<operator>/<controller>`: two controllers that write one object are two field managers.
    pub(crate) fn field_manager(&self, controller: &str) -> String {
        format!("{}/{controller}", self.settings.name)
    }

    pub(crate) fn child_label(&self) -> ChildLabel {
        ChildLabel::new(&self.settings.name)
    }

    pub(crate) fn conditions(&self) -> &ConditionTypes {
        &self.conditions
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
            // A mistake that would mix up metrics and field managers.
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

    /// The documents of `config/rbac/role.yaml`.
    pub(crate) fn roles(&self, namespaced: bool) -> Result<Vec<Value>> {
        rbac::documents(&lock(&self.registrations), &lock(&self.granted), namespaced)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
