//! The service account of an operator under test: with the permissions that `config/rbac` binds to it, and a kubeconfig
//! with its token.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use k8s_openapi::{
    ByteString,
    api::{
        authentication::v1::{TokenRequest, TokenRequestSpec},
        core::v1::{Namespace, ServiceAccount},
    },
};
use kube::{Api, Config, api::PostParams};
use kubewright_schema::files;
use serde_json::{Value, json};

use super::{TestCluster, control_plane::pem, fixtures::apply_one, granted::Granted, random};
use crate::error::{Error, Result};

/// The name in `config/rbac/service_account.yaml`.
pub(super) const NAME: &str = "controller-manager";

/// An account in the test's namespace, and the file with its kubeconfig. The file is removed on drop.
pub(super) struct Account {
    kubeconfig: PathBuf,
}

impl Account {
    /// Creates the account with the roles that `config/rbac` binds to it, and waits until the API server applies them.
    ///
    /// Roles and bindings get the test's namespace, unless they name another one, and its name as a prefix, as in a
    /// deployment. The namespace owns those outside of it, so they are deleted with it. Namespaces that they name are
    /// created.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if nothing is bound to the account, or if a user's own cluster has no namespace that a role names;
    /// [`Error::Kube`] if the cluster refuses an object.
    pub(super) async fn make(cluster: &TestCluster) -> Result<Self> {
        let documents = files::documents(Path::new("config/rbac")).map_err(Error::Setup)?;
        let granted = Granted::of(&documents, cluster.namespace());
        if granted.is_empty() {
            return Err(Error::Setup(
                "`config/rbac` binds no role to the operator's service account\n\nhint: run `make manifests`"
                    .to_owned(),
            ));
        }
        for namespace in granted.elsewhere(cluster.namespace()) {
            has_namespace(cluster, namespace).await?;
        }
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME}});
        apply_one(&cluster.client, cluster.namespace(), account).await?;
        let owner = owner(cluster).await?;
        for mut object in granted.objects().cloned() {
            if object["metadata"]["namespace"] != cluster.namespace() {
                object["metadata"]["ownerReferences"] = json!([owner]);
            }
            apply_one(&cluster.client, cluster.namespace(), object).await?;
        }
        granted.known(cluster).await?;
        let kubeconfig = kubeconfig(&cluster.config, cluster.namespace(), &token(cluster).await?);
        Ok(Self {
            kubeconfig: write(&kubeconfig)
                .map_err(|error| Error::Setup(format!("cannot write a kubeconfig: {error}")))?,
        })
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        // If this fails, the system's own cleaning of temporary files removes it.
        let _ = fs::remove_file(&self.kubeconfig);
    }
}

/// Creates the namespace of a role, unless the cluster is the user's own: it would stay there.
async fn has_namespace(cluster: &TestCluster, name: &str) -> Result<()> {
    if !cluster.is_existing() {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        // Applied, because another operator of the test may have it too.
        return apply_one(&cluster.client, cluster.namespace(), namespace)
            .await
            .map(|_| ());
    }
    let namespaces: Api<Namespace> = Api::all(cluster.client.clone());
    if namespaces.get_opt(name).await?.is_some() {
        return Ok(());
    }
    let text = format!(
        "`config/rbac` has a role in the namespace `{name}`, which the cluster of your kubeconfig does not have"
    );
    let hint = format!("run `kubectl create namespace {name}`");
    Err(Error::Setup(format!("{text}\n\nhint: {hint}")))
}

/// The reference of what is deleted with the namespace of a test.
pub(super) async fn owner(cluster: &TestCluster) -> Result<Value> {
    let namespaces: Api<Namespace> = Api::all(cluster.client.clone());
    let namespace = namespaces.get(cluster.namespace()).await?;
    Ok(json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "name": cluster.namespace(),
        "uid": namespace.metadata.uid,
    }))
}

async fn token(cluster: &TestCluster) -> Result<String> {
    let accounts: Api<ServiceAccount> = Api::namespaced(cluster.client.clone(), cluster.namespace());
    let request = TokenRequest {
        spec: Some(TokenRequestSpec::default()),
        ..TokenRequest::default()
    };
    let answer = accounts
        .create_token_request(NAME, &PostParams::default(), &request)
        .await?;
    Ok(answer.status.and_then(|status| status.token).unwrap_or_default())
}

/// A kubeconfig for the cluster of `config`, with this token in place of the administrator's credentials.
fn kubeconfig(config: &Config, namespace: &str, token: &str) -> Value {
    let mut cluster = json!({"server": config.cluster_url.to_string()});
    if config.accept_invalid_certs {
        cluster["insecure-skip-tls-verify"] = json!(true);
    } else if let Some(certificates) = &config.root_cert {
        let pem: String = certificates.iter().map(|der| pem("CERTIFICATE", der)).collect();
        cluster["certificate-authority-data"] = json!(ByteString(pem.into_bytes()));
    }
    if let Some(name) = &config.tls_server_name {
        cluster["tls-server-name"] = json!(name);
    }
    if let Some(proxy) = &config.proxy_url {
        cluster["proxy-url"] = json!(proxy.to_string());
    }
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": NAME, "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": NAME, "namespace": namespace}}],
        "current-context": "test",
    })
}

/// A new file that only this user can read: it contains a token.
fn write(kubeconfig: &Value) -> io::Result<PathBuf> {
    let path = std::env::temp_dir().join(format!("kubewright-account-{:016x}", random()));
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&path)?.write_all(kubeconfig.to_string().as_bytes())?;
    Ok(path)
}
