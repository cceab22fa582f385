//! The objects that a bundle may have, and their form in it.

use super::{BundleError, ProjectObjects};
use crate::chart::Names;
use crate::rendered::text;
use serde_json::Value;

/// The kinds that OLM applies from a bundle, with groups. From operator-lifecycle-manager, `pkg/controller/operators/catalog`: `ExecutePlan` and
/// `supportedKinds`. NetworkPolicy is the latest of them.
const APPLIED: [(&str, &str); 20] = [
    ("", "ConfigMap"),
    ("", "Secret"),
    ("", "Service"),
    ("", "ServiceAccount"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("autoscaling.k8s.io", "VerticalPodAutoscaler"),
    ("console.openshift.io", "ConsoleCLIDownload"),
    ("console.openshift.io", "ConsoleLink"),
    ("console.openshift.io", "ConsolePlugin"),
    ("console.openshift.io", "ConsoleQuickStart"),
    ("console.openshift.io", "ConsoleYAMLSample"),
    ("monitoring.coreos.com", "PrometheusRule"),
    ("monitoring.coreos.com", "ServiceMonitor"),
    ("networking.k8s.io", "NetworkPolicy"),
    ("policy", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
    ("scheduling.k8s.io", "PriorityClass"),
];

/// Every object is part of the CSV, or of a kind that OLM applies, and is in the operator's namespace or cluster-scoped.
pub(super) fn check(project: &ProjectObjects<'_>) -> Result<(), BundleError> {
    let own = project.names.namespace.as_str();
    for object in project.objects {
        let is_applied = APPLIED.contains(&(group(object), text(object, "/kind")));
        if !is_applied && !is_of_csv(object, &project.names) {
            return Err(BundleError::Kind(named(object)));
        }
        let namespace = text(object, "/metadata/namespace");
        if !namespace.is_empty() && namespace != own {
            return Err(BundleError::Namespace {
                object: named(object),
                namespace: namespace.to_owned(),
            });
        }
    }
    Ok(())
}

/// Whether the object is a part of the CSV by its kind alone, or the operator's namespace, which OLM has made.
pub(super) fn is_of_csv(object: &Value, names: &Names) -> bool {
    match (group(object), text(object, "/kind")) {
        ("apps", "Deployment") => true,
        ("admissionregistration.k8s.io", kind) => kind.ends_with("WebhookConfiguration"),
        ("", "Namespace") => text(object, "/metadata/name") == names.namespace,
        _ => false,
    }
}

/// The object as a file of the bundle, without its namespace, which OLM chooses.
pub(super) fn carried(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("namespace");
    }
    object
}

/// The name of the file, as operator-sdk chooses it.
pub(super) fn file(object: &Value) -> String {
    let (kind, name) = (text(object, "/kind"), text(object, "/metadata/name"));
    if kind == "CustomResourceDefinition" {
        return format!(
            "{}_{}.yaml",
            text(object, "/spec/group"),
            text(object, "/spec/names/plural")
        );
    }
    let version = text(object, "/apiVersion").replace('/', "_");
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') {
            c
        } else {
            '-'
        }
    };
    let name: String = name.chars().map(safe).collect();
    format!("{name}_{version}_{}.yaml", kind.to_lowercase())
}

/// Kind and name, for messages.
pub(super) fn named(object: &Value) -> String {
    format!("{}/{}", text(object, "/kind"), text(object, "/metadata/name"))
}

fn group(object: &Value) -> &str {
    let version = text(object, "/apiVersion");
    version.split_once('/').map_or("", |(group, _)| group)
}
