//! The server: one cheap handle, made from options, that answers requests of any HTTP shell and of none.

mod discover;
mod handle;
mod probes;
mod resources;
mod route;
mod service;
#[cfg(test)]
mod tests;

pub use service::Service;

use std::sync::Arc;

use futures::FutureExt;
use tokio::{runtime::Handle, sync::broadcast};

use crate::{
    auth::Authenticator,
    authorize::{Authorizer, Refusal},
    catalogue::Catalogue,
    clock::Clock,
    controllers::{self, Controllers},
    custom,
    discovery::Discovery,
    effects::Cluster,
    kinds,
    openapi::OpenApi,
    state::Core,
    store::{self, Store},
    user::User,
};

/// What a server is made from.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What objects are stamped with.
    pub clock: Clock,
    /// Who may come with a bearer token. Requests within the process need none.
    pub tokens: Vec<(String, User)>,
    /// What is done without being asked for. They run on the tokio runtime that the server is made in, and not at all
    /// without one.
    pub controllers: Controllers,
    /// How many changes are kept for watches and lists of the past; [`store::HISTORY`] if not said.
    pub history: Option<usize>,
    /// Host and port, as discovery tells clients; empty for a server without sockets.
    pub address: String,
}

/// A Kubernetes API server. Clones are handles of the same one; it goes with the last of them.
///
/// # Guarantees
/// - What it answers is what kube-apiserver 1.36 answers, or a 501 that names what is missing.
/// - No request brings it down: a panic while one is answered becomes a 500.
#[derive(Clone)]
pub struct ApiServer {
    shared: Arc<Shared>,
    /// They stop with the last handle.
    _controllers: Option<Arc<controllers::Running>>,
}

/// What all handles of a server share.
struct Shared {
    cluster: Arc<Cluster>,
    address: String,
    authenticator: Authenticator,
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
        Self::on(store, options)
    }

    /// Starts a server that keeps its objects in a directory, and has those of an earlier one. What is answered is on
    /// the disk.
    ///
    /// # Errors
    /// [`OpenError`](store::OpenError), when another process has the directory for example.
    #[cfg(feature = "persist")]
    pub fn open(directory: &std::path::Path, options: Options) -> Result<Self, store::OpenError> {
        let store = Store::open(directory, options.history.unwrap_or(store::HISTORY))?;
        Ok(Self::on(store, options))
    }

    /// Starts a server on a store that may have objects already, which is to be its own: nobody else writes to it later.
    /// [`Options::history`] is the store's.
    pub fn on(store: Store, options: Options) -> Self {
        let catalogue = Catalogue::default();
        catalogue.add_built_in(kinds::resources().into_iter().chain([custom::definition::resource()]));
        let cluster = Arc::new(Cluster::new(Core {
            store,
            catalogue: catalogue.clone(),
            authorizer: Authorizer::default(),
            clock: options.clock,
        }));
        begin(&cluster, &options.address);
        let runtime = Handle::try_current().ok();
        let start = |runtime| Arc::new(controllers::start(&cluster, options.controllers, &runtime));
        Self {
            _controllers: runtime.map(start),
            shared: Arc::new(Shared {
                cluster,
                address: options.address,
                authenticator: Authenticator::new(options.tokens),
                discovery: Discovery::new(catalogue.clone()),
                openapi: OpenApi::new(catalogue),
            }),
        }
    }

    /// How many objects and changes requests and controllers have looked at so far, see
    /// [`Store::looked`](store::Store::looked).
    pub fn looked(&self) -> u64 {
        self.shared.core().store.looked()
    }

    /// All resources that are served now.
    pub fn catalogue(&self) -> &Catalogue {
        &self.shared.core().catalogue
    }

    /// What users are refused from now on, because no role grants it: a receiver that is late loses the oldest.
    pub fn refusals(&self) -> broadcast::Receiver<Refusal> {
        self.shared.core().authorizer.refusals()
    }

    /// The server as a tower service, for `kube::Client::new(server.service(), "default")` and every HTTP server.
    /// A request is trusted with everything unless it has credentials or a [`Peer`](crate::auth::Peer) among its
    /// extensions.
    pub fn service(&self) -> Service {
        Service::new(self.clone())
    }
}

/// Creates the objects that every server has, and restores the effects of those that it has already. None of this can
/// wait: whatever a member of admission would wait for may need this very server.
fn begin(cluster: &Arc<Cluster>, address: &str) {
    let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    let all = async {
        controllers::bootstrap::bootstrap(cluster, port.unwrap_or(443)).await;
        cluster.restore().await;
    };
    let done = tokio::task::unconstrained(all).now_or_never();
    debug_assert!(done.is_some(), "the first writes of a server do not wait");
}
