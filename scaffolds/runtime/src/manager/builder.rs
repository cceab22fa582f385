//! Builds a manager.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use kube::{Client, Config};

use super::{Core, Manager, namespaces::Choosing};
use crate::{
    clock::Clock,
    error::{Error, Result},
    events::Events,
    heartbeat::Heartbeat,
    informer::Scope,
    metrics::Metrics,
    namespaces::Gate,
    selector,
    server::Probes,
};

/// A hundred years.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
/// controller-runtime's default (`pkg/config/controller.go`: `CacheSyncTimeout`).
const CACHE_SYNC_TIMEOUT: Duration = Duration::from_secs(120);

/// Builds a manager; see [`Manager::builder`] for the defaults.
pub struct ManagerBuilder {
    settings: Settings,
}

pub(super) struct Settings {
    pub(super) name: String,
    pub(super) client: Client,
    /// The settings of the client of webhooks and certificates; `None` if it is the same client.
    pub(super) access: Option<Access>,
    pub(super) namespace: String,
    pub(super) watched: BTreeSet<String>,
    pub(super) selector: Option<String>,
    pub(super) workers: usize,
    pub(super) drain: Duration,
    pub(super) sync_limit: Duration,
    pub(super) reports_unseen: bool,
    pub(super) metrics: Metrics,
    pub(super) clock: Clock,
}

/// The settings of a client.
pub(super) struct Access {
    pub(super) config: Config,
    pub(super) agent: String,
    pub(super) watch_silence: Duration,
}

impl Settings {
    /// The scope of the cache of a kind.
    pub(super) fn scope(&self, namespaced: bool) -> Scope {
        if namespaced && !self.watched.is_empty() {
            Scope::Namespaces(self.watched.clone())
        } else {
            Scope::Cluster
        }
    }
}

impl Manager {
    /// A manager on this client, with the defaults: name `operator`, the client's default namespace as its own, all
    /// namespaces watched, one worker per controller, 30 s to drain, two minutes for a cache to make progress.
    pub fn builder(client: Client) -> ManagerBuilder {
        ManagerBuilder {
            settings: Settings {
                name: "operator".to_owned(),
                namespace: client.default_namespace().to_owned(),
                client,
                access: None,
                watched: BTreeSet::new(),
                selector: None,
                workers: 1,
                drain: Duration::from_secs(30),
                sync_limit: CACHE_SYNC_TIMEOUT,
                reports_unseen: false,
                metrics: Metrics::new(),
                clock: Clock::system(),
            },
        }
    }
}

impl ManagerBuilder {
    /// The operator's name: the prefix of its field managers.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.settings.name = name.into();
        self
    }

    /// Builds a client for webhooks and certificates, if there are any, which may write on a standby too, with this user
    /// agent and this limit on the [silence of a watch](crate::client::Guards::watch_silence).
    pub(crate) fn access(mut self, config: Config, agent: String, watch_silence: Duration) -> Self {
        self.settings.access = Some(Access {
            config,
            agent,
            watch_silence,
        });
        self
    }

    /// The namespace of the operator itself.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.settings.namespace = namespace.into();
        self
    }

    /// The namespaces to watch; none means all.
    pub fn watch_namespaces(mut self, namespaces: impl IntoIterator<Item = String>) -> Self {
        self.settings.watched = namespaces.into_iter().collect();
        self
    }

    /// Works in the namespaces with these labels, in the API's syntax, instead of [named](Self::watch_namespaces) ones. A
    /// namespace that gets or loses the labels joins or leaves while the manager runs.
    ///
    /// # Guarantees
    ///
    /// - A namespace joins when all caches contain its objects, but for those that may be late; then each object that a
    ///   controller reconciles is reconciled.
    /// - A namespace leaves when the running reconciles in it have ended. Nothing is deleted in it: its objects are not
    ///   reconciled, cleaned up, or reported as [`deleted`](crate::Reconciler::deleted). An object with a finalizer that
    ///   is deleted meanwhile waits until the namespace is back.
    /// - A namespace that is deleted matches until it is gone, so its objects are cleaned up.
    /// - Objects in other namespaces, and objects without a namespace, see the objects of a namespace that left as absent.
    ///   A child of an object without a namespace is not created or changed there, nor is an object
    ///   [without an owner](crate::Context::apply_unowned): the error is retried.
    ///
    /// # Costs and permissions
    ///
    /// Namespaces are listed and watched, and each kind is watched in all namespaces at once: the API server sends the
    /// objects of all namespaces, and those of the chosen ones are kept. So the operator needs a ClusterRole, which also
    /// allows to `list` and `watch` namespaces. A namespace that joins costs one list of each kind in it.
    ///
    /// A cache that is [configured](Manager::configure_cache) with namespaces of its own keeps those.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the selector is invalid.
    pub fn namespace_selector(mut self, selector: impl Into<String>) -> Result<Self> {
        let text = selector.into();
        selector::parse(&text).map_err(|error| Error::Setup(format!("the namespace selector is invalid: {error}")))?;
        self.settings.selector = Some(text);
        Ok(self)
    }

    /// The number of workers of a controller that does not set its own.
    pub fn default_workers(mut self, workers: usize) -> Self {
        self.settings.workers = workers.max(1);
        self
    }

    /// The time for running reconciles to end after the signal; zero means that the manager does not wait for them.
    pub fn graceful_shutdown_timeout(mut self, drain: Duration) -> Self {
        self.settings.drain = drain;
        self
    }

    /// The time without progress of a cache that is being filled, after which the process ends. Default: two minutes, as
    /// controller-runtime's `CacheSyncTimeout`, which limits the whole list. Here a list that is slow but makes
    /// progress, page by page, may take as long as it needs: a restart would take as long again. Zero means no limit.
    pub fn cache_sync_timeout(mut self, limit: Duration) -> Self {
        self.settings.sync_limit = if limit.is_zero() { FOREVER } else { limit };
        self
    }

    /// Whether the log names objects that a cache of [owned](crate::Controller::owns) objects does not contain although a
    /// kind of this operator controls them, because they lack the [label](crate::Context::child_label). For tests and
    /// development: each kind that is only owned is listed every two seconds.
    pub fn report_unseen(mut self, reports: bool) -> Self {
        self.settings.reports_unseen = reports;
        self
    }

    /// The metrics to use; pass the client's, so that one scrape contains all of them.
    pub fn metrics(mut self, metrics: Metrics) -> Self {
        self.settings.metrics = metrics;
        self
    }

    /// The clock that reconcilers read. Default: the system's.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.settings.clock = clock;
        self
    }

    /// The manager, with nothing registered and nothing running.
    pub fn build(mut self) -> Manager {
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
        let heartbeat = Heartbeat::default();
        let alive = heartbeat.clone();
        probes.healthz.add("main-runtime", move || alive.check());
        let selector = self.settings.selector.take();
        if selector.is_some() {
            self.settings.watched.clear();
        }
        let choosing =
            selector.map(|selector| Choosing::new(self.settings.client.clone(), selector, &self.settings.metrics));
        let core = Core {
            gate: if choosing.is_some() {
                Gate::closed()
            } else {
                Gate::default()
            },
            choosing,
            settings: self.settings,
            events,
            heartbeat,
            caches: Mutex::default(),
            controllers: Mutex::default(),
            registrations: Mutex::default(),
            expected: Mutex::default(),
            granted: Mutex::default(),
            conditions: Default::default(),
            added: Default::default(),
            components: Default::default(),
            converted: Default::default(),
            admission: OnceLock::new(),
            authored: Default::default(),
            probes,
            routes: Default::default(),
            filled,
        };
        Manager { core: Arc::new(core) }
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;
    use k8s_openapi::api::core::v1::Secret;
    use kube::{Api, api::WatchParams};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
        time::timeout,
    };

    use super::*;

    #[tokio::test]
    async fn the_watches_of_certificates_end_after_the_silence_that_the_flag_sets() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            _ = stream.read(&mut [0; 4096]).await.unwrap();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
            stream.write_all(head.as_bytes()).await.unwrap();
            std::future::pending::<()>().await;
        });
        let config = || Config::new(format!("http://{address}").parse().unwrap());
        let manager = Manager::builder(Client::try_from(config()).unwrap())
            .access(config(), "op".to_owned(), Duration::from_millis(50))
            .build();
        let secrets = Api::<Secret>::namespaced(manager.admission_client().unwrap(), "default");
        let mut events = Box::pin(secrets.watch(&WatchParams::default(), "0").await.unwrap());
        let next = timeout(Duration::from_secs(20), events.next()).await;
        assert!(next.expect("it ends").is_none());
        server.abort();
    }
}
