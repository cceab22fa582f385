//! The options of a cluster for a test, and the API server that they lead to.

use std::path::{Path, PathBuf};

use super::{TestCluster, control_plane::ControlPlane, dev_server::DevServer, variables};
use crate::error::{Error, Result};

/// The options of a [`TestCluster`].
#[derive(Clone, Copy, Debug, Default)]
pub struct TestClusterBuilder {
    workloads: bool,
}

impl TestClusterBuilder {
    /// Workloads work: Deployments are rolled out, and their Pods become ready. Off by default.
    ///
    /// # Guarantees
    ///
    /// On the API server of `dev/`, no container runs. The annotation `kubewright.dev/kubelet` of a Pod template says what
    /// the Pods do instead: `never-ready`, `exit=1`, `ready-after=30s`. In the cluster of the kubeconfig, nodes run the Pods.
    #[must_use]
    pub fn workloads(mut self) -> Self {
        self.workloads = true;
        self
    }

    /// As [`TestCluster::start`].
    ///
    /// # Errors
    ///
    /// As [`TestCluster::start`], and [`Error::Setup`] for [workloads](Self::workloads) with `KUBEBUILDER_ASSETS`: these
    /// programs contain no controllers.
    pub async fn start(self) -> Result<TestCluster> {
        TestCluster::start_with(self).await
    }
}

/// The API server of the cluster.
pub(super) enum Server {
    Existing,
    ControlPlane(ControlPlane),
    Dev(DevServer),
}

impl Server {
    pub(super) async fn start(namespace: &str, options: TestClusterBuilder) -> Result<Self> {
        if variables::is_own_cluster(&std::env::var("USE_EXISTING_CLUSTER").unwrap_or_default())? {
            return Ok(Self::Existing);
        }
        let assets = std::env::var_os("KUBEBUILDER_ASSETS").filter(|assets| !assets.is_empty());
        match assets.map(PathBuf::from) {
            Some(_) if options.workloads => Err(Error::Setup(
                "the test needs workloads, and the programs of KUBEBUILDER_ASSETS contain no controllers\n\nhint: unset \
                 KUBEBUILDER_ASSETS to use the API server of `dev`, or set USE_EXISTING_CLUSTER=true to use the cluster of \
                 your kubeconfig"
                    .to_owned(),
            )),
            Some(assets) => Ok(Self::ControlPlane(ControlPlane::start(&assets, namespace).await?)),
            None => Ok(Self::Dev(DevServer::start(options.workloads).await?)),
        }
    }

    /// `None` for the user's own cluster.
    pub(super) fn kubeconfig(&self) -> Option<&Path> {
        match self {
            Self::Existing => None,
            Self::ControlPlane(running) => Some(running.kubeconfig()),
            Self::Dev(running) => Some(running.kubeconfig()),
        }
    }
}
