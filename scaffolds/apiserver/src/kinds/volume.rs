//! The parts that PersistentVolumes, PersistentVolumeClaims and the claims in Pods and StatefulSets share.

use std::cmp::Ordering;

use serde_json::{Value, json};

use crate::kinds::{
    amounts::{quantity, warn_of_fraction},
    faults::{Faults, quoted},
    format::subdomain,
    kind::Warnings,
    labels::selector,
    located::Located,
    row::Row,
};

const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/// Validates the spec of a claim.
pub(in crate::kinds) fn claim_spec(spec: &Located<'_>, faults: &mut Faults) {
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
    let [source, reference] = ["dataSource", "dataSourceRef"].map(|name| spec.get(name));
    for source in [&source, &reference].into_iter().filter(|source| source.is_set()) {
        data_source(source, faults);
    }
    let differs = ["apiGroup", "kind", "name"]
        .iter()
        .any(|name| source.get(name).value != reference.get(name).value);
    if source.is_set() && reference.is_set() {
        // Upstream shows the path of a field as the value, which has no fields in JSON.
        if !reference.get("namespace").str().is_empty() {
            let detail = "may not be specified when dataSourceRef.namespace is specified";
            faults.invalid_as(spec, "{}", detail);
        } else if differs {
            faults.invalid_as(spec, "{}", "must match dataSourceRef");
        }
    }
}

/// Validates a reference to what a volume is filled with.
fn data_source(source: &Located<'_>, faults: &mut Faults) {
    for name in ["name", "kind"] {
        if source.get(name).str().is_empty() {
            faults.required(&source.get(name), "");
        }
    }
    let (group, kind) = (source.get("apiGroup"), source.get("kind").str());
    if !group.str().is_empty() {
        faults.format(&group, subdomain);
    } else if kind != "PersistentVolumeClaim" {
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        faults.invalid_as(source, &quoted(kind), detail);
    }
}

pub(in crate::kinds) fn access_modes(modes: &Located<'_>, faults: &mut Faults) {
    for mode in modes.items().filter(|mode| !MODES.contains(&mode.str())) {
        faults.not_supported(
            &Located {
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

/// Plugins that were removed or are deprecated, and the warnings about them.
pub(in crate::kinds) const PLUGINS: [(&str, &str); 9] = [
    ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

/// The annotation that `storageClassName` replaced.
pub(in crate::kinds) const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// Warns about quantities in the spec of a claim.
pub(in crate::kinds) fn warn_of_claim_spec(spec: &Located<'_>, warnings: &mut Warnings) {
    for list in ["requests", "limits"] {
        warn_of_fraction(&spec.get("resources").get(list), "storage", warnings);
    }
}

/// The name of a plugin's field in messages.
pub(in crate::kinds) fn shown_plugin(plugin: &str) -> &str {
    if plugin == "storageos" { "storageOS" } else { plugin }
}

/// The access modes, abbreviated.
pub(in crate::kinds) fn print_modes(at: &Located<'_>) -> String {
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

pub(in crate::kinds) fn print_or_unset(at: &Located<'_>) -> Value {
    if at.is_set() { json!(at.str()) } else { json!("<unset>") }
}

pub(in crate::kinds) fn print_phase(row: &Row<'_>) -> Value {
    if row.is_deleted() {
        json!("Terminating")
    } else {
        row.text("status.phase")
    }
}

pub(in crate::kinds) fn print_class<'a>(row: &Row<'a>) -> &'a str {
    let annotated = row.get("metadata.annotations").get(CLASS);
    if annotated.is_set() {
        annotated.str()
    } else {
        row.get("spec.storageClassName").str()
    }
}
