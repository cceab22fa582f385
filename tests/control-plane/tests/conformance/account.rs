//! Service accounts with fewer permissions than the operator's: its deployed roles, without one verb.

use std::path::PathBuf;

use anyhow::{Context, Result};
use control_plane::{ControlPlane, eventually};
use k8s_openapi::api::{
    authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec},
    core::v1::ServiceAccount,
    rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding},
};
use kube::{
    Api, Client, Resource,
    api::{DeleteParams, PostParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::stage::{Case, PATIENCE};

const NAME: &str = "operator";
/// The certificate of the metrics, its authorities, and the role that keeps them.
pub const CERTIFICATE: &str = "config/prometheus/own-cert/certificate.yaml";

/// One verb on one resource.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Grant {
    pub group: String,
    pub resource: String,
    pub verb: String,
    /// The names of the objects that it applies to; empty for all.
    names: Vec<String>,
    /// Whether it applies to a cluster-scoped resource.
    everywhere: bool,
}

impl Grant {
    /// The API server's message for a request without this permission.
    pub fn refusal(&self) -> String {
        if self.is_of_finalizers() {
            return "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"
                .to_owned();
        }
        let Self {
            group, resource, verb, ..
        } = self;
        format!("cannot {verb} resource \"{resource}\" in API group \"{group}\"")
    }

    /// The request that is refused without it: verb and resource.
    pub fn refused(&self) -> String {
        // No request is made for the finalizers of an owner: the permission is needed to create its child.
        if self.is_of_finalizers() {
            return "create configmaps".to_owned();
        }
        format!("{} {}", self.verb, self.resource)
    }

    fn is_of_finalizers(&self) -> bool {
        self.resource.ends_with("/finalizers")
    }

    fn rule(&self) -> PolicyRule {
        PolicyRule {
            api_groups: Some(vec![self.group.clone()]),
            resources: Some(vec![self.resource.clone()]),
            verbs: vec![self.verb.clone()],
            resource_names: (!self.names.is_empty()).then(|| self.names.clone()),
            ..PolicyRule::default()
        }
    }
}

fn split(rules: Option<Vec<PolicyRule>>, everywhere: bool) -> Vec<Grant> {
    let mut grants = Vec::new();
    for rule in rules.unwrap_or_default() {
        for group in rule.api_groups.iter().flatten() {
            for resource in rule.resources.iter().flatten() {
                grants.extend(rule.verbs.iter().map(|verb| Grant {
                    group: group.clone(),
                    resource: resource.clone(),
                    verb: verb.clone(),
                    names: rule.resource_names.clone().unwrap_or_default(),
                    everywhere,
                }));
            }
        }
    }
    grants
}

impl Case<'_> {
    /// All permissions of the operator, as `make deploy` has created them, and those of the components `metrics` and
    /// `prometheus`, but for ConfigMaps: the operator may do everything with its children, so that its role covers the one
    /// with the authorities.
    pub async fn granted(&self) -> Result<Vec<Grant>> {
        let (name, namespace) = (self.stage.project.name(), self.stage.project.namespace());
        let manager: Api<ClusterRole> = Api::all(self.client.clone());
        let manager = manager.get(&format!("{name}-manager-role")).await?;
        let leases: Api<Role> = Api::namespaced(self.client.clone(), &namespace);
        let leases = leases.get(&format!("{name}-leader-election-role")).await?;
        let metrics = self.parsed("config/metrics/auth_role.yaml")?;
        let metrics: ClusterRole = serde_json::from_value(metrics.into_iter().next().context("no role")?)?;
        let mut certificates = Vec::new();
        for object in self.parsed(CERTIFICATE)? {
            if object["kind"] == "Role" {
                certificates = split(serde_json::from_value::<Role>(object)?.rules, false);
            }
        }
        certificates.retain(|grant| grant.resource != "configmaps");
        for named in certificates.iter_mut().flat_map(|grant| &mut grant.names) {
            *named = format!("{name}-{named}");
        }
        Ok([
            split(manager.rules, false),
            split(leases.rules, false),
            split(metrics.rules, true),
            certificates,
        ]
        .concat())
    }

    /// The objects of a file of the project.
    pub fn parsed(&self, file: &str) -> Result<Vec<Value>> {
        let file = self.stage.project.folder().join(file);
        let file = file.to_str().context("the project's path is a text")?;
        let printed = self.kubectl(&[
            "create",
            "--dry-run=client",
            "-o",
            "json",
            "--namespace",
            "system",
            "-f",
            file,
        ])?;
        // Several objects are printed one after the other.
        let objects = serde_json::Deserializer::from_str(&printed).into_iter();
        Ok(objects.collect::<Result<_, _>>()?)
    }
}

/// A service account in a namespace of its own.
pub struct Account {
    pub kubeconfig: PathBuf,
    client: Client,
    namespace: String,
}

impl Account {
    /// Creates the account with these grants, those for namespaced kinds in its own namespace only, and waits until the
    /// API server applies them.
    pub async fn make(plane: &ControlPlane, namespace: &str, grants: &[Grant]) -> Result<Self> {
        let client = plane.client().await?;
        let account = json!({"metadata": {"name": NAME}});
        let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
        create(&accounts, account).await?;
        let made = Self {
            kubeconfig: plane.kubeconfig_of_service_account(namespace, NAME).await?,
            client,
            namespace: namespace.to_owned(),
        };
        let (everywhere, inside): (Vec<_>, Vec<_>) = grants.iter().cloned().partition(|grant| grant.everywhere);
        made.grant(&inside, &everywhere).await?;
        for grant in [inside.last(), everywhere.last()].into_iter().flatten() {
            made.known(grant).await?;
        }
        Ok(made)
    }

    async fn grant(&self, inside: &[Grant], everywhere: &[Grant]) -> Result<()> {
        let rules = |grants: &[Grant]| grants.iter().map(Grant::rule).collect::<Vec<_>>();
        let binding = |kind: &str, name: &str| {
            json!({
                "metadata": {"name": name},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
                "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": self.namespace}],
            })
        };
        let role = |name: &str, grants: &[Grant]| json!({"metadata": {"name": name}, "rules": rules(grants)});
        let roles: Api<Role> = Api::namespaced(self.client.clone(), &self.namespace);
        let bindings: Api<RoleBinding> = Api::namespaced(self.client.clone(), &self.namespace);
        create(&roles, role(NAME, inside)).await?;
        create(&bindings, binding("Role", NAME)).await?;
        let roles: Api<ClusterRole> = Api::all(self.client.clone());
        let bindings: Api<ClusterRoleBinding> = Api::all(self.client.clone());
        create(&roles, role(&self.namespace, everywhere)).await?;
        create(&bindings, binding("ClusterRole", &self.namespace)).await
    }

    async fn known(&self, grant: &Grant) -> Result<()> {
        let (resource, subresource) = grant.resource.split_once('/').unwrap_or((&grant.resource, ""));
        let asked = ResourceAttributes {
            group: Some(grant.group.clone()),
            resource: Some(resource.to_owned()),
            subresource: Some(subresource.to_owned()),
            verb: Some(grant.verb.clone()),
            name: grant.names.first().cloned(),
            namespace: (!grant.everywhere).then(|| self.namespace.clone()),
            ..ResourceAttributes::default()
        };
        let review = SubjectAccessReview {
            spec: SubjectAccessReviewSpec {
                user: Some(self.user()),
                resource_attributes: Some(asked),
                ..SubjectAccessReviewSpec::default()
            },
            ..SubjectAccessReview::default()
        };
        let reviews: Api<SubjectAccessReview> = Api::all(self.client.clone());
        eventually("the role to be known", PATIENCE, async || {
            let answer = reviews.create(&PostParams::default(), &review).await?;
            Ok(answer.status.is_some_and(|status| status.allowed).then_some(()))
        })
        .await
    }

    /// Its user name in the API server.
    pub fn user(&self) -> String {
        format!("system:serviceaccount:{}:{NAME}", self.namespace)
    }

    /// Removes its objects outside of its namespace.
    pub async fn remove(self) -> Result<()> {
        let roles: Api<ClusterRole> = Api::all(self.client.clone());
        roles.delete(&self.namespace, &DeleteParams::default()).await?;
        let bindings: Api<ClusterRoleBinding> = Api::all(self.client.clone());
        bindings.delete(&self.namespace, &DeleteParams::default()).await?;
        Ok(())
    }
}

async fn create<K>(api: &Api<K>, object: serde_json::Value) -> Result<()>
where
    K: Resource + Clone + std::fmt::Debug + Serialize + DeserializeOwned,
{
    let object: K = serde_json::from_value(object)?;
    api.create(&PostParams::default(), &object).await?;
    Ok(())
}
