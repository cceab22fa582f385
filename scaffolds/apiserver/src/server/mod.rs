//! The server: a cheap handle, made from options, that answers requests in this process or behind any HTTP server.

mod discover;
mod handle;
mod incoming;
mod probes;
mod resource_requests;
mod route;
mod service;
#[cfg(test)]
mod tests;

pub use service::Service;

use std::{net::SocketAddr, sync::Arc};

use futures::FutureExt;
use tokio::{runtime::Handle, sync::broadcast};

use crate::{
    auth::{Authenticator, Issuer},
    authorize::{Authorization, Authorizer, Refusal},
    catalogue::Catalogue,
    clock::Clock,
    controllers::{self, Controllers},
    custom,
    discovery::Discovery,
    effects::Cluster,
    flow::FlowControl,
    kinds,
    openapi::OpenApi,
    policies::Policies,
    quota,
    state::Core,
    store::{self, Store},
    user::User,
};

/// The configuration of a server.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The clock for timestamps of objects.
    pub clock: Clock,
    /// Bearer tokens and their users. Requests from within the process need no token.
    pub tokens: Vec<(String, User)>,
    /// The controllers to run. They run on the tokio runtime in which the server is created; without a runtime they do
    /// not run.
    pub controllers: Controllers,
    /// The number of changes that are kept for watches and lists of the past; 10,000 by default.
    pub history: Option<usize>,
    /// Host and port that discovery reports to clients; empty for a server without sockets.
    pub address: String,
    /// The certificate authority by which clients verify the server, in PEM; empty for a server without sockets.
    pub certificate_authority: String,
    /// The permissions of users.
    pub authorization: Authorization,
    /// The issuer of service accounts' tokens; by default the server, with a key that it generates.
    pub issuer: Option<Issuer>,
    /// Whether requests over a socket without credentials are refused, instead of being those of `system:anonymous`.
    pub refuses_anonymous: bool,
}

/// A Kubernetes API server. Clones are handles of the same server, which ends when the last handle is dropped.
///
/// # Guarantees
/// - It answers as kube-apiserver 1.37 does, or with a 501 that names what is missing.
/// - No request can stop it: a panic while a request is handled becomes a 500.
#[derive(Clone)]
pub struct ApiServer {
    shared: Arc<Shared>,
    /// The controllers stop when the last handle is dropped.
    _controllers: Option<Arc<controllers::Running>>,
}

/// State that all handles of a server share.
struct Shared {
    cluster: Arc<Cluster>,
    address: String,
    authenticator: Arc<Authenticator>,
    discovery: Discovery,
    openapi: OpenApi,
}

impl Shared {
    fn core(&self) -> &Core {
        &self.cluster.core
    }
}

impl ApiServer {
    /// Starts a server that keeps everything in memory.
    pub fn new(options: Options) -> Self {
        let store = Store::new(options.history.unwrap_or(store::HISTORY));
        Self::start(store, options)
    }

    /// Starts a server that keeps its objects in a directory, and has those of an earlier one. What is answered is on
    /// the disk.
    ///
    /// # Errors
    /// [`OpenError`](crate::OpenError), when another process has the directory for example.
    #[cfg(feature = "persist")]
    pub fn open(directory: &std::path::Path, options: Options) -> Result<Self, store::OpenError> {
        let store = Store::open(directory, options.history.unwrap_or(store::HISTORY))?;
        Ok(Self::start(store, options))
    }

    /// Starts a server on a store, which may already contain objects. The server must be the store's only writer from
    /// now on. [`Options::history`] is ignored: the store has its own.
    #[cfg(any(test, feature = "testing"))]
    pub fn on(store: Store, options: Options) -> Self {
        Self::start(store, options)
    }

    /// Makes a process of this machine the backend of a Service, by the namespace and name of the Service: webhooks whose
    /// configuration names the Service are called at this address. `None` ends that.
    ///
    /// The Service must exist in the server and have the port that the configuration names, and the process must have a
    /// certificate for `NAME.NAMESPACE.svc`. A Service without a backend leads to its first ready endpoint.
    pub fn set_backend(&self, namespace: &str, name: &str, address: Option<SocketAddr>) {
        self.shared.core().webhooks.backends.set(namespace, name, address);
    }

    fn start(store: Store, options: Options) -> Self {
        let catalogue = Catalogue::default();
        catalogue.add_built_in(kinds::resources().into_iter().chain([custom::definition::resource()]));
        let cluster = Arc::new(Cluster::new(Core {
            store,
            catalogue: catalogue.clone(),
            authorizer: Authorizer::new(options.authorization),
            clock: options.clock,
            flow: FlowControl::default(),
            policies: Policies::default(),
            charged: quota::Pending::default(),
            webhooks: Arc::default(),
        }));
        let authenticator = Authenticator::new(options.tokens)
            .issuing_as(options.issuer)
            .refusing_anonymous(options.refuses_anonymous);
        let authenticator = Arc::new(authenticator);
        begin(&cluster, &options.address);
        let runtime = Handle::try_current().ok();
        let start = |runtime| {
            let settings = controllers::ControllerSettings {
                controllers: options.controllers,
                authority: options.certificate_authority,
                authenticator: Arc::clone(&authenticator),
            };
            Arc::new(controllers::start(&cluster, settings, &runtime))
        };
        Self {
            _controllers: runtime.map(start),
            shared: Arc::new(Shared {
                cluster,
                address: options.address,
                authenticator,
                discovery: Discovery::new(catalogue.clone()),
                openapi: OpenApi::new(catalogue),
            }),
        }
    }

    /// The number of objects and changes that requests and controllers have looked at so far, see
    /// [`Store::looked`](crate::testing::store::Store::looked).
    #[cfg(feature = "testing")]
    pub fn looked(&self) -> u64 {
        self.shared.core().store.looked()
    }

    /// All resources that are served at this moment.
    #[cfg(any(test, feature = "serve"))]
    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.shared.core().catalogue
    }

    /// The state that requests read and write.
    #[cfg(feature = "sim")]
    pub(crate) fn core(&self) -> &Core {
        self.shared.core()
    }

    /// Waits until the data directory is no longer writable, and returns the reason. From then on requests for resources get a
    /// 500. In memory this waits for ever.
    #[cfg(feature = "persist")]
    pub async fn disk_failure(&self) -> String {
        self.shared.core().store.failed().await.0.to_string()
    }

    /// Requests that are refused from now on because no role grants them. A receiver that lags loses the oldest
    /// refusals.
    pub fn refusals(&self) -> broadcast::Receiver<Refusal> {
        self.shared.core().authorizer.refusals()
    }

    /// The server as a tower service, for `kube::Client::new(server.service(), "default")` and every HTTP server.
    /// A request is trusted with everything unless it has credentials or a [`Peer`](crate::Peer) among its
    /// extensions.
    pub fn service(&self) -> Service {
        Service::new(self.clone())
    }
}

/// Creates the objects that every server has, and restores the effects of the objects that exist already. None of this
/// may wait: a member of admission might wait for this very server.
fn begin(cluster: &Arc<Cluster>, address: &str) {
    let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    let all = async {
        controllers::bootstrap::bootstrap(cluster, port.unwrap_or(443)).await;
        cluster.restore().await;
    };
    let done = tokio::task::unconstrained(all).now_or_never();
    debug_assert!(done.is_some(), "the first writes of a server do not wait");
}
