//! Sample objects of kinds whose fields come from elsewhere, for their tests. The API server of a new cluster accepts them.

use super::types;
use crate::project::{Api, Kind, Origin, Project, kubernetes};
use serde_json::{Value, json};

/// The fields of the object without its metadata; `None` if a valid object cannot be derived.
pub fn of(api: Api) -> Option<String> {
    let sample = fields(api)?;
    let fields = sample.as_object()?.iter();
    let text = fields.map(|(key, value)| format!("        {key:?}: {value},\n"));
    Some(text.collect())
}

/// The same as YAML; empty without fields.
pub fn yaml(api: Api) -> Option<String> {
    match fields(api)? {
        Value::Object(fields) if fields.is_empty() => Some(String::new()),
        fields => serde_yaml::to_string(&fields).ok(),
    }
}

fn fields(api: Api) -> Option<Value> {
    let (kind, version) = (api.kind, &api.version.name);
    match (kind.origin, &kind.definition) {
        (Origin::Kubernetes, _) => {
            let known = kubernetes::find(&kind.group, version, &kind.name)?;
            of_kubernetes(known.module, known.kind)
        }
        (_, Some(definition)) => types::sample(&definition.crd, version.as_str()),
        _ => None,
    }
}

/// Only for groups that the in-process API server serves.
fn of_kubernetes(module: &str, kind: &str) -> Option<Value> {
    let pod = json!({"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]});
    let once = json!({"restartPolicy": "Never", "containers": pod["containers"]});
    let labels = json!({"app": "sample"});
    let template = json!({"metadata": {"labels": labels}, "spec": pod});
    let selector = json!({"matchLabels": labels});
    let sample = match (module, kind) {
        ("apps::v1", "ControllerRevision") => json!({"revision": 1}),
        ("apps::v1", "StatefulSet") => {
            json!({"spec": {"serviceName": "sample", "selector": selector, "template": template}})
        }
        ("apps::v1", _) => json!({"spec": {"selector": selector, "template": template}}),
        ("autoscaling::v2", _) => json!({"spec": {
            "maxReplicas": 2,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "sample"},
        }}),
        ("batch::v1", "Job") => json!({"spec": {"template": {"spec": once}}}),
        ("batch::v1", _) => {
            json!({"spec": {"schedule": "@daily", "jobTemplate": {"spec": {"template": {"spec": once}}}}})
        }
        ("core::v1", "Pod") => json!({"spec": pod}),
        ("core::v1", "PodTemplate") => json!({"template": template}),
        ("core::v1", "ReplicationController") => json!({"spec": {"selector": labels, "template": template}}),
        ("core::v1", "Service") => json!({"spec": {"ports": [{"port": 80}]}}),
        ("core::v1", "PersistentVolumeClaim") => {
            json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
        }
        ("core::v1", "PersistentVolume") => {
            json!({"spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/tmp/sample"}}})
        }
        ("core::v1" | "coordination::v1" | "policy::v1", _) | ("rbac::v1", "Role" | "ClusterRole") => json!({}),
        ("discovery::v1", _) => json!({"addressType": "IPv4", "endpoints": []}),
        ("networking::v1", "Ingress") => {
            json!({"spec": {"defaultBackend": {"service": {"name": "sample", "port": {"number": 80}}}}})
        }
        ("networking::v1", "NetworkPolicy") => json!({"spec": {"podSelector": {}}}),
        ("rbac::v1", _) => {
            json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}})
        }
        _ => return None,
    };
    Some(sample)
}

/// The name of a kind's sample in its storage version. Kinds that share a name have samples of different names, because their children
/// would otherwise have the same ones. It follows the name of the first controller, which no later kind changes.
pub fn name(project: &Project, owner: &Kind) -> String {
    if let Some(first) = owner.controllers.iter().find(|it| it.is_first_of(owner)) {
        return format!("{}-sample", first.name.as_str().replace('_', "-"));
    }
    let kind = owner.name.as_str().to_ascii_lowercase();
    let same = |other: &&Kind| other.name.as_str().eq_ignore_ascii_case(&kind);
    match project.kinds.iter().find(same) {
        Some(first) if first.group != owner.group => {
            format!("{}-{kind}-sample", owner.group.as_str().replace('.', "-"))
        }
        _ => format!("{kind}-sample"),
    }
}
