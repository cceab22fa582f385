//! Defaults of the kinds with few of them.

use serde_json::{Map, Value, json};

use super::{Fields, set, set_text, text, within};

const RBAC: &str = "rbac.authorization.k8s.io";

/// Of the core group.
pub(super) fn core(kind: &str) -> Option<fn(&mut Fields)> {
    Some(match kind {
        "Secret" => |secret| set_text(secret, "type", "Opaque"),
        "PersistentVolume" => persistent_volume,
        "PersistentVolumeClaim" => |claim| phase(claim, "Pending"),
        "PersistentVolumeClaimSpec" => |spec| set(spec, "volumeMode", "Filesystem"),
        "Namespace" => namespace,
        "NodeStatus" => node_status,
        "LimitRangeItem" => limit_range_item,
        "ReplicationController" => replication_controller,
        _ => return None,
    })
}

/// Of the other groups.
pub(super) fn rule(kind: &str) -> Option<fn(&mut Fields)> {
    Some(match kind {
        "NetworkPolicyPort" => |port| set(port, "protocol", "TCP"),
        "NetworkPolicy" => network_policy,
        "IngressClass" => ingress_class,
        "RoleBinding" | "ClusterRoleBinding" => binding,
        "Subject" => subject,
        "EndpointPort" => endpoint_port,
        "StorageClass" => storage_class,
        "TokenRequestSpec" => |spec| set(spec, "expirationSeconds", 3600),
        "PriorityClass" => |class| set(class, "preemptionPolicy", "PreemptLowerPriority"),
        _ => return None,
    })
}

fn phase(object: &mut Fields, value: &str) {
    if let Some(status) = super::made(object, "status") {
        set_text(status, "phase", value);
    }
}

fn persistent_volume(object: &mut Fields) {
    phase(object, "Pending");
    if let Some(spec) = within(object, "spec") {
        set_text(spec, "persistentVolumeReclaimPolicy", "Retain");
        set(spec, "volumeMode", "Filesystem");
    }
}

fn namespace(object: &mut Fields) {
    phase(object, "Active");
    let Some(metadata) = within(object, "metadata") else {
        return;
    };
    let name = text(metadata, "name").to_owned();
    if let (false, Some(labels)) = (name.is_empty(), super::made(metadata, "labels")) {
        labels.insert("kubernetes.io/metadata.name".to_owned(), json!(name));
    }
}

fn node_status(status: &mut Fields) {
    if let Some(capacity) = status.get("capacity").cloned() {
        set(status, "allocatable", capacity);
    }
}

fn limit_range_item(item: &mut Fields) {
    if text(item, "type") != "Container" {
        return;
    }
    for (target, source) in [
        ("default", "max"),
        ("defaultRequest", "default"),
        ("defaultRequest", "min"),
    ] {
        let Some(Value::Object(from)) = item.get(source).cloned() else {
            continue;
        };
        if let Some(to) = super::made(item, target) {
            from.into_iter().for_each(|(name, amount)| set(to, &name, amount));
        }
    }
}

fn replication_controller(object: &mut Fields) {
    let labels = object
        .get("spec")
        .and_then(|spec| spec.pointer("/template/metadata/labels"))
        .cloned();
    let Some(labels) = labels else { return };
    let is_empty = |value: Option<&Value>| value.and_then(Value::as_object).is_none_or(Map::is_empty);
    for (outer, name) in [("spec", "selector"), ("metadata", "labels")] {
        if let Some(fields) = within(object, outer)
            && is_empty(fields.get(name))
        {
            fields.insert(name.to_owned(), labels.clone());
        }
    }
}

fn network_policy(object: &mut Fields) {
    let Some(spec) = within(object, "spec") else { return };
    let is_empty = |value: Option<&Value>| value.and_then(Value::as_array).is_none_or(Vec::is_empty);
    if is_empty(spec.get("policyTypes")) {
        let types = if is_empty(spec.get("egress")) {
            json!(["Ingress"])
        } else {
            json!(["Ingress", "Egress"])
        };
        spec.insert("policyTypes".to_owned(), types);
    }
}

fn ingress_class(object: &mut Fields) {
    if let Some(parameters) = within(object, "spec").and_then(|spec| within(spec, "parameters")) {
        set(parameters, "scope", "Cluster");
    }
}

fn binding(object: &mut Fields) {
    if let Some(role) = within(object, "roleRef") {
        set_text(role, "apiGroup", RBAC);
    }
}

fn subject(subject: &mut Fields) {
    if matches!(text(subject, "kind"), "User" | "Group") {
        set_text(subject, "apiGroup", RBAC);
    }
}

fn endpoint_port(port: &mut Fields) {
    set(port, "name", "");
    set(port, "protocol", "TCP");
}

fn storage_class(class: &mut Fields) {
    set(class, "reclaimPolicy", "Delete");
    set(class, "volumeBindingMode", "Immediate");
}
