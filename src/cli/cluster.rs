//! The cluster of the kubeconfig, if it answers. Only reads.

use super::{connection, report};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use serde_json::{Value, json};
use std::error::Error;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// The time limit for the cluster: for its version, and for all CRDs together.
const PATIENCE: Duration = Duration::from_secs(5);

/// A cluster that answers.
pub struct Cluster {
    runtime: Runtime,
    client: Client,
}

impl Cluster {
    /// The cluster, with its version and address.
    ///
    /// # Errors
    /// The reason that no cluster is found, on one line; perhaps a hint in a paragraph of its own.
    pub fn find() -> Result<(Self, String), String> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("cannot be checked: {error}"))?;
        let (version, client) = runtime.block_on(connected())?;
        Ok((Self { runtime, client }, version))
    }

    /// The CRDs of these names, in their order; `None` for those that are not installed.
    ///
    /// # Errors
    /// The reason that a definition cannot be read, on one line.
    pub fn definitions(&self, names: &[String]) -> Result<Vec<Option<Value>>, String> {
        let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
        let api = Api::<DynamicObject>::all_with(self.client.clone(), &ApiResource::from_gvk(&kind));
        let asked = async {
            let mut found = Vec::new();
            for name in names {
                let crd = api.get_opt(name).await;
                let crd = crd.map_err(|error| format!("`{name}` cannot be read: {}", deepest(&error)))?;
                found.push(crd.map(|crd| json!(crd)));
            }
            Ok(found)
        };
        let late = || format!("the CRDs cannot be read within {} s", PATIENCE.as_secs());
        let limited = async { tokio::time::timeout(PATIENCE, asked).await };
        self.runtime.block_on(limited).unwrap_or_else(|_| Err(late()))
    }
}

/// The cluster's version and address, and a client of it; or the reason that no cluster is found, perhaps with a hint in a paragraph of its own.
async fn connected() -> Result<(String, Client), String> {
    let config = connection::config(None).await?;
    let url = config.cluster_url.to_string();
    let client = connection::builder(config, report::note)?.build();
    match tokio::time::timeout(PATIENCE, client.apiserver_version()).await {
        Ok(Ok(info)) => Ok((format!("{} at {url}", info.git_version), client)),
        Ok(Err(error)) => Err(format!("{url} does not answer: {}", deepest(&error))),
        Err(_) => Err(format!("{url} does not answer within {} s", PATIENCE.as_secs())),
    }
}

/// The innermost cause: `connection refused` instead of `client error`.
fn deepest(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), deepest)
}
