//! PersistentVolumes: their phase, and volumes that are made up for claims.

use std::cmp::Ordering;

use kubewright_machinery::quantity::Quantity;
use serde_json::{Value, json};

use super::class_of;
use crate::{
    controllers::workloads::{
        Decision,
        fields::{annotation, items, text},
        write::Write,
    },
    meta,
    select::LabelSelector,
};

const PROVISIONED: &str = "pv.kubernetes.io/provisioned-by";

/// The next write for a volume; `claim` is the claim that it is for, by name.
pub(super) fn decide(volume: &Value, claim: Option<&Value>) -> Decision {
    let uid = text(volume, "/spec/claimRef/uid");
    let claim = claim.filter(|claim| meta::text(claim, "uid") == uid);
    let named = claim.map(|claim| text(claim, "/spec/volumeName"));
    let phase = match named {
        _ if uid.is_empty() => "Available",
        None => "Released",
        Some(name) if name == meta::text(volume, "name") => "Bound",
        Some(_) => return Decision::default(),
    };
    let present = text(volume, "/status/phase");
    if present == phase || [present, phase] == ["Failed", "Released"] {
        let deletes = text(volume, "/spec/persistentVolumeReclaimPolicy") == "Delete";
        let goes = phase == "Released" && deletes && annotation(volume, PROVISIONED).is_some();
        let deletion = (goes && !meta::is_deleting(volume)).then(|| Write::Delete(volume.clone(), None));
        return deletion.into_iter().collect::<Vec<_>>().into();
    }
    let mut changed = volume.clone();
    changed["status"]["phase"] = json!(phase);
    Write::Status(changed).into()
}

/// The volume that a provisioner would create for a claim of a class.
pub fn provisioned(claim: &Value, class: &Value) -> Value {
    let name = format!("pvc-{}", meta::text(claim, "uid"));
    let mut reference = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim"});
    for field in ["namespace", "name", "uid", "resourceVersion"] {
        reference[field] = json!(meta::text(claim, field));
    }
    let mut spec = json!({
        "accessModes": claim["spec"]["accessModes"], "volumeMode": claim["spec"]["volumeMode"],
        "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
        "storageClassName": class_of(claim), "persistentVolumeReclaimPolicy": class["reclaimPolicy"],
        "claimRef": reference, "hostPath": {"path": format!("/nowhere/{name}")},
    });
    if class["mountOptions"].is_array() {
        spec["mountOptions"] = class["mountOptions"].clone();
    }
    json!({
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": {PROVISIONED: class["provisioner"]}},
        "spec": spec,
    })
}

/// The capacity of a volume, or the request of a claim, if `pointer` leads to it.
pub(super) fn size(object: &Value, pointer: &str) -> Option<Quantity> {
    Quantity::parse(text(object, pointer)).ok()
}

/// The smallest volume that fulfils a claim.
pub(super) fn smallest<'a>(volumes: &'a [Value], claim: &Value) -> Option<&'a Value> {
    let fitting = volumes
        .iter()
        .filter(|volume| text(volume, "/status/phase") == "Available" && fits(volume, claim));
    fitting.min_by(|one, other| compare(capacity(one), capacity(other)))
}

/// Whether a volume fulfils a claim.
pub(super) fn fits(volume: &Value, claim: &Value) -> bool {
    let labels = meta::of(volume).get("labels").and_then(Value::as_object).into_iter();
    let labels = labels.flatten();
    let labels = labels.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
    let selector = &claim["spec"]["selector"];
    let is_selected = selector.is_null() || LabelSelector::of(selector).matches(&labels.collect());
    let modes = items(volume, "/spec/accessModes");
    let request = size(claim, "/spec/resources/requests/storage");
    !meta::is_deleting(volume)
        && compare(capacity(volume), request) != Ordering::Less
        && class_of(volume) == class_of(claim)
        && volume["spec"]["volumeMode"] == claim["spec"]["volumeMode"]
        && items(claim, "/spec/accessModes")
            .iter()
            .all(|mode| modes.contains(mode))
        && is_selected
}

pub(super) fn capacity(volume: &Value) -> Option<Quantity> {
    size(volume, "/spec/capacity/storage")
}

/// The order of two amounts; one that is missing is the least.
pub(super) fn compare(one: Option<Quantity>, other: Option<Quantity>) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) => one.compare(&other),
        (one, other) => one.is_some().cmp(&other.is_some()),
    }
}
