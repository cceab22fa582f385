//! The roles of `config/rbac` that are bound to the operator's service account, as a deployment into the test's namespace
//! would have them.

use std::collections::BTreeSet;

use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::{Api, api::PostParams};
use serde_json::{Value, json};

use super::{TestCluster, account::NAME, wait_for, webhooks::is_prefixed};
use crate::{error::Result, rbac::NAMESPACE};

/// The bindings to the operator's service account, and the roles that they name. A role that is bound but is not among
/// the documents, such as `view`, is one of the cluster's and keeps its name.
pub(super) struct Granted {
    roles: Vec<Value>,
    bindings: Vec<Value>,
}

impl Granted {
    /// The roles that these documents bind, adapted to this namespace.
    pub(super) fn of(documents: &[Value], namespace: &str) -> Self {
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
            if let Some(role) = documents.iter().find(|role| is_bound(document, role)) {
                let role = placed(role, namespace);
                binding["roleRef"]["name"] = role["metadata"]["name"].clone();
                // Several bindings may name one role.
                if !roles.contains(&role) {
                    roles.push(role);
                }
            }
            bindings.push(binding);
        }
        Self { roles, bindings }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bindings.is_empty()
    }

    /// The roles, then the bindings: a binding may name a role that does not exist, but then grants nothing until it does.
    pub(super) fn objects(&self) -> impl Iterator<Item = &Value> {
        self.roles.iter().chain(&self.bindings)
    }

    /// The namespaces of these objects, but for this one.
    pub(super) fn elsewhere(&self, namespace: &str) -> BTreeSet<&str> {
        let namespaces = self
            .objects()
            .filter_map(|object| object["metadata"]["namespace"].as_str());
        namespaces.filter(|other| *other != namespace).collect()
    }

    /// Waits until the API server allows what one rule of each bound role grants: its authorizer watches roles and
    /// bindings, and applies them a moment later.
    pub(super) async fn known(&self, cluster: &TestCluster) -> Result<()> {
        let user = format!("system:serviceaccount:{}:{NAME}", cluster.namespace());
        let reviews: Api<SubjectAccessReview> = Api::all(cluster.client.clone());
        for mut spec in self.bindings.iter().filter_map(|binding| self.asked(binding)) {
            spec.user = Some(user.clone());
            let review = SubjectAccessReview {
                spec,
                ..SubjectAccessReview::default()
            };
            wait_for("the operator's permissions", async || {
                let answer = reviews.create(&PostParams::default(), &review).await?;
                Ok(answer.status.is_some_and(|status| status.allowed))
            })
            .await?;
        }
        Ok(())
    }

    /// The question whether the account may do what a rule of this binding's role grants, in the namespace of the binding:
    /// it narrows a ClusterRole. `None` if the role grants nothing there, or is one of the cluster's.
    fn asked(&self, binding: &Value) -> Option<SubjectAccessReviewSpec> {
        let role = self.roles.iter().find(|role| is_bound(binding, role))?;
        let namespace = binding["metadata"]["namespace"].as_str();
        role["rules"]
            .as_array()?
            .iter()
            .find_map(|rule| question(rule, namespace))
    }
}

fn is_bound(binding: &Value, role: &Value) -> bool {
    let reference = &binding["roleRef"];
    role["kind"] == reference["kind"] && role["metadata"]["name"] == reference["name"]
}

/// The question about the first of everything that a rule names: in this namespace, or in all.
fn question(rule: &Value, namespace: Option<&str>) -> Option<SubjectAccessReviewSpec> {
    let first = |list: &str| rule[list][0].as_str().map(str::to_owned);
    let verb = Some(first("verbs")?);
    let mut spec = SubjectAccessReviewSpec::default();
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
                verb,
                name: first("resourceNames"),
                namespace: namespace.map(str::to_owned),
                ..ResourceAttributes::default()
            });
        }
        // A RoleBinding does not grant the paths of its ClusterRole.
        (None, path @ Some(_)) if namespace.is_none() => {
            spec.non_resource_attributes = Some(NonResourceAttributes { path, verb });
        }
        _ => return None,
    }
    Some(spec)
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
        let granted = Granted::of(&documents, "test-1");
        let names: Vec<_> = granted
            .objects()
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
        assert_eq!(granted.elsewhere("test-1"), BTreeSet::from(["kube-system"]));
        assert_eq!(granted.bindings[0]["roleRef"]["name"], "test-1-manager-role");
        assert_eq!(granted.bindings[2]["roleRef"]["name"], "view");
        assert_eq!(granted.bindings[1]["subjects"][0]["namespace"], "test-1");
    }
    #[test]
    fn a_role_is_asked_for_where_its_binding_applies() {
        let rule = json!({"apiGroups": ["apps"], "resources": ["deployments/scale"], "verbs": ["get", "list"]});
        let urls = json!({"nonResourceURLs": ["/metrics"], "verbs": ["get"]});
        let role = json!({"kind": "ClusterRole", "metadata": {"name": "manager-role"}, "rules": [urls, rule]});
        let mut narrow = binding("ClusterRole", "manager-role", NAME);
        narrow["kind"] = json!("RoleBinding");
        let documents = [
            role,
            binding("ClusterRole", "manager-role", NAME),
            narrow.clone(),
            elsewhere(narrow),
            binding("ClusterRole", "view", NAME),
        ];
        let granted = Granted::of(&documents, "test-1");
        assert_eq!(granted.roles.len(), 1, "bound three times");
        let asked: Vec<_> = granted.bindings.iter().map(|binding| granted.asked(binding)).collect();
        let of_urls = asked[0].as_ref().and_then(|spec| spec.non_resource_attributes.as_ref());
        assert_eq!(of_urls.and_then(|it| it.path.as_deref()), Some("/metrics"));
        let namespaces = asked[1..3]
            .iter()
            .flatten()
            .filter_map(|spec| spec.resource_attributes.as_ref());
        let namespaces = namespaces.map(|it| (it.subresource.as_deref(), it.namespace.as_deref()));
        assert_eq!(
            namespaces.collect::<Vec<_>>(),
            [(Some("scale"), Some("test-1")), (Some("scale"), Some("kube-system"))]
        );
        assert_eq!(asked[3], None, "a role of the cluster");
    }
}
