//! The sources of volumes that Pods and PersistentVolumes have in common.

use crate::kinds::{
    faults::{Faults, quoted},
    format::{label, subdomain},
    located::Located,
};

/// The fields without which the server refuses a source, in its order.
const REQUIRED: [(&str, &[&str]); 19] = [
    ("awsElasticBlockStore", &["volumeID"]),
    ("azureDisk", &["diskName", "diskURI"]),
    ("azureFile", &["secretName", "shareName"]),
    ("cephfs", &["monitors"]),
    ("cinder", &["volumeID"]),
    ("flexVolume", &["driver"]),
    ("gcePersistentDisk", &["pdName"]),
    ("gitRepo", &["repository"]),
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

/// Validates the source `name`.
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
        "cinder" => named_secret(&at, faults),
        "fc" => fibre_channel(&at, faults),
        "flexVolume" => flex_options(&at.get("options"), faults),
        "flocker" => flocker(&at, faults),
        "gitRepo" => {
            let directory = at.get("directory");
            if directory.str().starts_with('/') {
                faults.invalid(&directory, "must be a relative path");
            }
            no_backsteps(&directory, faults);
        }
        "hostPath" if !at.get("path").str().is_empty() => {
            no_backsteps(&at.get("path"), faults);
            if at.get("type").is_set() {
                faults.one_of(&at.get("type"), &HOST_PATHS);
            }
        }
        "iscsi" => {
            within_byte(&at.get("lun"), 0, faults);
            let authenticates = at.get("chapAuthDiscovery").is_true() || at.get("chapAuthSession").is_true();
            if authenticates && !at.get("secretRef").is_set() {
                faults.required(&at.get("secretRef"), "");
            }
        }
        "local" => no_backsteps(&at.get("path"), faults),
        "nfs" if !at.get("path").str().starts_with('/') => {
            faults.invalid(&at.get("path"), "must be an absolute path");
        }
        "quobyte" => quobyte(&at, faults),
        "storageos" => {
            for name in ["volumeName", "volumeNamespace"].map(|name| at.get(name)) {
                if !name.str().is_empty() {
                    faults.format(&name, label);
                }
            }
            named_secret(&at, faults);
        }
        _ => {}
    }
}

/// Checks that a reference to a Secret has a name.
fn named_secret(at: &Located<'_>, faults: &mut Faults) {
    let secret = at.get("secretRef");
    if secret.is_set() && secret.get("name").str().is_empty() {
        faults.required(&secret.get("name"), "");
    }
}

/// Checks that the options of a driver are in no reserved namespace.
fn flex_options(at: &Located<'_>, faults: &mut Faults) {
    for (key, option) in at.entries() {
        let (namespace, _) = key.split_once('/').unwrap_or((key, ""));
        let namespace = format!(".{}", namespace.to_lowercase());
        if [".kubernetes.io", ".k8s.io"].iter().any(|end| namespace.ends_with(end)) {
            let sentence = "kubernetes.io and k8s.io namespaces are reserved";
            faults.invalid_as(&option, &quoted(key), sentence);
        }
    }
}

fn flocker(at: &Located<'_>, faults: &mut Faults) {
    let name = at.get("datasetName");
    match (name.str().is_empty(), at.get("datasetUUID").str().is_empty()) {
        (true, true) => faults.required(at, "one of datasetName and datasetUUID is required"),
        (false, false) => faults.invalid_as(
            at,
            "\"resource\"",
            "datasetName and datasetUUID can not be specified simultaneously",
        ),
        _ => {}
    }
    if name.str().contains('/') {
        faults.invalid(&name, "must not contain '/'");
    }
}

fn quobyte(at: &Located<'_>, faults: &mut Faults) {
    const PAIRS: &str = "must be a host:port pair or multiple pairs separated by commas";
    let registry = at.get("registry");
    if registry.str().is_empty() {
        faults.required(&registry, PAIRS);
    } else if at.get("tenant").str().len() > 64 {
        let sentence = "must be a UUID and may not exceed a length of 64 characters";
        faults.required(&at.get("tenant"), sentence);
    } else if !registry.str().split(',').all(is_host_and_port) {
        faults.invalid(&registry, PAIRS);
    }
    if at.get("volume").str().is_empty() {
        faults.required(&at.get("volume"), "");
    }
}

/// Whether a text is `host:port`; an IPv6 address is in brackets.
fn is_host_and_port(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else {
        return false;
    };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_host = bare.is_some() || !host.contains(':');
    is_host && !bare.unwrap_or(host).contains(['[', ']']) && !port.contains(['[', ']'])
}

/// Validates the names of a target of iSCSI and of the initiator; `otherwise` is the error about one of no known type.
pub(in crate::kinds) fn iscsi_names(at: &Located<'_>, otherwise: &str, faults: &mut Faults) {
    let initiator = at.get("initiatorName");
    let shown = initiator.called(&format!("{}.initiatorname", at.path));
    for name in [at.get("iqn"), shown].iter().filter(|name| !name.str().is_empty()) {
        match iscsi_name(name.str()) {
            Some(true) => {}
            Some(false) => faults.invalid(name, "must be valid format"),
            None => faults.invalid(name, otherwise),
        }
    }
    if initiator.is_set() && initiator.str().is_empty() {
        faults.invalid(&initiator.called(&format!("{}.initiatorname", at.path)), otherwise);
    }
}

/// Whether an iSCSI name has the format of its type: `iqn`, `eui` or `naa`. `None` for a name of no such type.
fn iscsi_name(text: &str) -> Option<bool> {
    let is_hexadecimal = |rest: &str, length: usize| {
        let digits: String = rest.chars().skip(1).collect();
        !rest.is_empty() && digits.len() == length && digits.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    match text.split_at_checked(3)? {
        ("iqn", _) => Some(text.match_indices("iqn.").any(|(at, _)| is_qualified(&text[at + 4..]))),
        ("eui", rest) => Some(is_hexadecimal(rest, 16)),
        ("naa", rest) => Some(is_hexadecimal(rest, 32)),
        _ => None,
    }
}

/// Whether a text is a month, the name of an authority and its own name: `2001-04.com.example:disk`.
fn is_qualified(text: &str) -> bool {
    let Some((authority, name)) = text.split_once(':') else {
        return false;
    };
    let (month, authority) = authority.split_once('.').unwrap_or_default();
    let is_month = month.len() == 7
        && month.bytes().enumerate().all(|(at, byte)| match at {
            4 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
    is_month
        && !authority.is_empty()
        && authority.bytes().all(is_name)
        && !name.is_empty()
        && !name.contains([',', ';', '*', '&', '$', '|', ' ', '\t', '\n', '\r', '\u{c}'])
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
