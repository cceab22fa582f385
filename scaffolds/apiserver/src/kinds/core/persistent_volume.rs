//! PersistentVolumes.

use std::cmp::Ordering;

use serde_json::{Value, json};

use crate::{
    kinds::{
        amounts::quantity,
        edit::{Fields, add_finalizer, default_phase, keep, section, set, set_text, within},
        faults::Faults,
        format::{label, subdomain},
        internal::in_go_or_null,
        kind::{BuiltInKind, Change, Warnings},
        located::Located,
        node_selector::{node_selector, warn_of_labels},
        row::{Row, or},
        semantic,
        volume::{CLASS, PLUGINS, access_modes, print_class, print_modes, print_or_unset, print_phase, shown_plugin},
        volume_source::{iscsi_names, secret_reference, volume_source},
    },
    strategy::{Deletion, Passes, Rules, Stamps},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            deletion: Deletion {
                returns_object: true,
                ..Deletion::default()
            },
            passes: Passes::VALIDATE_TWICE,
            stamps: Stamps {
                update: Some(date_phase),
                ..Stamps::default()
            },
            ..Rules::default()
        },
        defaults: &[("core.v1.PersistentVolume", default)],
        prepare_create,
        validate,
        validate_update,
        warnings,
        cells,
        ..BuiltInKind::default()
    }
}

fn default(object: &mut Fields) {
    default_phase(object, "Pending");
    if let Some(spec) = within(object, "spec") {
        set_text(spec, "persistentVolumeReclaimPolicy", "Retain");
        set(spec, "volumeMode", "Filesystem");
    }
}

fn prepare_create(object: &mut Value) {
    add_finalizer(object, "kubernetes.io/pv-protection");
    let created = object.pointer("/metadata/creationTimestamp").cloned();
    let Some(status) = section(object, "status") else {
        return;
    };
    status.insert("phase".to_owned(), json!("Pending"));
    if let Some(created) = created {
        status.insert("lastPhaseTransitionTime".to_owned(), created);
    }
}

/// Writes the time at which the phase has changed, unless the client writes another one.
fn date_phase(new: &mut Value, old: &Value, now: &str) {
    const SINCE: &str = "lastPhaseTransitionTime";
    let (was, is_same) = (&old["status"], new["status"]["phase"] == old["status"]["phase"]);
    let Some(status) = section(new, "status") else { return };
    let since = status.get(SINCE).unwrap_or(&Value::Null);
    let next = match is_same {
        true if since.is_null() => was[SINCE].clone(),
        false if since.is_null() || *since == was[SINCE] => json!(now),
        _ => return,
    };
    if !next.is_null() {
        status.insert(SINCE.to_owned(), next);
    }
}

/// The volume sources of a PersistentVolume, of which it has one.
const SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
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
];

fn validate(at: &Located<'_>, faults: &mut Faults) {
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
    source(&spec, at.at("metadata.name").str(), faults);
    if !spec.get("storageClassName").str().is_empty() {
        faults.format(&spec.get("storageClassName"), subdomain);
    }
    if spec.get("volumeMode").is_set() {
        faults.one_of(&spec.get("volumeMode"), &["Block", "Filesystem"]);
    }
    let class = spec.get("volumeAttributesClassName");
    if class.is_set() {
        match class.str() {
            "" => faults.required(&class, "an empty string is disallowed"),
            _ => faults.format(&class, subdomain),
        }
        if !spec.get("csi").is_set() {
            faults.required(
                &spec.get("csi"),
                "has to be specified when using volumeAttributesClassName",
            );
        }
    }
}

fn source(spec: &Located<'_>, volume_name: &str, faults: &mut Faults) {
    let mut count = 0;
    for name in SOURCES.into_iter().filter(|name| spec.get(name).is_set()) {
        count += 1;
        // Upstream counts a FlexVolume, and does not mind what it follows.
        if count > 1 && name != "flexVolume" {
            let place = if name == "cephfs" {
                "spec.cephFS".to_owned()
            } else {
                format!("spec.{name}")
            };
            faults.forbidden(
                &spec.get(name).called(&place),
                "may not specify more than 1 volume type",
            );
        } else {
            volume_source(name, &spec.get(name), faults);
            own_checks(name, spec, volume_name, faults);
        }
    }
    if count == 0 {
        faults.required(spec, "must specify a volume type");
    }
    let (path, policy) = (spec.at("hostPath.path"), spec.get("persistentVolumeReclaimPolicy"));
    if path.is_set() && is_root(path.str()) && policy.str() == "Recycle" {
        faults.forbidden(&policy, "may not be 'recycle' for a hostPath mount of '/'");
    }
}

/// Whether a path leads to `/`, also by `.` and `..`.
fn is_root(path: &str) -> bool {
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    path.starts_with('/') && names.is_empty()
}

/// Validates what only the source of a PersistentVolume has.
fn own_checks(name: &str, spec: &Located<'_>, volume_name: &str, faults: &mut Faults) {
    let at = spec.get(name);
    let secret = at.get("secretRef");
    match name {
        "azureFile" if at.get("secretNamespace").is_set() && at.get("secretNamespace").str().is_empty() => {
            faults.required(&at.get("secretNamespace"), "");
        }
        "cinder" | "storageos" if secret.is_set() && secret.get("namespace").str().is_empty() => {
            faults.required(&secret.get("namespace"), "");
        }
        "glusterfs" => {
            let space = at.get("endpointsNamespace");
            match space.is_set() {
                true if space.str().is_empty() => {
                    let sentence = "if the endpointnamespace is set, it must be a valid namespace name";
                    faults.invalid(&space, sentence);
                }
                true => faults.format(&space, label),
                false => {}
            }
        }
        "iscsi" => {
            if secret.is_set() && secret.get("name").str().is_empty() {
                faults.required(&secret.get("name"), "");
            }
            let volume = volume_name.len() + 1 + at.get("targetPortal").str().len();
            if at.get("initiatorName").is_set() && volume > 64 {
                let sentence = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if \
                                iscsi.initiatorName is specified.";
                let portal = at.get("targetPortal").called(&format!("{}.targetportal", at.path));
                faults.invalid(&portal, sentence);
            }
            iscsi_names(&at, "must be valid format", faults);
        }
        "csi" => {
            if at.get("volumeHandle").str().is_empty() {
                faults.required(&at.get("volumeHandle"), "");
            }
            for step in ["controllerPublish", "controllerExpand", "nodePublish", "nodeExpand"] {
                secret_reference(&at.get(&format!("{step}SecretRef")), faults);
            }
        }
        "local" if !spec.get("nodeAffinity").is_set() => {
            faults.required(&spec.get("nodeAffinity"), "Local volume requires node affinity");
        }
        _ => {}
    }
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    // The server validates an update as a creation first, and then again as an update.
    validate(new, faults);
    validate(new, faults);
    let (spec, before) = (new.get("spec"), old.get("spec"));
    let has_changed = SOURCES.iter().any(|name| match *name {
        "csi" => has_another_driver(&spec.get("csi"), &before.get("csi")),
        name => !spec.get(name).is_like(&before.get(name)),
    });
    if has_changed {
        faults.forbidden(
            &spec.called("spec.persistentvolumesource"),
            "spec.persistentvolumesource is immutable after creation",
        );
    }
    faults.immutable(&spec.get("volumeMode").called("volumeMode"), &before.get("volumeMode"));
    node_affinity(&spec.get("nodeAffinity"), &before.get("nodeAffinity"), faults);
    let class = spec.get("volumeAttributesClassName");
    if before.get("volumeAttributesClassName").is_set() && !class.is_set() {
        faults.forbidden(&class, "update from non-nil value to nil is forbidden");
    }
}

/// Whether the source of a CSI volume has changed. The secret for its expansion may be added later.
fn has_another_driver(new: &Located<'_>, old: &Located<'_>) -> bool {
    const SECRET: &str = "controllerExpandSecretRef";
    let mut csi = new.value.clone();
    if old.is_set() && !old.get(SECRET).is_set() {
        keep(&mut csi, old.value, SECRET);
    }
    !Located::root(&csi).is_like(old)
}

/// Labels of nodes, and those by which they were replaced.
const SUPERSEDED: [(&str, &str); 5] = [
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    (
        "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/region",
    ),
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
];

/// The nodes that reach a volume are fixed, but labels may be replaced by those that have superseded them.
fn node_affinity(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let mut before = old.value.clone();
    let terms = before
        .pointer_mut("/required/nodeSelectorTerms")
        .and_then(Value::as_array_mut);
    for (at, term) in terms.into_iter().flatten().enumerate() {
        for list in ["matchExpressions", "matchFields"] {
            let expressions = term.get_mut(list).and_then(Value::as_array_mut);
            for (index, expression) in expressions.into_iter().flatten().enumerate() {
                let place = format!("/required/nodeSelectorTerms/{at}/{list}/{index}/key");
                let (key, now) = (&expression["key"], new.value.pointer(&place));
                if SUPERSEDED
                    .iter()
                    .any(|(beta, stable)| key == beta && now.is_some_and(|now| now == stable))
                {
                    expression["key"] = now.cloned().unwrap_or_default();
                }
            }
        }
    }
    if old.is_set() && !semantic::equal("core.v1.VolumeNodeAffinity", new.value, &before) {
        let shown = in_go_or_null("core.v1.VolumeNodeAffinity", new);
        let sentence = "field is immutable, except for updating from beta label to GA";
        faults.invalid_as(&new.called("nodeAffinity"), &shown, sentence);
    }
}

fn warnings(Change { new: at, .. }: Change<'_, '_>) -> Warnings {
    let mut warnings = Vec::new();
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
            warnings.push(format!("metadata.annotations[{key}]: {why}"));
        }
    }
    let spec = at.get("spec");
    if spec.get("persistentVolumeReclaimPolicy").str() == "Recycle" {
        warnings.push(
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach \
             is to use dynamic provisioning."
                .to_owned(),
        );
    }
    for term in spec.at("nodeAffinity.required.nodeSelectorTerms").items() {
        warn_of_labels(&term, false, &mut warnings);
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
            warnings.push(format!("spec.{}: {why}", shown_plugin(plugin)));
        }
    }
    warnings
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let claim = row.get("spec.claimRef");
    let reference = match claim.is_set() {
        true => format!("{}/{}", claim.get("namespace").str(), claim.get("name").str()),
        false => String::new(),
    };
    vec![
        row.name(),
        or(row.get("spec.capacity.storage").str(), "0"),
        json!(print_modes(&row.get("spec.accessModes"))),
        row.text("spec.persistentVolumeReclaimPolicy"),
        print_phase(row),
        json!(reference),
        json!(print_class(row)),
        print_or_unset(&row.get("spec.volumeAttributesClassName")),
        row.text("status.reason"),
        row.age(),
        print_or_unset(&row.get("spec.volumeMode")),
    ]
}
