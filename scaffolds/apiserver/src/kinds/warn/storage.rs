//! Volumes and claims, Secrets, and accounts that mount them.

use super::{Change, Said, template::node_labels};
use crate::kinds::{
    at::{At, quoted},
    base64,
    quantity::Quantity,
};

/// Volumes of plugins that are gone or going, and what is said of them.
pub(super) const PLUGINS: [(&str, &str); 9] = [
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

const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// Of a PersistentVolumeClaim.
pub(in crate::kinds) fn claim((at, _): Change<'_, '_>) -> Said {
    let mut said = Vec::new();
    if at.at("metadata.annotations").get(CLASS).is_set() {
        said.push(format!(
            "metadata.annotations[{CLASS}]: deprecated since v1.8; use \"storageClassName\" attribute instead"
        ));
    }
    claim_spec(&at.get("spec"), &mut said);
    said
}

/// Of a claim's spec, wherever it stands.
pub(super) fn claim_spec(spec: &At<'_>, said: &mut Said) {
    for list in ["requests", "limits"] {
        whole_bytes(&spec.get("resources").get(list), "storage", said);
    }
}

/// An amount that is no whole number of bytes.
pub(super) fn whole_bytes(amounts: &At<'_>, name: &str, said: &mut Said) {
    let text = amounts.get(name).str();
    let Ok(amount) = Quantity::parse(text) else { return };
    if !amount.rounded_to_milli().is_whole() {
        said.push(format!(
            "{}[{name}]: fractional byte value {} is invalid, must be an integer",
            amounts.path,
            quoted(text)
        ));
    }
}

/// Of a PersistentVolume.
pub(in crate::kinds) fn volume((at, _): Change<'_, '_>) -> Said {
    let mut said = Vec::new();
    for (key, why) in [
        (
            CLASS,
            "deprecated since v1.8; use \"storageClassName\" attribute instead",
        ),
        (
            "volume.beta.kubernetes.io/mount-options",
            "deprecated since v1.31; use \"mountOptions\" attribute instead",
        ),
    ] {
        if at.at("metadata.annotations").get(key).is_set() {
            said.push(format!("metadata.annotations[{key}]: {why}"));
        }
    }
    let spec = at.get("spec");
    if spec.get("persistentVolumeReclaimPolicy").str() == "Recycle" {
        said.push(
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach \
             is to use dynamic provisioning."
                .to_owned(),
        );
    }
    for term in spec.at("nodeAffinity.required.nodeSelectorTerms").items() {
        node_labels(&term, false, &mut said);
    }
    for plugin in [
        "cephfs",
        "photonPersistentDisk",
        "scaleIO",
        "storageos",
        "glusterfs",
        "rbd",
    ] {
        let found = PLUGINS.iter().find(|(name, _)| *name == plugin);
        if let (Some((_, why)), true) = (found, spec.get(plugin).is_set()) {
            said.push(format!("spec.{}: {why}", shown(plugin)));
        }
    }
    said
}

/// How sentences call a plugin's field.
pub(super) fn shown(plugin: &str) -> &str {
    if plugin == "storageos" { "storageOS" } else { plugin }
}

/// Of a Secret that holds a key and a certificate that nobody can read.
pub(in crate::kinds) fn secret((at, _): Change<'_, '_>) -> Said {
    let has_block = |name: &str| {
        let bytes = base64::decode(at.get("data").get(name).str()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains("-----BEGIN ")
    };
    let missing = [("tls.crt", "certificate"), ("tls.key", "key")];
    let missing = missing.into_iter().find(|(name, _)| !has_block(name));
    match missing {
        Some((_, what)) if at.get("type").str() == "kubernetes.io/tls" => {
            vec![format!("tls: failed to find any PEM data in {what} input")]
        }
        _ => Vec::new(),
    }
}

/// Of a ServiceAccount.
pub(in crate::kinds) fn service_account((at, old): Change<'_, '_>) -> Said {
    const ENFORCED: &str = "kubernetes.io/enforce-mountable-secrets";
    let is_set = |at: &At<'_>| at.at("metadata.annotations").get(ENFORCED).is_set();
    if !is_set(at) || old.is_some_and(is_set) {
        return Vec::new();
    }
    vec![format!(
        "metadata.annotations[{ENFORCED}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
    )]
}
