//! For the tests of operators (feature `testing`, no part of an operator's own build): an API server, the operator as a
//! process, and functions that wait for conditions.
//!
//! All servers listen on loopback only and end when the value that started them is dropped.

mod account;
mod builder;
mod cleanup;
mod control_plane;
mod converters;
mod dev_server;
mod echo;
mod fixtures;
mod granted;
mod launch;
mod log_filter;
mod operator;
mod policies;
mod refusals;
mod rehearsal;
mod variables;
mod webhooks;

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
    io,
    net::TcpListener,
    path::{Path, PathBuf},
    time::Duration,
};

use k8s_openapi::{
    api::core::v1::Namespace, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, Config,
    api::{DynamicObject, ObjectMeta, PostParams},
};
use kubewright_schema::files;
use tokio::time::{Instant, sleep};

pub use self::builder::TestClusterBuilder;
pub use self::fixtures::{apply, from_yaml, wait_for_condition, wait_for_condition_of};
pub use self::launch::OperatorBuilder;
pub use self::operator::{Program, RunningOperator};
pub use self::rehearsal::{Rehearsal, Rehearsed, Write};
use self::{builder::Server, launch::Launch};
pub use crate::jitter::seed_delays;
use crate::{
    connection, crds,
    error::{Error, Result},
    key::ObjectKey,
    kind::Kind,
    object::{AnyObject, Object},
};
#[doc(hidden)] // For the tests of the runtime itself.
pub use crate::{
    logging::text as log_lines,
    server::{Probes, Servers},
};

/// The time that [`wait_for`] waits: a busy test machine is slow, and a passing test never waits this long.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The interval at which [`wait_for`] calls its function.
const PERIOD: Duration = Duration::from_millis(50);

/// A cluster for one test, and a namespace in it that no other test uses.
///
/// # Flow
///
/// By default the API server of the project's `dev` program, started in some milliseconds: with a garbage collector and
/// a namespace controller, but no others, so Deployments create no Pods unless the test asks for
/// [workloads](TestClusterBuilder::workloads). With `KUBEBUILDER_ASSETS`, `kube-apiserver`
/// and `etcd` of that folder, started in about three seconds: without any controller, so the children of a deleted
/// object are not deleted. With `USE_EXISTING_CLUSTER=true`, the cluster of the kubeconfig.
///
/// # Guarantees
///
/// Started programs listen on 127.0.0.1 only, and keep their data in a temporary folder. When the value is dropped,
/// also by a failing test, they are killed and the namespace is deleted.
pub struct TestCluster {
    client: Client,
    config: Config,
    namespace: String,
    server: Server,
}

impl TestCluster {
    /// Connects to the cluster or starts one, creates the namespace, and installs missing CRDs of
    /// `config/crd/external`: definitions of kinds that other operators own.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if a program is missing, cannot be built, or is not ready within a minute (with the end of its
    /// log); [`Error::Kube`] if the namespace cannot be created.
    pub async fn start() -> Result<Self> {
        Self::builder().start().await
    }

    /// Options of the cluster, before it is started.
    pub fn builder() -> TestClusterBuilder {
        TestClusterBuilder::default()
    }

    async fn start_with(options: TestClusterBuilder) -> Result<Self> {
        let namespace = format!("test-{:08x}", random() as u32);
        let server = Server::start(&namespace, options).await?;
        let config = match server.kubeconfig() {
            Some(kubeconfig) => config_of(kubeconfig).await?,
            None => connection::config(None)
                .await
                .map_err(|why| Error::Setup(format!("no cluster to test on: {why}")))?,
        };
        let client = client_of(config.clone())?;
        make_namespace(&client, &namespace).await?;
        // From here on the namespace is deleted whatever fails.
        let cluster = Self {
            client,
            config,
            namespace,
            server,
        };
        install_external(&cluster.client).await?;
        Ok(cluster)
    }

    /// A client that may do everything.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The namespace of this test, which no other test uses.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The kubeconfig of the cluster, for kubectl; `None` for the user's own cluster.
    pub fn kubeconfig(&self) -> Option<&Path> {
        self.server.kubeconfig()
    }

    /// Whether the API server calls the webhooks of an operator that runs here: unless it is the user's own cluster, and
    /// `WEBHOOK_URL=0` means that it cannot.
    pub fn calls_webhooks(&self) -> bool {
        !(self.is_existing() && webhooks::is_nowhere())
    }

    /// Fails unless the API server [calls webhooks](Self::calls_webhooks), for a test that is about them.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`]: a test that cannot run has not passed.
    pub fn require_webhooks(&self) -> Result<()> {
        match self.calls_webhooks() {
            true => Ok(()),
            false => Err(Error::Setup(webhooks::without())),
        }
    }

    /// Whether it is the user's own cluster.
    fn is_existing(&self) -> bool {
        matches!(self.server, Server::Existing)
    }

    /// The file with the messages of requests that the server refused, if it writes one.
    fn refusals(&self) -> Option<PathBuf> {
        match &self.server {
            Server::Dev(running) => Some(running.refusals()),
            Server::Existing | Server::ControlPlane(_) => None,
        }
    }

    fn is_in_process(&self) -> bool {
        matches!(self.server, Server::Dev(_))
    }

    /// Applies every object of a YAML text, in this test's namespace if it names none: see [`apply`]. For samples,
    /// `include_str!("../config/samples/…")`.
    ///
    /// # Errors
    ///
    /// As [`apply`].
    pub async fn apply(&self, text: &str) -> Result<Vec<DynamicObject>> {
        apply(&self.client, &self.namespace, text).await
    }

    /// Waits until the condition of an object in this test's namespace, or of a cluster-scoped kind, has this status: see
    /// [`wait_for_condition`].
    ///
    /// # Errors
    ///
    /// As [`wait_for_condition`].
    pub async fn wait_for_condition<K: Object>(&self, name: &str, type_: &str, status: &str) -> Result<K> {
        self.wait_for_condition_of(&Kind::of(), name, &format!("{type_}={status}"))
            .await
    }

    /// As [`wait_for_condition`](Self::wait_for_condition), for a kind that may have no Rust type. `condition` is a type
    /// and a status, as for `kubectl wait`: `Ready=True`.
    ///
    /// # Errors
    ///
    /// As [`wait_for_condition_of`].
    pub async fn wait_for_condition_of<K: AnyObject>(&self, kind: &Kind<K>, name: &str, condition: &str) -> Result<K> {
        let namespace = kind.is_namespaced().then_some(self.namespace.as_str());
        wait_for_condition_of(&self.client, kind, &ObjectKey::new(namespace, name), condition).await
    }

    /// Runs the operator until it is ready, watching this test's namespace only. `program` is
    /// [`operator!`](macro@crate::operator) of the package's name, or the program's path.
    ///
    /// # Flow
    ///
    /// The CRDs of `config/crd/bases` are installed. The operator has a service account in the test's namespace with
    /// exactly the permissions that `config/rbac` binds to the deployed one, so that a missing permission is found
    /// here: see [`RunningOperator::stop`]. The namespaces of roles that are in others are created, but not in a user's own
    /// cluster. Its webhooks of `config/webhook` are called for objects in this namespace. A user's own cluster calls them
    /// at the address of this machine that the environment variable `WEBHOOK_URL` names, as `https://192.168.1.5`, at a free
    /// port or at that of the URL; `WEBHOOK_URL=0` runs the operator without webhooks there. The configurations are deleted
    /// with the namespace, and CustomResourceDefinitions get back the conversion of a deployed operator that they had.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the test was built from another folder than it runs in ([`built_from`](crate::built_from)),
    /// `config/rbac/role.yaml` differs from what the operator's controllers declare, the user's own
    /// cluster has no namespace that a role is in, the operator has webhooks there and `WEBHOOK_URL` is not set, or the
    /// program cannot be started, ends, or is not ready in time, which is 30 s, or 5 s after the first request that no role
    /// grants: then the error contains the `.rule(…)` that does. [`Error::Kube`] if the cluster refuses CRDs or roles.
    pub async fn run_operator(&self, program: impl Into<Program>) -> Result<RunningOperator> {
        self.operator(program).start().await
    }

    /// The operator with arguments, environment variables or a clock of the test's choice.
    pub fn operator(&self, program: impl Into<Program>) -> OperatorBuilder<'_> {
        OperatorBuilder::new(self, program.into())
    }

    /// Starts an operator of this program.
    async fn start_operator(&self, program: Program, launch: Launch) -> Result<RunningOperator> {
        let clock = launch.clock.is_some();
        let mut running = self.spawn_operator(program, launch).await?;
        running.ready(program, clock).await?;
        Ok(running)
    }

    /// As [`start_operator`](Self::start_operator), without waiting until it is ready.
    async fn spawn_operator(&self, program: Program, launch: Launch) -> Result<RunningOperator> {
        let program = program.of_this_checkout()?;
        let mut crds = files::documents(Path::new("config/crd/bases")).map_err(Error::Setup)?;
        // The folder also contains a kustomization.
        crds.retain(|document| document["kind"] == "CustomResourceDefinition");
        crds::install(&self.client, &crds).await?;
        RunningOperator::spawn(program, launch, self).await
    }
}

/// Calls `look` every 50 ms until it returns true.
///
/// # Errors
///
/// [`Error::Setup`], which names `what` and the last error, after [`PATIENCE`]. An error of `look` does not end the
/// wait.
pub async fn wait_for(what: &str, mut look: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let last = match look().await {
            Ok(true) => return Ok(()),
            Ok(false) => String::new(),
            Err(error) => format!(" (last error: {error})"),
        };
        if Instant::now() >= deadline {
            return Err(Error::Setup(format!(
                "waited {} s in vain for {what}{last}",
                PATIENCE.as_secs()
            )));
        }
        sleep(PERIOD).await;
    }
}

async fn config_of(kubeconfig: &Path) -> Result<Config> {
    connection::config(Some(kubeconfig)).await.map_err(Error::Setup)
}

/// A client that uses a proxy as an operator's client does.
fn client_of(config: Config) -> Result<Client> {
    Ok(connection::builder(config, |text| tracing::warn!("{text}"))
        .map_err(Error::Setup)?
        .build())
}

async fn make_namespace(client: &Client, name: &str) -> Result<()> {
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    };
    let namespace = Namespace {
        metadata,
        ..Namespace::default()
    };
    Api::<Namespace>::all(client.clone())
        .create(&PostParams::default(), &namespace)
        .await?;
    Ok(())
}

/// Installs the CRDs of kinds that other operators own. An existing CRD is not changed.
async fn install_external(client: &Client) -> Result<()> {
    let crds = files::documents(Path::new("config/crd/external")).map_err(Error::Setup)?;
    let api = Api::<CustomResourceDefinition>::all(client.clone());
    let mut missing = Vec::new();
    for crd in crds {
        let name = crd["metadata"]["name"].as_str().unwrap_or_default();
        if api.get_opt(name).await?.is_none() {
            missing.push(crd);
        }
    }
    crds::install(client, &missing).await
}

/// 64 random bits: std seeds its hashers from the operating system.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Ports that are free now; all are bound until the last one is chosen, so they differ.
fn free_ports<const N: usize>() -> io::Result<[u16; N]> {
    let mut held = Vec::new();
    let mut ports = [0; N];
    for port in &mut ports {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        *port = listener.local_addr()?.port();
        held.push(listener);
    }
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_wait_in_vain_names_what_it_waited_for() {
        let error = wait_for("Godot", async || Ok(false)).await.unwrap_err();
        assert_eq!(error.to_string(), "waited 30 s in vain for Godot");
    }

    #[tokio::test(start_paused = true)]
    async fn an_error_does_not_end_the_wait() {
        let mut tries = 0;
        let found = wait_for("the third try", || {
            tries += 1;
            let result = if tries < 3 { Err(Error::NotLeader) } else { Ok(true) };
            async { result }
        });
        found.await.unwrap();
        assert_eq!(tries, 3);
    }

    #[tokio::test]
    #[ignore = "needs KUBEBUILDER_ASSETS"]
    async fn a_cluster_starts_and_responds() {
        let cluster = TestCluster::start().await.unwrap();
        let namespaces: Api<Namespace> = Api::all(cluster.client());
        namespaces.get(cluster.namespace()).await.unwrap();
    }
}
