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
        authorization::v1::{NonResourceAttributes, ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec},
        core::v1::{Namespace, ServiceAccount},
    },
};
use kube::{Api, Config, api::PostParams};
use kubewright_schema::files;
use serde_json::{Value, json};

use super::{TestCluster, control_plane::pem, fixtures::apply_one, random, wait_for, webhooks::is_prefixed};
use crate::{
    error::{Error, Result},
    rbac::NAMESPACE,
};

/// The name in `config/rbac/service_account.yaml`.
const NAME: &str = "controller-manager";

/// An account in the test's namespace, and the file with its kubeconfig. The file is removed on drop.
pub(super) struct Account {
    kubeconfig: PathBuf,
}

impl Account {
    /// Creates the account with the roles that `config/rbac` binds to it, and waits until the API server applies them.
    ///
    /// Roles and bindings get the test's namespace, unless they name another one, and its name as a prefix, as in a
    /// deployment. The namespace owns those outside of it, so they are deleted with it.
    pub(super) async fn make(cluster: &TestCluster) -> Result<Self> {
        let documents = files::documents(Path::new("config/rbac")).map_err(Error::Setup)?;
        let granted = granted(&documents, cluster.namespace());
        if granted.is_empty() {
            return Err(Error::Setup(
                "`config/rbac` binds no role to the operator's service account\n\nhint: run `make manifests`"
                    .to_owned(),
            ));
        }
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME}});
        apply_one(&cluster.client, cluster.namespace(), account).await?;
        let owner = owner(cluster).await?;
        for mut object in granted.iter().cloned() {
            if object["metadata"]["namespace"] != cluster.namespace() {
                object["metadata"]["ownerReferences"] = json!([owner]);
            }
            apply_one(&cluster.client, cluster.namespace(), object).await?;
        }
        for role in &granted {
            known(cluster, role).await?;
        }
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

/// The roles that are bound to the operator's service account and their bindings, adapted to this namespace. A role
/// that is bound but is not among the documents, such as `view`, is one of the cluster's and keeps its name.
fn granted(documents: &[Value], namespace: &str) -> Vec<Value> {
    let is_operator = |subject: &Value| subject["kind"] == "ServiceAccount" && subject["name"] == NAME;
    let (mut roles, mut bindings) = (Vec::new(), Vec::new());
    for document in documents {
        let Some(subjects) = document["subjects"].as_array() else {
            continue;
        };
        if !subjects.iter().any(is_operator) {
            continue;
        }
        let mut binding = placed(document, namespace);
        binding["subjects"] = json!([{"kind": "ServiceAccount", "name": NAME, "namespace": namespace}]);
        let reference = &document["roleRef"];
        let is_bound =
            |role: &&Value| role["kind"] == reference["kind"] && role["metadata"]["name"] == reference["name"];
        if let Some(role) = documents.iter().find(is_bound) {
            let role = placed(role, namespace);
            binding["roleRef"]["name"] = role["metadata"]["name"].clone();
            roles.push(role);
        }
        bindings.push(binding);
    }
    // A binding may name a role that does not exist, but then grants nothing until it does.
    roles.into_iter().chain(bindings).collect()
}

/// The object with the namespace's name as a prefix, and in that namespace unless it is cluster-scoped or of another one.
fn placed(object: &Value, namespace: &str) -> Value {
    let mut placed = object.clone();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    placed["metadata"] = json!({"name": format!("{namespace}-{name}")});
    if object["kind"] == "Role" || object["kind"] == "RoleBinding" {
        let other = object["metadata"]["annotations"][NAMESPACE].as_str();
        placed["metadata"]["namespace"] = json!(other.unwrap_or(namespace));
    }
    let rules = placed.get_mut("rules").and_then(Value::as_array_mut);
    let names = rules
        .into_iter()
        .flatten()
        .filter_map(|rule| rule.get_mut("resourceNames"));
    for name in names.filter_map(Value::as_array_mut).flatten() {
        if let Some(known) = name.as_str().filter(|name| is_prefixed(name)) {
            *name = json!(format!("{namespace}-{known}"));
        }
    }
    placed
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

/// Waits until the API server allows what the first rule of a role grants: its authorizer watches roles and bindings,
/// and applies them a moment later.
async fn known(cluster: &TestCluster, role: &Value) -> Result<()> {
    let rule = &role["rules"][0];
    let first = |list: &str| rule[list][0].as_str().map(str::to_owned);
    let mut spec = SubjectAccessReviewSpec {
        user: Some(format!("system:serviceaccount:{}:{NAME}", cluster.namespace())),
        ..SubjectAccessReviewSpec::default()
    };
    match (first("resources"), first("nonResourceURLs")) {
        (Some(resource), _) => {
            let (resource, subresource) = match resource.split_once('/') {
                Some((resource, subresource)) => (resource.to_owned(), Some(subresource.to_owned())),
                None => (resource, None),
            };
            spec.resource_attributes = Some(ResourceAttributes {
                group: first("apiGroups"),
                resource: Some(resource),
                subresource,
                verb: first("verbs"),
                name: first("resourceNames"),
                namespace: role["metadata"]["namespace"].as_str().map(str::to_owned),
                ..ResourceAttributes::default()
            });
        }
        (None, path @ Some(_)) => {
            let verb = first("verbs");
            spec.non_resource_attributes = Some(NonResourceAttributes { path, verb });
        }
        (None, None) => return Ok(()),
    }
    let review = SubjectAccessReview {
        spec,
        ..SubjectAccessReview::default()
    };
    let reviews: Api<SubjectAccessReview> = Api::all(cluster.client.clone());
    wait_for("the operator's permissions", async || {
        let answer = reviews.create(&PostParams::default(), &review).await?;
        Ok(answer.status.is_some_and(|status| status.allowed))
    })
    .await
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

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(kind: &str, role: &str, subject: &str) -> Value {
        json!({"kind": format!("{kind}Binding"), "metadata": {"name": format!("{role}-binding"), "namespace": "system"},
            "roleRef": {"kind": kind, "name": role}, "subjects": [{"kind": "ServiceAccount", "name": subject, "namespace": "system"}]})
    }

    /// As `make manifests` writes a role of another namespace, and its binding.
    fn elsewhere(mut object: Value) -> Value {
        object["metadata"]["annotations"] = json!({NAMESPACE: "kube-system"});
        object["metadata"]["namespace"] = json!("kube-system");
        object
    }

    #[test]
    fn bound_roles_are_granted_in_the_namespace_of_the_test() {
        let role = |kind: &str, name: &str| json!({"kind": kind, "metadata": {"name": name}, "rules": []});
        let documents = [
            role("ClusterRole", "manager-role"),
            role("ClusterRole", "foobar-viewer"),
            role("Role", "leases"),
            binding("ClusterRole", "manager-role", NAME),
            binding("Role", "leases", NAME),
            binding("ClusterRole", "view", NAME),
            binding("ClusterRole", "foobar-viewer", "somebody"),
            elsewhere(role("Role", "elsewhere")),
            elsewhere(binding("Role", "elsewhere", NAME)),
        ];
        let granted = granted(&documents, "test-1");
        let names: Vec<_> = granted
            .iter()
            .map(|object| format!("{} {}", object["kind"], object["metadata"]))
            .collect();
        assert_eq!(
            names,
            [
                r#""ClusterRole" {"name":"test-1-manager-role"}"#,
                r#""Role" {"name":"test-1-leases","namespace":"test-1"}"#,
                r#""Role" {"name":"test-1-elsewhere","namespace":"kube-system"}"#,
                r#""ClusterRoleBinding" {"name":"test-1-manager-role-binding"}"#,
                r#""RoleBinding" {"name":"test-1-leases-binding","namespace":"test-1"}"#,
                r#""ClusterRoleBinding" {"name":"test-1-view-binding"}"#,
                r#""RoleBinding" {"name":"test-1-elsewhere-binding","namespace":"kube-system"}"#,
            ]
        );
        assert_eq!(granted[3]["roleRef"]["name"], "test-1-manager-role");
        assert_eq!(granted[5]["roleRef"]["name"], "view");
        assert_eq!(granted[4]["subjects"][0]["namespace"], "test-1");
    }
}
