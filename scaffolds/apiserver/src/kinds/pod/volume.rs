//! Volumes of Pods.

use std::collections::BTreeSet;

use kubewright_machinery::names::{self, Unit};

use crate::kinds::{
    amounts::{field_ref, quantity},
    faults::{Faults, quoted},
    format::{label, subdomain},
    labels::{annotations, labels},
    located::Located,
    pod::{environment::pod_field, mounts::descending, projected::projected},
    volume::claim_spec,
    volume_source::{iscsi_names, volume_source},
};

const MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";

/// Validates volumes, and returns the valid ones. `pod` is the name of the Pod; empty for a template.
pub(in crate::kinds) fn volumes<'a>(at: &Located<'a>, pod: &str, faults: &mut Faults) -> Vec<Located<'a>> {
    let mut sound: Vec<Located<'a>> = Vec::new();
    let made = |volume: &Located<'_>| {
        let is_made = !pod.is_empty() && volume.get("ephemeral").is_set();
        is_made.then(|| format!("{pod}-{}", volume.get("name").str()))
    };
    let claims: BTreeSet<String> = at.items().filter_map(|volume| made(&volume)).collect();
    for volume in at.items() {
        let before = faults.len();
        source(&volume, faults);
        let name = volume.get("name");
        if let Some(claim) = made(&volume).filter(|_| !name.str().is_empty()) {
            for sentence in names::subdomain(&claim, Unit::Characters) {
                faults.invalid(&name, &format!("PVC name {}: {sentence}", quoted(&claim)));
            }
        }
        faults.required_format(&name, label);
        if sound.iter().any(|other| other.get("name").str() == name.str()) {
            faults.duplicate(&name);
        }
        let (is_sound, claim) = (faults.len() == before, volume.at("persistentVolumeClaim.claimName"));
        if claims.contains(claim.str()) {
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            faults.invalid(&claim, detail);
        }
        if is_sound {
            sound.push(volume);
        }
    }
    sound
}

/// Sources in the order in which the server checks them.
const SOURCES: [&str; 29] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
];

fn source(volume: &Located<'_>, faults: &mut Faults) {
    let mut count = 0;
    for name in SOURCES.into_iter().chain(["image"]) {
        let at = volume.get(name);
        if !at.is_set() {
            continue;
        }
        count += 1;
        if count > 1 {
            // Upstream's errors have two names that the API lacks.
            let shown = match name {
                "cephfs" => "cephFS",
                "downwardAPI" => "downwarAPI",
                _ => name,
            };
            let path = format!("{}.{shown}", volume.path);
            faults.forbidden(&at.called(&path), "may not specify more than 1 volume type");
        } else {
            one(name, &at, faults);
        }
    }
    if count == 0 {
        faults.required(volume, "must specify a volume type");
    }
}

fn one(name: &str, at: &Located<'_>, faults: &mut Faults) {
    match name {
        "emptyDir" => {
            let limit = at.get("sizeLimit");
            if quantity(&limit).is_some_and(|limit| limit.sign().is_lt()) {
                faults.forbidden(&limit, "SizeLimit field must be a valid resource quantity");
            }
        }
        "secret" => keyed(at, "secretName", faults),
        "configMap" => keyed(at, "name", faults),
        "downwardAPI" => {
            mode(&at.get("defaultMode"), faults);
            at.get("items")
                .items()
                .for_each(|item| downward(&item.called(&at.path), faults));
        }
        "projected" => projected(at, faults),
        "persistentVolumeClaim" if at.get("claimName").str().is_empty() => {
            faults.required(&at.get("claimName"), "");
        }
        "ephemeral" => ephemeral(at, faults),
        "image" => {
            if at.get("reference").str().is_empty() {
                faults.required(&at.get("reference"), "");
            }
            faults.one_of(&at.get("pullPolicy"), &["Always", "IfNotPresent", "Never"]);
        }
        "iscsi" => {
            volume_source(name, at, faults);
            iscsi_names(at, "must be valid format starting with iqn, eui, or naa", faults);
        }
        "csi" => {
            volume_source(name, at, faults);
            let secret = at.get("nodePublishSecretRef");
            let name = secret.get("name");
            match secret.is_set() {
                true if name.str().is_empty() => faults.required(&name, ""),
                true => faults.format(&name.called(&format!("{}.name", at.path)), subdomain),
                false => {}
            }
        }
        _ => volume_source(name, at, faults),
    }
}

pub(super) fn mode(at: &Located<'_>, faults: &mut Faults) {
    if at.is_set() && !(0..=0o777).contains(&at.int()) {
        faults.invalid(at, MODE);
    }
}

fn keyed(at: &Located<'_>, name: &str, faults: &mut Faults) {
    if at.get(name).str().is_empty() {
        faults.required(&at.get(name), "");
    }
    mode(&at.get("defaultMode"), faults);
    at.get("items").items().for_each(|item| key_to_path(&item, faults));
}

pub(super) fn key_to_path(item: &Located<'_>, faults: &mut Faults) {
    for name in ["key", "path"] {
        if item.get(name).str().is_empty() {
            faults.required(&item.get(name), "");
        }
    }
    unreserved(&item.get("path"), faults);
    mode(&item.get("mode"), faults);
}

/// Checks a relative path that does not begin with `..`.
pub(super) fn unreserved(path: &Located<'_>, faults: &mut Faults) {
    descending(path, faults);
    if path.str().starts_with("..") && !path.str().starts_with("../") {
        faults.invalid(path, "must not start with '..'");
    }
}

const FILE_FIELDS: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];

/// Validates a file of the downward API; the server's paths omit its index.
pub(super) fn downward(item: &Located<'_>, faults: &mut Faults) {
    if item.get("path").str().is_empty() {
        faults.required(&item.get("path"), "");
    }
    unreserved(&item.get("path"), faults);
    let (field, resource) = (item.get("fieldRef"), item.get("resourceFieldRef"));
    if field.is_set() {
        pod_field(&field, &FILE_FIELDS, faults);
        if resource.is_set() {
            faults.invalid_as(
                item,
                "\"resource\"",
                "fieldRef and resourceFieldRef can not be specified simultaneously",
            );
        }
    } else if resource.is_set() {
        field_ref(&resource, true, faults);
    } else {
        faults.required(item, "one of fieldRef and resourceFieldRef is required");
    }
    mode(&item.get("mode"), faults);
}

fn ephemeral(at: &Located<'_>, faults: &mut Faults) {
    let template = at.get("volumeClaimTemplate");
    if template.is_set() {
        claim_metadata(&template.get("metadata"), faults);
        claim_spec(&template.get("spec"), faults);
    } else {
        faults.required(&template, "");
    }
}

/// The metadata that a template of claims must not have, in the order of Go's fields.
const NOT_IN_TEMPLATES: [&str; 13] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

fn claim_metadata(at: &Located<'_>, faults: &mut Faults) {
    annotations(&at.get("annotations"), faults);
    labels(&at.get("labels"), faults);
    for field in NOT_IN_TEMPLATES {
        let value = at.get(field);
        let is_zero = value.value == "" || field == "generation" && value.int() == 0;
        if value.is_set() && !is_zero {
            // Go's name of this field begins with two capital letters, of which the server's path has the second.
            let shown = if field == "uid" { "uID" } else { field };
            faults.forbidden(&at.get(shown), "cannot be set");
        }
    }
}

/// Validates the name of an object to which a Pod refers.
pub(in crate::kinds) fn reference(at: &Located<'_>, faults: &mut Faults) {
    if !at.str().is_empty() {
        faults.format(at, subdomain);
    }
}
