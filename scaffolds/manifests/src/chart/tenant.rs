//! The two parts of an installation: what the cluster's administrator applies, and what a user with the role `admin` in the operator's
//! namespace may apply then.

use super::names::Names;
use crate::rendered::text;
use kubewright_schema::rbac::{PolicyRule, normalise};
use serde_json::{Value, json};

/// Objects that Kubernetes' ClusterRole `admin` lets its users write in their namespace: group, kind, resource. From `kubectl get clusterrole
/// admin` of v1.37. Its users have all verbs of [`VERBS`] for them.
const OF_ADMINS: [(&str, &str, &str); 20] = [
    ("", "ConfigMap", "configmaps"),
    ("", "PersistentVolumeClaim", "persistentvolumeclaims"),
    ("", "Pod", "pods"),
    ("", "ReplicationController", "replicationcontrollers"),
    ("", "Secret", "secrets"),
    ("", "Service", "services"),
    ("", "ServiceAccount", "serviceaccounts"),
    ("apps", "DaemonSet", "daemonsets"),
    ("apps", "Deployment", "deployments"),
    ("apps", "ReplicaSet", "replicasets"),
    ("apps", "StatefulSet", "statefulsets"),
    ("autoscaling", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
    ("batch", "CronJob", "cronjobs"),
    ("batch", "Job", "jobs"),
    ("coordination.k8s.io", "Lease", "leases"),
    ("networking.k8s.io", "Ingress", "ingresses"),
    ("networking.k8s.io", "NetworkPolicy", "networkpolicies"),
    ("policy", "PodDisruptionBudget", "poddisruptionbudgets"),
    ("rbac.authorization.k8s.io", "Role", "roles"),
    ("rbac.authorization.k8s.io", "RoleBinding", "rolebindings"),
];

const VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];

/// Whether a user with the role `admin` in the operator's namespace may apply the object.
pub(crate) fn may_apply(object: &Value, names: &Names) -> bool {
    let (group, _) = text(object, "/apiVersion").split_once('/').unwrap_or_default();
    let kind = text(object, "/kind");
    let is_here = text(object, "/metadata/namespace") == names.namespace;
    is_here && OF_ADMINS.iter().any(|(g, k, _)| (*g, *k) == (group, kind))
}

/// A ClusterRole that adds to `admin` what the operator's Roles grant beyond it: the API server lets users create only Roles, and bind only
/// roles, whose permissions they have. `None` if `admin` has all of them.
pub(crate) fn role(objects: &[Value], names: &Names) -> Option<Value> {
    let ours: Vec<_> = objects.iter().filter(|object| may_apply(object, names)).collect();
    let bound = |role: &Value| {
        ours.iter().any(|binding| {
            text(binding, "/kind") == "RoleBinding"
                && text(binding, "/roleRef/kind") == "ClusterRole"
                && text(binding, "/roleRef/name") == text(role, "/metadata/name")
        })
    };
    let roles = objects.iter().filter(|role| match text(role, "/kind") {
        "Role" => may_apply(role, names),
        "ClusterRole" => bound(role),
        _ => false,
    });
    let rules = roles.flat_map(|role| role["rules"].as_array().into_iter().flatten());
    // The API server refuses a Role with an invalid rule.
    let rules = rules.filter_map(|rule| serde_json::from_value::<PolicyRule>(rule.clone()).ok());
    let rules = normalise(rules.flat_map(beyond_admin));
    let deployment = ours.iter().find(|object| text(object, "/kind") == "Deployment");
    let name = deployment.map_or("", |it| text(it, "/metadata/labels/app.kubernetes.io~1name"));
    let name = if name.is_empty() { names.base.as_str() } else { name };
    (!rules.is_empty()).then(|| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {
                "name": format!("{}-tenant-role", names.base),
                "labels": {"app.kubernetes.io/name": name, "rbac.authorization.k8s.io/aggregate-to-admin": "true"},
            },
            "rules": rules,
        })
    })
}

/// The rules for those resources of a rule which `admin` does not grant.
fn beyond_admin(rule: PolicyRule) -> Vec<PolicyRule> {
    let granted = |group: &str, resource: &str| {
        let group = if group == "core" { "" } else { group };
        OF_ADMINS.iter().any(|(g, _, r)| (*g, *r) == (group, resource))
    };
    let verbs = rule.verbs.iter().all(|verb| VERBS.contains(&verb.as_str()));
    let pairs = rule
        .api_groups
        .iter()
        .flat_map(|group| rule.resources.iter().map(move |it| (group, it)));
    let beyond = pairs.filter(|(group, resource)| !verbs || !granted(group, resource));
    beyond
        .map(|(group, resource)| PolicyRule {
            api_groups: vec![group.clone()],
            resources: vec![resource.clone()],
            // A Role grants no URLs.
            non_resource_urls: Vec::new(),
            ..rule.clone()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
        json!({"apiGroups": groups, "resources": resources, "verbs": verbs})
    }

    fn object(kind: &str, name: &str, fields: Value) -> Value {
        let mut object = json!({
            "apiVersion": if kind == "ServiceMonitor" { "monitoring.coreos.com/v1" } else { "rbac.authorization.k8s.io/v1" },
            "kind": kind,
            "metadata": {"name": name, "namespace": "foo-system"},
        });
        object
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        object
    }

    fn names(objects: &[Value]) -> Names {
        Names::of(objects, "foo", "foo-system", "foo-controller-manager")
    }

    #[test]
    fn a_tenant_gets_what_the_operators_roles_grant_beyond_admin_and_nothing_else() {
        let rules = json!({"rules": [
            rule(&[""], &["configmaps", "endpoints"], &["create", "get"]),
            rule(&["apps"], &["deployments"], &["*"]),
            rule(&["events.k8s.io"], &["events"], &["create", "patch"]),
            rule(&["example.com"], &["foos/status", "foos/finalizers"], &["update"]),
        ]});
        let shared = json!({"metadata": {"name": "foo-shared"}, "rules": [rule(&["", "b.example"], &["pods", "bs"], &["list"])]});
        let unbound = json!({"metadata": {"name": "foo-unbound"}, "rules": [rule(&["c.example"], &["cs"], &["list"])]});
        let objects = [
            object("Role", "foo-manager-role", rules),
            object("ClusterRole", "foo-shared", shared),
            object("ClusterRole", "foo-unbound", unbound),
            object(
                "RoleBinding",
                "foo-shared",
                json!({"roleRef": {"kind": "ClusterRole", "name": "foo-shared"}}),
            ),
        ];
        let role = role(&objects, &names(&objects)).unwrap();
        assert_eq!(
            role["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-admin"],
            "true"
        );
        let wanted = json!([
            rule(&[""], &["bs"], &["list"]),
            rule(&[""], &["endpoints"], &["create", "get"]),
            rule(&["apps"], &["deployments"], &["*"]),
            rule(&["b.example"], &["bs", "pods"], &["list"]),
            rule(&["events.k8s.io"], &["events"], &["create", "patch"]),
            rule(&["example.com"], &["foos/finalizers", "foos/status"], &["update"]),
        ]);
        assert_eq!(role["rules"], wanted);
        let plain = [object(
            "Role",
            "foo-plain",
            json!({"rules": [rule(&[""], &["pods"], &["get"])]}),
        )];
        assert_eq!(super::role(&plain, &names(&plain)), None);
    }

    #[test]
    fn an_admin_applies_neither_objects_of_the_cluster_nor_of_other_namespaces_nor_of_other_operators() {
        let of = |kind: &str| object(kind, "foo-a", json!({}));
        let elsewhere = json!({"metadata": {"name": "foo-a", "namespace": "other"}});
        let objects = [
            of("Role"),
            of("ServiceMonitor"),
            object("Role", "foo-a", elsewhere),
            of("ClusterRole"),
        ];
        let may: Vec<_> = objects.iter().map(|it| may_apply(it, &names(&objects))).collect();
        assert_eq!(may, [true, false, false, false]);
    }
}
