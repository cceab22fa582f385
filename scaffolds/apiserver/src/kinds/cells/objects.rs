//! The cells of the other kinds.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Row, or};
use crate::kinds::at::At;

pub(super) fn cells(kind: &str, row: &Row<'_>) -> Option<Vec<Value>> {
    Some(match kind {
        "ConfigMap" => {
            let count = row.get("data").len() + row.get("binaryData").len();
            vec![row.name(), json!(count), row.age()]
        }
        "Secret" => vec![row.name(), row.text("type"), json!(row.get("data").len()), row.age()],
        "Namespace" => vec![row.name(), row.text("status.phase"), row.age()],
        "Node" => node(row),
        "Event" => event(row),
        "PersistentVolume" => volume(row),
        "PersistentVolumeClaim" => claim(row),
        "ResourceQuota" => quota(row),
        "LimitRange" | "Role" | "ClusterRole" => vec![row.name(), row.text("metadata.creationTimestamp")],
        "RoleBinding" | "ClusterRoleBinding" => binding(row),
        "Lease" => vec![row.name(), row.text("spec.holderIdentity"), row.age()],
        "PriorityClass" => {
            let default = json!(row.get("globalDefault").is_true());
            vec![
                row.name(),
                row.int("value"),
                default,
                row.age(),
                row.text("preemptionPolicy"),
            ]
        }
        "StorageClass" => storage_class(row),
        _ => return None,
    })
}

fn node(row: &Row<'_>) -> Vec<Value> {
    let conditions = row.get("status.conditions");
    let ready = conditions
        .items()
        .filter(|condition| condition.get("type").str() == "Ready")
        .last();
    let mut status = match ready.map(|condition| condition.get("status").str() == "True") {
        Some(true) => "Ready".to_owned(),
        Some(false) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if row.get("spec.unschedulable").is_true() {
        status.push_str(",SchedulingDisabled");
    }
    let info = |name: &str| row.get("status.nodeInfo").get(name).str();
    let address = |kind: &str| {
        let mut addresses = row.get("status.addresses").items();
        let found = addresses.find(|address| address.get("type").str() == kind);
        or(found.map_or("", |address| address.get("address").str()), "<none>")
    };
    let mut cells = vec![
        row.name(),
        json!(status),
        or(&roles(row), "<none>"),
        row.age(),
        json!(info("kubeletVersion")),
    ];
    cells.extend([address("InternalIP"), address("ExternalIP")]);
    cells.extend(["osImage", "kernelVersion", "containerRuntimeVersion"].map(|name| or(info(name), "<unknown>")));
    cells
}

fn roles(row: &Row<'_>) -> String {
    let labels = row.get("metadata.labels");
    let roles: BTreeSet<&str> = labels
        .entries()
        .filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => Some(role),
            None => (key == "kubernetes.io/role").then(|| value.str()),
        })
        .filter(|role| !role.is_empty())
        .collect();
    roles.into_iter().collect::<Vec<_>>().join(",")
}

/// Of both versions: what events.k8s.io calls otherwise is looked up under both names.
fn event(row: &Row<'_>) -> Vec<Value> {
    let either = |new: &str, old: &str| {
        let at = row.get(new);
        if at.is_set() { at } else { row.get(old) }
    };
    let since = |at: &At<'_>| super::since(at, row.now);
    let (first, last) = (
        either("deprecatedFirstTimestamp", "firstTimestamp"),
        either("deprecatedLastTimestamp", "lastTimestamp"),
    );
    let first = if first.is_set() {
        since(&first)
    } else {
        row.since("eventTime")
    };
    let mut last = if last.is_set() { since(&last) } else { first.clone() };
    let mut count = either("deprecatedCount", "count").int().max(1);
    let series = row.get("series");
    if series.is_set() {
        last = since(&series.get("lastObservedTime"));
        count = series.get("count").int();
    }
    let object = either("regarding", "involvedObject");
    let (kind, name) = (object.get("kind").str().to_lowercase(), object.get("name").str());
    let target = if name.is_empty() {
        kind
    } else {
        format!("{kind}/{name}")
    };
    let source = either("deprecatedSource", "source");
    let first_of = |at: At<'_>, other: At<'_>| {
        if at.str().is_empty() {
            other.str().to_owned()
        } else {
            at.str().to_owned()
        }
    };
    let component = first_of(
        source.get("component"),
        either("reportingController", "reportingComponent"),
    );
    let instance = first_of(source.get("host"), row.get("reportingInstance"));
    let source = if instance.is_empty() {
        component
    } else {
        format!("{component}, {instance}")
    };
    vec![
        json!(last),
        row.text("type"),
        row.text("reason"),
        json!(target),
        json!(object.get("fieldPath").str()),
        json!(source),
        json!(either("note", "message").str().trim()),
        json!(first),
        json!(count),
        row.name(),
    ]
}

fn modes(at: &At<'_>) -> String {
    let modes: Vec<&str> = at.items().map(|mode| mode.str()).collect();
    let known = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    known
        .iter()
        .filter(|(mode, _)| modes.contains(mode))
        .map(|(_, short)| *short)
        .collect::<Vec<_>>()
        .join(",")
}

fn unset(at: &At<'_>) -> Value {
    if at.is_set() { json!(at.str()) } else { json!("<unset>") }
}

fn phase(row: &Row<'_>) -> Value {
    if row.is_deleted() {
        json!("Terminating")
    } else {
        row.text("status.phase")
    }
}

fn class<'a>(row: &Row<'a>) -> &'a str {
    let annotated = row
        .get("metadata.annotations")
        .get("volume.beta.kubernetes.io/storage-class");
    if annotated.is_set() {
        annotated.str()
    } else {
        row.get("spec.storageClassName").str()
    }
}

fn volume(row: &Row<'_>) -> Vec<Value> {
    let claim = row.get("spec.claimRef");
    let reference = match claim.is_set() {
        true => format!("{}/{}", claim.get("namespace").str(), claim.get("name").str()),
        false => String::new(),
    };
    vec![
        row.name(),
        or(row.get("spec.capacity.storage").str(), "0"),
        json!(modes(&row.get("spec.accessModes"))),
        row.text("spec.persistentVolumeReclaimPolicy"),
        phase(row),
        json!(reference),
        json!(class(row)),
        unset(&row.get("spec.volumeAttributesClassName")),
        row.text("status.reason"),
        row.age(),
        unset(&row.get("spec.volumeMode")),
    ]
}

fn claim(row: &Row<'_>) -> Vec<Value> {
    let name = row.get("spec.volumeName").str();
    let (capacity, modes) = match name {
        "" => (json!(""), String::new()),
        _ => (
            or(row.get("status.capacity.storage").str(), "0"),
            modes(&row.get("status.accessModes")),
        ),
    };
    let attributes = unset(&row.get("spec.volumeAttributesClassName"));
    let mode = unset(&row.get("spec.volumeMode"));
    let class = json!(class(row));
    vec![
        row.name(),
        phase(row),
        json!(name),
        capacity,
        json!(modes),
        class,
        attributes,
        row.age(),
        mode,
    ]
}

fn quota(row: &Row<'_>) -> Vec<Value> {
    let used = row.get("status.used");
    let hard = row.get("status.hard");
    let text = |limits: bool| {
        let each = hard.entries().filter(|(name, _)| name.starts_with("limits.") == limits);
        let each = each.map(|(name, hard)| {
            let used = used.get(name).str();
            format!("{name}: {}/{}", if used.is_empty() { "0" } else { used }, hard.str())
        });
        json!(each.collect::<Vec<_>>().join(", "))
    };
    vec![row.name(), text(false), text(true), row.age()]
}

fn binding(row: &Row<'_>) -> Vec<Value> {
    let role = format!("{}/{}", row.get("roleRef.kind").str(), row.get("roleRef.name").str());
    let subjects = |kind: &str| {
        let subjects = row
            .get("subjects")
            .items()
            .filter(|subject| subject.get("kind").str() == kind);
        let names = subjects.map(|subject| match kind {
            "ServiceAccount" => format!("{}/{}", subject.get("namespace").str(), subject.get("name").str()),
            _ => subject.get("name").str().to_owned(),
        });
        json!(names.collect::<Vec<_>>().join(", "))
    };
    vec![
        row.name(),
        json!(role),
        row.age(),
        subjects("User"),
        subjects("Group"),
        subjects("ServiceAccount"),
    ]
}

fn storage_class(row: &Row<'_>) -> Vec<Value> {
    let annotations = row.get("metadata.annotations");
    let keys = [
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ];
    let is_default = keys.iter().any(|key| annotations.get(key).str() == "true");
    let name = format!(
        "{}{}",
        row.get("metadata.name").str(),
        if is_default { " (default)" } else { "" }
    );
    let (reclaim, mode) = (row.get("reclaimPolicy").str(), row.get("volumeBindingMode").str());
    let grows = json!(row.get("allowVolumeExpansion").is_true());
    vec![
        json!(name),
        row.text("provisioner"),
        or(reclaim, "Delete"),
        or(mode, "Immediate"),
        grows,
        row.age(),
    ]
}
