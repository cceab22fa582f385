//! PersistentVolumes, claims and StorageClasses.

use std::cmp::Ordering;

use serde_json::Value;

use super::{
    format::subdomain,
    labels::{node_selector, selector},
    resources::quantity,
};
use crate::kinds::at::{At, Faults};

const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

pub(in crate::kinds) fn claim(at: &At<'_>, faults: &mut Faults) {
    claim_spec(&at.get("spec"), faults);
}

pub(super) fn claim_spec(spec: &At<'_>, faults: &mut Faults) {
    let modes = spec.get("accessModes");
    if modes.len() == 0 {
        faults.required(&modes, "at least 1 access mode is required");
    }
    selector(&spec.get("selector"), faults);
    access_modes(&modes, faults);
    let size = spec
        .at("resources.requests.storage")
        .called(&format!("{}.resources[storage]", spec.path));
    match quantity(&size) {
        None => faults.required(&size, ""),
        Some(amount) if amount.sign() != Ordering::Greater => faults.invalid(&size, "must be greater than zero"),
        Some(_) => {}
    }
    for name in ["storageClassName", "volumeAttributesClassName"] {
        if !spec.get(name).str().is_empty() {
            faults.format(&spec.get(name), subdomain);
        }
    }
    if spec.get("volumeMode").is_set() {
        faults.one_of(&spec.get("volumeMode"), &["Block", "Filesystem"]);
    }
    let source = spec.get("dataSource");
    if source.is_set() {
        for name in ["name", "kind"] {
            if source.get(name).str().is_empty() {
                faults.required(&source.get(name), "");
            }
        }
        if source.get("apiGroup").str().is_empty() && source.get("kind").str() != "PersistentVolumeClaim" {
            faults.invalid(
                &source,
                "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
            );
        }
    }
}

fn access_modes(modes: &At<'_>, faults: &mut Faults) {
    for mode in modes.items().filter(|mode| !MODES.contains(&mode.str())) {
        faults.not_supported(
            &At {
                value: mode.value,
                path: modes.path.clone(),
            },
            &MODES,
        );
    }
    let known: Vec<&str> = modes
        .items()
        .map(|mode| mode.str())
        .filter(|mode| MODES.contains(mode))
        .collect();
    if known.contains(&"ReadWriteOncePod") && known.iter().any(|mode| *mode != "ReadWriteOncePod") {
        faults.forbidden(modes, "may not use ReadWriteOncePod with other access modes");
    }
}

pub(in crate::kinds) fn claim_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    claim(new, faults);
    let (spec, before) = (new.get("spec"), old.get("spec"));
    let bound = new.at("status.phase").str() == "Bound";
    let (mut now, mut was) = (spec.value.clone(), before.value.clone());
    if before.get("volumeName").str().is_empty() {
        forget(&mut now, "/volumeName");
        forget(&mut was, "/volumeName");
    }
    if bound {
        for place in ["/resources/requests/storage", "/volumeAttributesClassName"] {
            forget(&mut now, place);
            forget(&mut was, place);
        }
    }
    if now != was {
        let detail =
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        faults.forbidden(&spec, detail);
    }
    let size = |at: &At<'_>, path: &str| quantity(&at.at(path));
    let wanted = spec.at("resources.requests.storage");
    if let (Some(new_size), Some(old_size)) = (quantity(&wanted), size(&before, "resources.requests.storage"))
        && new_size.compare(&old_size) == Ordering::Less
        && size(old, "status.capacity.storage").is_some_and(|actual| new_size.compare(&actual) != Ordering::Greater)
    {
        faults.forbidden(&wanted, "field can not be less than status.capacity");
    }
    faults.immutable(&spec.get("volumeMode").called("volumeMode"), &before.get("volumeMode"));
}

fn forget(value: &mut Value, place: &str) {
    let (outer, name) = place.rsplit_once('/').unwrap_or_default();
    if let Some(fields) = value.pointer_mut(outer).and_then(Value::as_object_mut) {
        fields.remove(name);
    }
}

/// What a PersistentVolume may be kept in.
const SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
    "flocker",
];

pub(in crate::kinds) fn volume(at: &At<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    if spec.get("accessModes").len() == 0 {
        faults.required(&spec.get("accessModes"), "");
    }
    access_modes(&spec.get("accessModes"), faults);
    let capacity = spec.get("capacity");
    if capacity.len() == 0 {
        faults.required(&capacity, "");
    }
    if !capacity.get("storage").is_set() || capacity.len() > 1 {
        faults.not_supported_as(&capacity, &capacity.value.to_string(), &["storage"]);
    }
    for (_, amount) in capacity.entries() {
        if quantity(&amount).is_some_and(|amount| amount.sign() != Ordering::Greater) {
            faults.invalid(&amount, "must be greater than zero");
        }
    }
    faults.one_of(
        &spec.get("persistentVolumeReclaimPolicy"),
        &["Delete", "Recycle", "Retain"],
    );
    let affinity = spec.get("nodeAffinity");
    let required = affinity.get("required");
    if affinity.is_set() {
        if required.is_set() {
            node_selector(&required, faults);
        } else {
            faults.required(&required, "must specify required node constraints");
        }
    }
    source(&spec, faults);
    if !spec.get("storageClassName").str().is_empty() {
        faults.format(&spec.get("storageClassName"), subdomain);
    }
    if spec.get("volumeMode").is_set() {
        faults.one_of(&spec.get("volumeMode"), &["Block", "Filesystem"]);
    }
}

fn source(spec: &At<'_>, faults: &mut Faults) {
    let mut count = 0;
    for name in SOURCES.into_iter().filter(|name| spec.get(name).is_set()) {
        count += 1;
        if count > 1 {
            faults.forbidden(&spec.get(name), "may not specify more than 1 volume type");
        }
    }
    if count == 0 {
        faults.required(spec, "must specify a volume type");
    }
    if spec.get("local").is_set() && !spec.get("nodeAffinity").is_set() {
        faults.required(
            &spec.get("nodeAffinity").called("metadata.annotations"),
            "Local volume requires node affinity",
        );
    }
}

pub(in crate::kinds) fn volume_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    volume(new, faults);
    let (spec, before) = (new.get("spec"), old.get("spec"));
    if SOURCES.iter().any(|name| !spec.get(name).is_like(&before.get(name))) {
        faults.forbidden(
            &spec.called("spec.persistentvolumesource"),
            "spec.persistentvolumesource is immutable after creation",
        );
    }
    faults.immutable(&spec.get("volumeMode").called("volumeMode"), &before.get("volumeMode"));
}

pub(in crate::kinds) fn storage_class(at: &At<'_>, faults: &mut Faults) {
    let provisioner = at.get("provisioner");
    if provisioner.str().is_empty() {
        faults.required(&provisioner, "");
    } else {
        for sentence in super::format::qualified(&provisioner.str().to_lowercase()) {
            faults.invalid(&provisioner, &sentence);
        }
    }
    if at.get("reclaimPolicy").is_set() {
        faults.one_of(&at.get("reclaimPolicy"), &["Delete", "Retain"]);
    }
    faults.one_of(&at.get("volumeBindingMode"), &["Immediate", "WaitForFirstConsumer"]);
}

pub(in crate::kinds) fn storage_class_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    storage_class(new, faults);
    if new.get("parameters").value != old.get("parameters").value {
        faults.forbidden(&new.get("parameters"), "updates to parameters are forbidden.");
    }
    faults.immutable(&new.get("provisioner"), &old.get("provisioner"));
    faults.immutable(&new.get("reclaimPolicy"), &old.get("reclaimPolicy"));
    faults.immutable(&new.get("volumeBindingMode"), &old.get("volumeBindingMode"));
}
