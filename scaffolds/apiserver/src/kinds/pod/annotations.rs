//! Annotations of Pods and Pod templates that have a meaning: those that fields have replaced, and marks of Pods.

use serde_json::{Map, Value, json};

use crate::{
    json,
    kinds::{
        edit::{Fields, within},
        faults::{Faults, quoted},
        located::Located,
        pod::{container::all, mounts::descending, spec::tolerations},
    },
};

/// The mark of static Pods, which the kubelet mirrors.
pub(in crate::kinds) const MIRROR: &str = "kubernetes.io/config.mirror";
/// By this a ReplicaSet orders the Pods to delete.
const COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const TOLERATIONS: &str = "scheduler.alpha.kubernetes.io/tolerations";
pub(super) const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
/// The prefix of the key for a container's profile; the container's name follows.
pub(super) const SECCOMP_OF: &str = "container.seccomp.security.alpha.kubernetes.io/";
pub(in crate::kinds) const APP_ARMOR_OF: &str = "container.apparmor.security.beta.kubernetes.io/";

/// Forms of `initContainers` before Kubernetes 1.6.
const DROPPED: [&str; 4] = [
    "pod.beta.kubernetes.io/init-containers",
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-container-statuses",
    "pod.alpha.kubernetes.io/init-container-statuses",
];

/// Removes the annotations that the server stores in no Pod or template.
pub(in crate::kinds) fn drop_old(object: &mut Fields) {
    let Some(metadata) = within(object, "metadata") else {
        return;
    };
    let Some(annotations) = within(metadata, "annotations") else {
        return;
    };
    let before = annotations.len();
    annotations.retain(|key, _| !DROPPED.contains(&key.as_str()));
    if annotations.is_empty() && before > 0 {
        metadata.remove("annotations");
    }
}

/// An annotation, with the server's path.
fn entry<'a>(at: &Located<'a>, key: &str) -> Located<'a> {
    at.get(key).called(&format!("{}[{key}]", at.path))
}

/// Validates the annotations of a Pod or template with this spec.
pub(in crate::kinds) fn validate(at: &Located<'_>, spec: &Located<'_>, faults: &mut Faults) {
    if at.len() == 0 {
        return;
    }
    let [mirror, cost] = [MIRROR, COST].map(|key| entry(at, key));
    if mirror.is_set() && spec.get("nodeName").str().is_empty() {
        faults.invalid(&mirror, "must set spec.nodeName if mirror pod annotation is set");
    }
    match read_tolerations(at.get(TOLERATIONS).str()) {
        Ok(list) => tolerations(
            &Located {
                value: &list,
                ..at.get(TOLERATIONS)
            },
            faults,
        ),
        Err(why) => faults.invalid_as(at, &quoted(TOLERATIONS), &why),
    }
    if cost.is_set() && !is_cost(cost.str()) {
        faults.invalid(&cost, "must be a 32bit integer");
    }
    if at.get(SECCOMP).is_set() {
        seccomp(&at.get(SECCOMP), faults);
    }
    for (key, _) in at.entries().filter(|(key, _)| key.starts_with(SECCOMP_OF)) {
        seccomp(&at.get(key), faults);
    }
    for (key, profile) in at.entries() {
        let Some(container) = key.strip_prefix(APP_ARMOR_OF) else {
            continue;
        };
        if !all(spec).iter().any(|it| it.get("name").str() == container) {
            faults.invalid_as(&profile, &quoted(container), "container not found");
        }
        let text = profile.str();
        if !["", "runtime/default", "unconfined"].contains(&text) && !text.starts_with("localhost/") {
            let detail = format!("invalid AppArmor profile name: {}", quoted(text));
            faults.invalid(&profile, &detail);
        }
    }
}

/// Whether a text is an integer of 32 bits without a plus sign and leading zeros.
fn is_cost(text: &str) -> bool {
    let first = text.bytes().next().unwrap_or_default();
    let begins = matches!(first, b'-' | b'1'..=b'9') || text == "0";
    begins && text.parse::<i32>().is_ok()
}

fn seccomp(at: &Located<'_>, faults: &mut Faults) {
    match at.str().strip_prefix("localhost/") {
        Some(path) => {
            let value = &json!(path);
            descending(
                &Located {
                    value,
                    path: at.path.clone(),
                },
                faults,
            );
        }
        None if ["runtime/default", "docker/default", "unconfined"].contains(&at.str()) => {}
        None => faults.invalid(at, "must be a valid seccomp profile"),
    }
}

/// The fields of a toleration, as Go names them, and their types.
const FIELDS: [(&str, &str, &str); 5] = [
    ("key", "Key", "string"),
    ("operator", "Operator", "core.TolerationOperator"),
    ("value", "Value", "string"),
    ("effect", "Effect", "core.TaintEffect"),
    ("tolerationSeconds", "TolerationSeconds", "int64"),
];

/// The list in an annotation. As Go, this ignores unknown fields and the case of names.
fn read_tolerations(text: &str) -> Result<Value, String> {
    let list = match text {
        "" => Value::Null,
        _ => json::read(text.as_bytes())?.0,
    };
    let items = match list {
        Value::Null => Vec::new(),
        Value::Array(items) => items,
        other => return Err(json::mismatch(&other, "value of type []core.Toleration")),
    };
    items.into_iter().map(read_toleration).collect()
}

fn read_toleration(item: Value) -> Result<Value, String> {
    let fields = match item {
        Value::Null => Map::new(),
        Value::Object(fields) => fields,
        other => return Err(json::mismatch(&other, "value of type core.Toleration")),
    };
    let mut read = Map::new();
    for (key, value) in fields.into_iter().filter(|(_, value)| !value.is_null()) {
        let Some((name, shown, kind)) = FIELDS.iter().find(|(name, ..)| name.eq_ignore_ascii_case(&key)) else {
            continue;
        };
        let fits = if *kind == "int64" {
            value.is_i64()
        } else {
            value.is_string()
        };
        if !fits {
            let field = format!("struct field Toleration.{shown} of type {kind}");
            return Err(json::mismatch(&value, &field));
        }
        read.insert((*name).to_owned(), value);
    }
    Ok(read.into())
}

/// Checks that an update neither adds, removes nor changes annotations that are fixed.
pub(in crate::kinds) fn fixed(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let kind = |key: &str| match key {
        MIRROR => Some("mirror pod annotation"),
        _ => key.starts_with(APP_ARMOR_OF).then_some("AppArmor annotations"),
    };
    for (key, before) in old.entries() {
        if let Some(kind) = kind(key)
            && new.get(key).value != before.value
        {
            faults.forbidden(&entry(new, key), &format!("may not remove or update {kind}"));
        }
    }
    for (key, added) in new.entries() {
        if let Some(kind) = kind(key)
            && !old.get(key).is_set()
        {
            faults.forbidden(&added, &format!("may not add {kind}"));
        }
    }
}

/// Checks that annotations and fields name the same profiles.
pub(in crate::kinds) fn agree_with_fields(at: &Located<'_>, spec: &Located<'_>, faults: &mut Faults) {
    let names_profiles = |key: &str| key == SECCOMP || key.starts_with(SECCOMP_OF) || key.starts_with(APP_ARMOR_OF);
    if !at.entries().any(|(key, _)| names_profiles(key)) {
        return;
    }
    let context = spec.get("securityContext");
    agrees(&at.get(SECCOMP), &context.get("seccompProfile"), "seccomp", faults);
    let containers = all(spec);
    let note = |prefix: &str, container: &Located<'_>| at.get(&format!("{prefix}{}", container.get("name").str()));
    for container in &containers {
        let profile = container.at("securityContext.seccompProfile");
        agrees(&note(SECCOMP_OF, container), &profile, "seccomp", faults);
    }
    if spec.at("os.name").str() == "windows" {
        return;
    }
    for container in &containers {
        let own = container.at("securityContext.appArmorProfile");
        let profile = if own.is_set() {
            own
        } else {
            context.get("appArmorProfile").called(&own.path)
        };
        agrees(&note(APP_ARMOR_OF, container), &profile, "apparmor", faults);
    }
}

fn agrees(note: &Located<'_>, profile: &Located<'_>, what: &str, faults: &mut Faults) {
    if !note.is_set() || !profile.is_set() {
        return;
    }
    let (kind, local) = (profile.get("type"), profile.get("localhostProfile"));
    let fits = match kind.str() {
        "Unconfined" => note.str() == "unconfined",
        "RuntimeDefault" => note.str() == "runtime/default" || what == "seccomp" && note.str() == "docker/default",
        "Localhost" => match note.str().strip_prefix("localhost/") {
            Some(name) if local.value != name => {
                return faults.forbidden(&local, &format!("{what} profile in annotation and field must match"));
            }
            name => name.is_some(),
        },
        _ => true,
    };
    if !fits {
        faults.forbidden(&kind, &format!("{what} type in annotation and field must match"));
    }
}

/// The AppArmor profile that an annotation names, if it is valid.
pub(in crate::kinds) fn app_armor_profile(annotation: &str) -> Option<Value> {
    match annotation {
        "unconfined" => Some(json!({"type": "Unconfined"})),
        "runtime/default" => Some(json!({"type": "RuntimeDefault"})),
        _ => {
            let name = annotation.strip_prefix("localhost/")?;
            let is_valid = !name.is_empty() && name.trim() == name && name.len() <= 4095;
            is_valid.then(|| json!({"type": "Localhost", "localhostProfile": name}))
        }
    }
}
