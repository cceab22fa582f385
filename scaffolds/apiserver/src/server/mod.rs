//! The server: one cheap handle, made from options, that answers requests of any HTTP shell and of none.

mod discover;
mod handle;
mod probes;
mod resources;
mod route;
mod service;

pub use service::Service;

use std::sync::Arc;

use tokio::runtime::Handle;

use crate::{
    auth::{Authenticator, User},
    authorize::Authorizer,
    catalogue::Catalogue,
    clock::Clock,
    controllers::{self, Controllers},
    custom::{self, Definitions},
    discovery::Discovery,
    kinds,
    openapi::OpenApi,
    store::{self, Store},
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
    core: Arc<Core>,
    /// They stop with the last handle.
    _controllers: Option<Arc<controllers::Running>>,
}

/// What requests are answered from.
pub struct Core {
    /// All objects.
    pub store: Store,
    /// All resources.
    pub catalogue: Catalogue,
    /// The custom kinds.
    pub(crate) definitions: Definitions,
    options: Options,
    pub(crate) authorizer: Authorizer,
    authenticator: Authenticator,
    discovery: Discovery,
    openapi: OpenApi,
}

impl Core {
    /// Seconds since 1970, see [`Clock`].
    pub fn now(&self) -> i64 {
        self.options.clock.seconds()
    }

    /// Tells the strategies which addresses and ports the objects of an earlier server hold: Services'.
    fn hold(&self) {
        let Some(services) = self.catalogue.resource("", "v1", "services") else {
            return;
        };
        let range = store::Range {
            resource: "/services".into(),
            namespace: None,
            name: None,
        };
        let page = self.store.list(&range, None, None, 0);
        for record in page.into_iter().flat_map(|page| page.records) {
            if let Ok(service) = serde_json::from_slice(&record.object) {
                services.strategy.hold(&service);
            }
        }
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
        let core = Core {
            store,
            authorizer: Authorizer::default(),
            authenticator: Authenticator::new(options.tokens.iter().cloned()),
            discovery: Discovery::new(catalogue.clone()),
            openapi: OpenApi::new(catalogue.clone()),
            catalogue,
            definitions: Definitions::default(),
            options,
        };
        let port = core
            .options
            .address
            .rsplit_once(':')
            .and_then(|(_, port)| port.parse().ok());
        controllers::bootstrap::bootstrap(&core, port.unwrap_or(443));
        controllers::bootstrap::roles(&core);
        core.definitions.restore(&core);
        core.hold();
        let core = Arc::new(core);
        let runtime = Handle::try_current().ok();
        let start = |runtime| Arc::new(controllers::start(&core, core.options.controllers, &runtime));
        Self {
            _controllers: runtime.map(start),
            core,
        }
    }

    /// How many objects and changes requests and controllers have looked at so far, see
    /// [`Store::looked`](store::Store::looked).
    pub fn looked(&self) -> u64 {
        self.core.store.looked()
    }

    /// All resources that are served now.
    pub fn catalogue(&self) -> &Catalogue {
        &self.core.catalogue
    }

    /// The server as a tower service, for `kube::Client::new(server.service(), "default")` and every HTTP server.
    /// A request is trusted with everything unless it has credentials or a [`Peer`](crate::auth::Peer) among its
    /// extensions.
    pub fn service(&self) -> Service {
        Service::new(self.clone())
    }
}
