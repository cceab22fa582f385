//! The process around a manager: from flags to an exit code.

mod config;
mod dashboards;
mod flags;
mod manifests;
mod threads;

use std::{
    env,
    pin::pin,
    process::ExitCode,
    sync::{Arc, OnceLock},
    time::Duration,
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Client, Config};
use kubewright_schema::files::Mode;
use tokio::time::{Instant, sleep_until};
use tracing::{error, info, warn};

use self::config::ProcessConfig;
use crate::{
    certificates::{self, Keeper, RenewalTiming, ServerIdentity, Settings},
    client::{self, AGENT, Guards, WriteGate},
    clock::Clock,
    crds,
    error::{Error, Result},
    leader::{Election, ElectionConfig},
    logging,
    manager::{Drain, Manager, Process},
    metrics::Metrics,
    migration::{self, StorageMigration},
    options::{BindAddress, Command, Options},
    server::{Held, Servers},
    signals,
};

/// The type of a kind, as in the list of the generated `manifests::crds`.
type Crd = kubewright_schema::CustomType<CustomResourceDefinition>;

/// Set by `make dev` and by tests: see [`ManagerBuilder::report_unseen`](crate::ManagerBuilder::report_unseen).
pub(crate) const DEVELOPMENT: &str = "KUBEWRIGHT_DEVELOPMENT";

/// An operator: one process that runs a [`Manager`] until it is asked to stop.
///
/// # Flow
///
/// Logging, client, servers for probes and metrics, the CRDs if `--install-crds` asks for them, the controllers that
/// `setup` registers, then [`Manager::run`]. SIGTERM and SIGINT stop it, at any await of these; a second signal ends the
/// process at once, with exit code 1, as in controller-runtime.
///
/// Webhooks are served on every replica, and for 10 s after the signal, or for `--graceful-shutdown-timeout` if that is
/// shorter.
///
/// `<operator> manifests` writes the RBAC role, `config/webhook` and `config/policy` instead, from what `setup` registers; it
/// needs no cluster. `<operator> migrate-storage` runs a [`StorageMigration`] of each of its own kinds.
pub struct Operator {
    name: &'static str,
    options: Options,
    crds: Vec<Crd>,
    namespaced: bool,
    chooses: bool,
}

impl Operator {
    /// An operator of this name, usually `env!("CARGO_PKG_NAME")`: the name of its lease, its field managers and its
    /// user agent.
    pub fn new(name: &'static str, options: Options) -> Self {
        Self {
            name,
            options,
            crds: Vec::new(),
            namespaced: false,
            chooses: false,
        }
    }

    /// The operator's own CRDs, for `--install-crds` and `migrate-storage`.
    pub fn crds(mut self, crds: Vec<Crd>) -> Self {
        self.crds = crds;
        self
    }

    /// Makes the operator work in named namespaces only: its permissions are a Role, and it does not start unless
    /// `--namespace` or `WATCH_NAMESPACE` names one.
    pub fn namespaced(mut self) -> Self {
        self.namespaced = true;
        self
    }

    /// Grants what `--namespace-selector` needs, in `config/rbac/role.yaml`: to list and watch namespaces. The selector is
    /// [documented](crate::ManagerBuilder::namespace_selector) at the manager.
    pub fn chooses_namespaces(mut self) -> Self {
        self.chooses = true;
        self
    }

    /// Runs the operator until it ends. `setup` registers the controllers; it runs before anything is watched.
    ///
    /// Reconciles, watches and events share threads, one for each two cores that the process may use (a container's CPU
    /// limit counts), at least one; the environment variable `TOKIO_WORKER_THREADS` sets another number, for
    /// reconcilers that use much CPU. Probes, metrics, webhooks, the lease and signals have threads of their own. If the
    /// reconciles' threads make no progress for 20 s, or this thread, on which `setup` and the manager run, is blocked for
    /// 20 s, `/healthz` fails and the lease is not renewed. `setup` may await for as long as it likes.
    ///
    /// The exit code is 0 after a signal and a complete drain, and 1 after an error, which is logged: an unreachable
    /// cluster, a cache that cannot be filled, a lost lease.
    pub fn run(self, setup: impl AsyncFnOnce(&Manager) -> Result<()>) -> ExitCode {
        // Dropped last, so that the spans of the shutdown are sent too.
        let traces = logging::init(&self.options, self.name).inspect_err(|error| eprintln!("error: {error}"));
        let Ok(_traces) = traces else { return ExitCode::FAILURE };
        logging::log_panics();
        let runtime = match threads::several().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                error!("cannot start threads: {error}");
                return ExitCode::FAILURE;
            }
        };
        let ended = match self.options.command.clone() {
            Some(Command::Manifests {
                out,
                webhook_out,
                policy_out,
                check,
            }) => {
                let mode = if check { Mode::Check } else { Mode::Write };
                runtime.block_on(self.write_manifests([&out, &webhook_out, &policy_out], mode, setup))
            }
            Some(Command::MigrateStorage { check, settle }) => runtime.block_on(self.migrate_storage(check, settle)),
            Some(Command::Dashboards { out }) => Self::write_dashboards(&out).map(|()| ExitCode::SUCCESS),
            None => runtime.block_on(self.serve(setup)).map(|()| ExitCode::SUCCESS),
        };
        // The remaining tasks on other threads are not needed any more.
        runtime.shutdown_background();
        ended.unwrap_or_else(|error| {
            let text = error.to_string();
            // A log message is one line.
            match text.split_once("\n\nhint: ") {
                Some((error, hint)) => error!(hint, "{error}"),
                None => error!("{text}"),
            }
            ExitCode::FAILURE
        })
    }

    async fn serve(self, setup: impl AsyncFnOnce(&Manager) -> Result<()>) -> Result<()> {
        let mut stop = pin!(signals::stop()?);
        let process = ProcessConfig::of(&self.options, self.namespaced, |name| env::var_os(name).is_some())?;
        let drain = process.drain;
        let started = tokio::select! {
            () = &mut stop => return Ok(()),
            started = self.start(process, setup) => started?,
        };
        // Servers end when this is dropped.
        let served = started.served;
        if served.is_empty() {
            return started.manager.run(stop, started.election).await;
        }
        let stopped = OnceLock::new();
        let stop = async {
            stop.await;
            served.iter().for_each(|drain| drain());
            _ = stopped.set(Instant::now());
        };
        let ended = started.manager.run(stop, started.election).await;
        if let Some(stopped) = stopped.get() {
            // API servers call this process until they see that it is not ready.
            sleep_until(*stopped + drain).await;
        }
        ended
    }

    /// Everything before the manager runs. Dropped at any await if the process is asked to stop.
    async fn start(self, decided: ProcessConfig, setup: impl AsyncFnOnce(&Manager) -> Result<()>) -> Result<Started> {
        let metrics = Metrics::new();
        metrics.process();
        let config = client::config(self.options.kubeconfig.as_deref()).await?;
        let elected = Arc::<OnceLock<Arc<Election>>>::default();
        let client = self.client(&config, &metrics, &elected)?;
        let mut builder = Manager::builder(client.clone());
        if let Some(selector) = decided.selector {
            builder = builder.namespace_selector(selector)?;
        }
        let manager = builder
            .name(self.name)
            .access(config.clone(), self.agent(), self.options.watch_silence_timeout)
            .namespace(self.namespace(&config))
            .watch_namespaces(decided.watched)
            .default_workers(self.options.max_concurrent_reconciles.get())
            .graceful_shutdown_timeout(self.options.graceful_shutdown_timeout)
            .cache_sync_timeout(self.options.cache_sync_timeout)
            .report_unseen(decided.report_unseen)
            .metrics(metrics.clone())
            .clock(Clock::of_this_process()?)
            .build();
        manager.heartbeat().start()?;
        let process = Process {
            manager: &manager,
            options: &self.options,
            namespaced: self.namespaced,
            in_cluster: decided.in_cluster,
        };
        let mut served = manager.served();
        if decided.makes_metrics_certificate {
            served.certificate = Some(metrics_certificate(&process)?);
        }
        let servers = Servers::start(&self.options, &config, &metrics, served).await?;
        if self.options.install_crds {
            crds::install(&client, &assembled(&self.crds)?).await?;
        }
        manager.heartbeat().beside("`setup`", setup(&manager)).await?;
        let components = manager.components();
        let served: Result<Vec<_>> = components.iter().map(|component| component.run(&process)).collect();
        let served = served?.into_iter().flatten().collect();
        let routes = manager.served().routes.paths();
        if self.options.metrics_bind_address == BindAddress::Off && !routes.is_empty() {
            warn!(?routes, "the metrics server is off, so routes are not served");
        }
        for (flag, why) in self
            .options
            .idle(components.iter().any(|component| component.is_called()))
        {
            warn!("{flag} has no effect: {why}");
        }
        info!(server = %config.cluster_url, "starting {}", self.name);
        if self.options.leader_elect {
            let election = Arc::new(Election::start(self.election(&config)?, config, &metrics)?);
            election.depend_on(manager.heartbeat());
            elected.get_or_init(|| election);
        }
        Ok(Started {
            manager,
            election: elected.get().cloned(),
            served,
            _servers: servers,
        })
    }

    /// A client that only reads while another process leads.
    fn client(&self, config: &Config, metrics: &Metrics, elected: &Arc<OnceLock<Arc<Election>>>) -> Result<Client> {
        let elected = elected.clone();
        let gate = WriteGate::new(move || elected.get().is_none_or(|election| election.is_leader()));
        #[cfg(feature = "testing")]
        let gate = crate::mortal::gate(gate)?;
        let guards = Guards::from(gate)
            .watch_silence(self.options.watch_silence_timeout)
            .limit(self.options.request_limit());
        client::build(config.clone(), &self.agent(), metrics, guards)
    }

    /// The user agent: API servers log it, and it is in audit events.
    fn agent(&self) -> String {
        format!("{}{AGENT}/{}", self.name, env!("CARGO_PKG_VERSION"))
    }

    /// The operator's namespace. In a pod the client's default namespace is the pod's own.
    fn namespace(&self, config: &Config) -> String {
        let named = self.options.operator_namespace.clone().filter(|name| !name.is_empty());
        named.unwrap_or_else(|| config.default_namespace.clone())
    }

    fn election(&self, config: &Config) -> Result<ElectionConfig> {
        let namespace = self.options.leader_election_namespace.clone();
        let namespace = namespace.unwrap_or_else(|| self.namespace(config));
        ElectionConfig::from_options(&self.options, self.name, &namespace)
    }

    /// By a client that is not limited to the leader.
    async fn migrate_storage(self, check: bool, settle: Duration) -> Result<ExitCode> {
        let config = client::config(self.options.kubeconfig.as_deref()).await?;
        let guards = Guards::from(WriteGate::open()).limit(self.options.request_limit());
        let client = client::build(config, &self.agent(), &Metrics::new(), guards)?;
        let migration = StorageMigration::new(client).settle(settle);
        Ok(migration::run(&migration, &assembled(&self.crds)?, check).await)
    }
}

/// The CustomResourceDefinitions of types. Not linted: `make manifests` lints them, and the API server validates them.
fn assembled(crds: &[Crd]) -> Result<Vec<serde_json::Value>> {
    kubewright_schema::assemble(crds, &kubewright_schema::Options::default()).map_err(|findings| {
        let lines: Vec<_> = findings.iter().map(ToString::to_string).collect();
        Error::Setup(lines.join("\n"))
    })
}

/// An operator that is ready to run.
struct Started {
    manager: Manager,
    election: Option<Arc<Election>>,
    /// The servers of its components.
    served: Vec<Drain>,
    _servers: Servers,
}

/// The certificate of the metrics server: a task of every replica makes it. Metrics are not needed for being ready.
fn metrics_certificate(process: &Process<'_>) -> Result<Held> {
    let held = Held::default();
    let settings = Settings::of(process, ServerIdentity::METRICS, RenewalTiming::METRICS)?;
    let keeper = Keeper::new(settings, held.shared(), process.manager.metrics());
    certificates::keep(process.manager, "metrics-certificates", keeper);
    Ok(held)
}
