//! Kinds that are checked in a few lines.

use super::{format::config_key, resources::quota_resource};
use crate::kinds::{
    at::{At, Faults, quoted},
    base64,
};

/// The most bytes in a ConfigMap or Secret: 1 MiB.
const MOST: usize = 1024 * 1024;
const FIXED: &str = "field is immutable when `immutable` is set";

pub(in crate::kinds) fn config_map(at: &At<'_>, faults: &mut Faults) {
    let (data, binary) = (at.get("data"), at.get("binaryData"));
    let mut size = 0;
    for (key, value) in data.entries() {
        keys(key, &value, faults);
        if binary.get(key).is_set() {
            faults.invalid_as(&value, &quoted(key), "duplicate of key present in binaryData");
        }
        size += value.str().len();
    }
    for (key, value) in binary.entries() {
        keys(key, &value, faults);
        size += bytes(&value).len();
    }
    if size > MOST {
        faults.too_long(&at.called("[]"), MOST);
    }
}

fn keys(key: &str, at: &At<'_>, faults: &mut Faults) {
    for sentence in config_key(key) {
        faults.invalid_as(at, &quoted(key), &sentence);
    }
}

fn bytes(at: &At<'_>) -> Vec<u8> {
    base64::decode(at.str()).unwrap_or_default()
}

pub(in crate::kinds) fn config_map_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    fixed(new, old, &["data", "binaryData"], faults);
    config_map(new, faults);
}

/// What is marked as immutable stays, the mark included.
fn fixed(new: &At<'_>, old: &At<'_>, names: &[&str], faults: &mut Faults) {
    if !old.get("immutable").is_true() {
        return;
    }
    if !new.get("immutable").is_true() {
        faults.forbidden(&new.get("immutable"), FIXED);
    }
    for name in names {
        if new.get(name).value != old.get(name).value {
            faults.forbidden(&new.get(name), FIXED);
        }
    }
}

pub(in crate::kinds) fn secret(at: &At<'_>, faults: &mut Faults) {
    let data = at.get("data");
    let mut size = 0;
    for (key, value) in data.entries() {
        keys(key, &value, faults);
        size += bytes(&value).len();
    }
    if size > MOST {
        faults.too_long(&data, MOST);
    }
    let key = |name: &str| {
        let found = data.get(name);
        let path = format!("data[{name}]");
        found.called(&path)
    };
    let mut required = |names: &[&str]| {
        for name in names.iter().filter(|name| !data.get(name).is_set()) {
            faults.required(&key(name), "");
        }
    };
    match at.get("type").str() {
        "kubernetes.io/service-account-token" => {
            let name = at.at("metadata.annotations").get("kubernetes.io/service-account.name");
            if name.str().is_empty() {
                faults.required(
                    &name.called("metadata.annotations[kubernetes.io/service-account.name]"),
                    "",
                );
            }
        }
        "kubernetes.io/dockercfg" => docker(&key(".dockercfg"), faults),
        "kubernetes.io/dockerconfigjson" => docker(&key(".dockerconfigjson"), faults),
        "kubernetes.io/basic-auth" if !data.get("username").is_set() && !data.get("password").is_set() => {
            required(&["username", "password"]);
        }
        "kubernetes.io/ssh-auth" if data.get("ssh-privatekey").str().is_empty() => {
            faults.required(&key("ssh-privatekey"), "");
        }
        "kubernetes.io/tls" => required(&["tls.crt", "tls.key"]),
        _ => {}
    }
}

fn docker(at: &At<'_>, faults: &mut Faults) {
    if !at.is_set() {
        return faults.required(at, "");
    }
    let bytes = bytes(at);
    let parsed = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&bytes);
    if parsed.is_err() {
        let detail = go_complaint(&bytes);
        faults.invalid_as(at, "\"<secret contents redacted>\"", &detail);
    }
}

/// What Go's decoder says about bytes that are no JSON object: exact for the common cases.
fn go_complaint(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start();
    let kinds = [("[", "array"), ("\"", "string"), ("t", "bool"), ("f", "bool")];
    match text.chars().next() {
        None => "unexpected end of JSON input".to_owned(),
        _ if serde_json::from_str::<serde_json::Value>(text).is_ok() => {
            let kind = kinds
                .iter()
                .find(|(start, _)| text.starts_with(start))
                .map_or("number", |(_, kind)| kind);
            format!("json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}")
        }
        Some('{' | '[' | '"') => "unexpected end of JSON input".to_owned(),
        Some(letter) => format!("invalid character '{letter}' looking for beginning of value"),
    }
}

pub(in crate::kinds) fn secret_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    faults.immutable(&new.get("type"), &old.get("type"));
    fixed(new, old, &["data"], faults);
    secret(new, faults);
}

pub(in crate::kinds) fn quota(at: &At<'_>, faults: &mut Faults) {
    for (name, amount) in at.at("spec.hard").entries() {
        quota_resource(name, &amount, faults);
    }
    for scope in at.at("spec.scopes").items() {
        let known = [
            "BestEffort",
            "CrossNamespacePodAffinity",
            "NotBestEffort",
            "NotTerminating",
            "PriorityClass",
            "Terminating",
            "VolumeAttributesClass",
        ];
        if !known.contains(&scope.str()) {
            let place = At {
                value: at.at("spec.scopes").value,
                path: "spec.scopes".to_owned(),
            };
            faults.invalid(&place, "unsupported scope");
        }
    }
}

pub(in crate::kinds) fn namespace(at: &At<'_>, faults: &mut Faults) {
    for name in at.at("spec.finalizers").items() {
        let place = name.called("spec.finalizers");
        faults.format(&place, super::format::qualified);
        let standard = ["kubernetes", "orphan", "foregroundDeletion"].contains(&name.str());
        if !name.str().contains('/') && !standard {
            faults.invalid(
                &place,
                "name is neither a standard finalizer name nor is it fully qualified",
            );
        }
    }
}

pub(in crate::kinds) fn lease(at: &At<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    let (seconds, transitions) = (spec.get("leaseDurationSeconds"), spec.get("leaseTransitions"));
    if seconds.is_set() && seconds.int() <= 0 {
        faults.invalid(&seconds, "must be greater than 0");
    }
    faults.not_negative(&transitions);
}

pub(in crate::kinds) fn priority_class(at: &At<'_>, faults: &mut Faults) {
    let (name, value) = (at.at("metadata.name"), at.get("value"));
    if name.str().starts_with("system-") && !matches!(name.str(), "system-node-critical" | "system-cluster-critical") {
        let detail = "priority class names with 'system-' prefix are reserved for system use only. error: the following \
                      are the only system priority class names";
        faults.forbidden(&name, detail);
    } else if !name.str().starts_with("system-") && value.int() > 1_000_000_000 {
        let detail = "maximum allowed value of a user defined priority is 1000000000";
        faults.forbidden(&value, detail);
    }
    if at.get("preemptionPolicy").is_set() {
        faults.one_of(&at.get("preemptionPolicy"), &["PreemptLowerPriority", "Never"]);
    }
}

pub(in crate::kinds) fn priority_class_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    if new.get("value").int() != old.get("value").int() {
        faults.forbidden(&new.get("value"), "may not be changed in an update.");
    }
    faults.immutable(&new.get("preemptionPolicy"), &old.get("preemptionPolicy"));
}
