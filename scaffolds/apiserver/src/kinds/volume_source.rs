//! The sources of volumes that Pods and PersistentVolumes have in common.

use crate::kinds::{
    faults::Faults,
    format::{label, subdomain},
    located::Located,
};

/// The fields without which the server refuses a source, in its order.
const REQUIRED: [(&str, &[&str]); 18] = [
    ("awsElasticBlockStore", &["volumeID"]),
    ("azureDisk", &["diskName", "diskURI"]),
    ("azureFile", &["secretName", "shareName"]),
    ("cephfs", &["monitors"]),
    ("cinder", &["volumeID"]),
    ("flexVolume", &["driver"]),
    ("gcePersistentDisk", &["pdName"]),
    ("glusterfs", &["endpoints", "path"]),
    ("hostPath", &["path"]),
    ("iscsi", &["targetPortal", "iqn"]),
    ("local", &["path"]),
    ("nfs", &["server", "path"]),
    ("photonPersistentDisk", &["pdID"]),
    ("portworxVolume", &["volumeID"]),
    ("rbd", &["monitors", "image"]),
    ("scaleIO", &["gateway", "system", "volumeName"]),
    ("storageos", &["volumeName"]),
    ("vsphereVolume", &["volumePath"]),
];

const HOST_PATHS: [&str; 8] = [
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
];

/// Validates the source `name`. What `docs/src/reference/fidelity.md` names is not checked.
pub(in crate::kinds) fn volume_source(name: &str, at: &Located<'_>, faults: &mut Faults) {
    let at = match name {
        // Errors name the field of the internal type.
        "gcePersistentDisk" => at.called(&at.path.replace("gcePersistentDisk", "persistentDisk")),
        _ => at.called(&at.path),
    };
    let fields = REQUIRED.iter().filter(|(source, _)| *source == name);
    for field in fields.flat_map(|(_, fields)| *fields).map(|field| at.get(field)) {
        if field.str().is_empty() && field.len() == 0 {
            faults.required(&field, "");
        }
    }
    match name {
        "awsElasticBlockStore" | "gcePersistentDisk" => within_byte(&at.get("partition"), 1, faults),
        "azureDisk" => azure_disk(&at, faults),
        "csi" => driver(&at.get("driver"), faults),
        "fc" => fibre_channel(&at, faults),
        "hostPath" if !at.get("path").str().is_empty() => {
            no_backsteps(&at.get("path"), faults);
            if at.get("type").is_set() {
                faults.one_of(&at.get("type"), &HOST_PATHS);
            }
        }
        "iscsi" => within_byte(&at.get("lun"), 0, faults),
        "local" => no_backsteps(&at.get("path"), faults),
        "nfs" if !at.get("path").str().starts_with('/') => {
            faults.invalid(&at.get("path"), "must be an absolute path");
        }
        _ => {}
    }
}

/// Checks that a path has no `..`.
pub(in crate::kinds) fn no_backsteps(at: &Located<'_>, faults: &mut Faults) {
    if at.str().split('/').any(|part| part == "..") {
        faults.invalid(at, "must not contain '..'");
    }
}

/// Validates a number between 0 and 255; the error says that it begins at `first`.
fn within_byte(at: &Located<'_>, first: u8, faults: &mut Faults) {
    if !(0..=255).contains(&at.int()) {
        faults.invalid(at, &format!("must be between {first} and 255, inclusive"));
    }
}

fn azure_disk(at: &Located<'_>, faults: &mut Faults) {
    let (cache, kind, uri) = (at.get("cachingMode"), at.get("kind"), at.get("diskURI"));
    faults.one_of(&cache, &["None", "ReadOnly", "ReadWrite"]);
    faults.one_of(&kind, &["Dedicated", "Managed", "Shared"]);
    let (prefix, known) = match kind.str() {
        "Managed" => (
            "/subscriptions/",
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
        ),
        _ => (
            "https://",
            "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd",
        ),
    };
    if !uri.str().starts_with(prefix) {
        faults.not_supported(&uri, &[known]);
    }
}

/// Validates the name of a CSI driver, in which capital letters are allowed.
fn driver(at: &Located<'_>, faults: &mut Faults) {
    if at.str().is_empty() {
        return faults.required(at, "");
    }
    if at.str().len() > 63 {
        faults.too_long(at, 63);
    }
    for sentence in subdomain(&at.str().to_lowercase()) {
        faults.invalid(at, &sentence);
    }
}

fn fibre_channel(at: &Located<'_>, faults: &mut Faults) {
    let (names, ids, unit) = (at.get("targetWWNs"), at.get("wwids"), at.get("lun"));
    match (names.len(), ids.len()) {
        (0, 0) => faults.required(&names, "must specify either targetWWNs or wwids, but not both"),
        (1.., 1..) => faults.invalid(&names, "targetWWNs and wwids can not be specified simultaneously"),
        _ => {}
    }
    if names.len() > 0 {
        if unit.is_set() {
            within_byte(&unit, 0, faults);
        } else {
            faults.required(&unit, "lun is required if targetWWNs is specified");
        }
    }
}

/// Validates a reference to a Secret in a namespace.
pub(in crate::kinds) fn secret_reference(at: &Located<'_>, faults: &mut Faults) {
    if at.is_set() {
        faults.required_format(&at.get("name"), subdomain);
        faults.required_format(&at.get("namespace"), label);
    }
}
