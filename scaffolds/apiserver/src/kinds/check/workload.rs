//! Kinds that keep Pods running: apps and replication controllers.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    format::label,
    labels::{annotations, is_sound, labels, selector, selects, shown},
    pod::pod_template,
    storage::claim_spec,
};
use crate::kinds::at::{At, Faults, quoted};

const MISMATCH: &str = "`selector` does not match template `labels`";

/// The selector, which must select the template's labels; `kind` is what the server calls it in one of its sentences.
fn selection(spec: &At<'_>, kind: &str, faults: &mut Faults) {
    let at = spec.get("selector");
    if !at.is_set() {
        return faults.required(&at, "");
    }
    selector(&at, faults);
    if at.get("matchLabels").len() + at.get("matchExpressions").len() == 0 {
        let detail = format!("empty selector is invalid for {kind}");
        faults.invalid_as(&at, &shown(&at), &detail);
    }
}

pub(super) fn matches(spec: &At<'_>, faults: &mut Faults) {
    let found = spec.at("template.metadata.labels");
    if !selects(&spec.get("selector"), &found) {
        faults.invalid(&found, MISMATCH);
    }
}

/// The template of Pods that run forever.
fn template(spec: &At<'_>, kind: &str, faults: &mut Faults) {
    let at = spec.get("template");
    pod_template(&at, faults);
    forever(&at, kind, faults);
}

fn forever(template: &At<'_>, kind: &str, faults: &mut Faults) {
    let (policy, deadline) = (
        template.at("spec.restartPolicy"),
        template.at("spec.activeDeadlineSeconds"),
    );
    faults.one_of(&policy, &["Always"]);
    if deadline.is_set() {
        faults.forbidden(&deadline, &format!("activeDeadlineSeconds in {kind} is not Supported"));
    }
}

/// Whether a selector selects something at all.
fn is_selective(spec: &At<'_>) -> bool {
    let at = spec.get("selector");
    at.get("matchLabels").len() + at.get("matchExpressions").len() > 0
}

/// What the selector and the template of ReplicaSets and Deployments must be.
fn replicated(spec: &At<'_>, faults: &mut Faults) {
    let at = spec.get("selector");
    if !is_sound(&at) {
        return faults.invalid_as(&at, &shown(&at), "invalid label selector");
    }
    if !at.is_set() || is_selective(spec) {
        matches(spec, faults);
    }
    template(spec, "ReplicaSet", faults);
}

pub(in crate::kinds) fn deployment(at: &At<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    faults.not_negative(&spec.get("replicas"));
    selection(&spec, "deployment", faults);
    replicated(&spec, faults);
    strategy(&spec.get("strategy"), faults);
    let ready = spec.get("minReadySeconds");
    faults.not_negative(&ready);
    faults.not_negative(&spec.get("revisionHistoryLimit"));
    let deadline = spec.get("progressDeadlineSeconds");
    faults.not_negative(&deadline);
    if deadline.is_set() && deadline.int() <= ready.int() {
        faults.invalid(&deadline, "must be greater than minReadySeconds");
    }
}

fn strategy(at: &At<'_>, faults: &mut Faults) {
    let rolling = at.get("rollingUpdate");
    match at.get("type").str() {
        "Recreate" if rolling.is_set() => {
            faults.forbidden(&rolling, "may not be specified when strategy `type` is 'Recreate'");
        }
        "Recreate" => {}
        "RollingUpdate" => {
            let (unavailable, surge) = (rolling.get("maxUnavailable"), rolling.get("maxSurge"));
            amount(&unavailable, faults);
            amount(&surge, faults);
            if share(&unavailable) == 0 && share(&surge) == 0 {
                faults.invalid(&unavailable, "may not be 0 when `maxSurge` is 0");
            }
            at_most_all(&unavailable, faults);
        }
        _ => {
            let r#type = at.get("type").value.to_string();
            let rolling = if rolling.is_set() {
                let part = |name: &str| rolling.get(name).value.to_string();
                format!(
                    r#"{{"MaxUnavailable":{},"MaxSurge":{}}}"#,
                    part("maxUnavailable"),
                    part("maxSurge")
                )
            } else {
                "null".to_owned()
            };
            let shown = format!(r#"{{"Type":{type},"RollingUpdate":{rolling}}}"#);
            faults.not_supported_as(at, &shown, &["Recreate", "RollingUpdate"]);
        }
    }
}

/// A number or percentage that is not negative.
pub(super) fn amount(at: &At<'_>, faults: &mut Faults) {
    if !at.value.is_string() {
        return faults.not_negative(at);
    }
    let digits = at.str().strip_suffix('%').unwrap_or_default();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        faults.invalid(
            at,
            "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used \
             for validation is '[0-9]+%')",
        );
    }
}

/// The number, or that of the percentage.
fn share(at: &At<'_>) -> i64 {
    match at.str().strip_suffix('%') {
        Some(digits) => digits.parse().unwrap_or_default(),
        None => at.int(),
    }
}

/// No more than 100 %.
pub(super) fn at_most_all(at: &At<'_>, faults: &mut Faults) {
    if at.value.is_string() && share(at) > 100 {
        faults.invalid(at, "must not be greater than 100%");
    }
}

pub(in crate::kinds) fn deployment_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    deployment(new, faults);
    faults.immutable(&new.at("spec.selector"), &old.at("spec.selector"));
}

/// What statuses of Deployments and ReplicaSets have in common: counts that fit each other.
fn counts(status: &At<'_>, names: &[&str], faults: &mut Faults) {
    for name in names {
        faults.not_negative(&status.get(name));
    }
}

fn not_more(status: &At<'_>, name: &str, than: &str, detail: &str, faults: &mut Faults) {
    let value = status.get(name);
    if value.int() > status.get(than).int() {
        faults.invalid_as(&value, &value.int().to_string(), detail);
    }
}

const TOO_MANY: &str = "cannot be greater than status.replicas";

pub(in crate::kinds) fn deployment_status(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let status = new.get("status");
    let names = [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ];
    counts(&status, &names, faults);
    not_more(&status, "updatedReplicas", "replicas", TOO_MANY, faults);
    not_more(&status, "readyReplicas", "replicas", TOO_MANY, faults);
    not_more(&status, "availableReplicas", "replicas", TOO_MANY, faults);
    not_more(
        &status,
        "availableReplicas",
        "readyReplicas",
        "cannot be greater than readyReplicas",
        faults,
    );
    decrement(&status, &old.get("status"), faults);
}

fn decrement(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let (now, before) = (new.get("collisionCount"), old.get("collisionCount"));
    if now.int() < before.int() {
        faults.invalid(&now, "cannot be decremented");
    }
}

pub(in crate::kinds) fn replica_set(at: &At<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    faults.not_negative(&spec.get("replicas"));
    faults.not_negative(&spec.get("minReadySeconds"));
    selection(&spec, "deployment", faults);
    replicated(&spec, faults);
}

pub(in crate::kinds) fn replica_set_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    replica_set(new, faults);
    faults.immutable(&new.at("spec.selector"), &old.at("spec.selector"));
}

pub(in crate::kinds) fn replica_set_status(new: &At<'_>, faults: &mut Faults) {
    let status = new.get("status");
    let names = [
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ];
    counts(&status, &names, faults);
    not_more(&status, "fullyLabeledReplicas", "replicas", TOO_MANY, faults);
    not_more(&status, "readyReplicas", "replicas", TOO_MANY, faults);
    not_more(&status, "availableReplicas", "replicas", TOO_MANY, faults);
    not_more(
        &status,
        "availableReplicas",
        "readyReplicas",
        "cannot be greater than readyReplicas",
        faults,
    );
}

pub(in crate::kinds) fn stateful_set(at: &At<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    set_basics(&spec, faults);
    for claim in spec.get("volumeClaimTemplates").items() {
        claim_spec(&claim.get("spec"), faults);
    }
    set_rest(&spec, faults);
}

fn set_basics(spec: &At<'_>, faults: &mut Faults) {
    let policy = spec.get("podManagementPolicy");
    if !matches!(policy.str(), "OrderedReady" | "Parallel") {
        faults.invalid(&policy, "must be 'OrderedReady' or 'Parallel'");
    }
    let strategy = spec.get("updateStrategy");
    let rolling = strategy.get("rollingUpdate");
    match strategy.get("type").str() {
        "OnDelete" if rolling.is_set() => {
            let (partition, unavailable) = (rolling.get("partition").int(), rolling.get("maxUnavailable").value);
            let shown = format!(r#"{{"Partition":{partition},"MaxUnavailable":{unavailable}}}"#);
            faults.invalid_as(&rolling, &shown, "only allowed for updateStrategy 'RollingUpdate'");
        }
        "OnDelete" => {}
        "RollingUpdate" => faults.not_negative(&rolling.get("partition")),
        other => {
            let shown = format!(r#"{{"Type":{},"RollingUpdate":null}}"#, quoted(other));
            faults.invalid_as(&strategy, &shown, "must be 'RollingUpdate' or 'OnDelete'");
        }
    }
    let retention = spec.get("persistentVolumeClaimRetentionPolicy");
    for name in ["whenDeleted", "whenScaled"] {
        faults.one_of(&retention.get(name), &["Retain", "Delete"]);
    }
}

fn set_rest(spec: &At<'_>, faults: &mut Faults) {
    for path in ["replicas", "minReadySeconds", "ordinals.start"] {
        faults.not_negative(&spec.at(path));
    }
    if !spec.get("serviceName").str().is_empty() {
        faults.format(&spec.get("serviceName"), label);
    }
    selection(spec, "statefulset", faults);
    let template = with_claims(spec);
    let at = At {
        value: &template,
        path: format!("{}.template", spec.path),
    };
    let selector = spec.get("selector");
    if is_sound(&selector) {
        if !selector.is_set() || is_selective(spec) {
            matches(spec, faults);
        }
        // The server looks at these twice.
        labels(&at.at("metadata.labels").called(&format!("{}.labels", at.path)), faults);
        let notes = at.at("metadata.annotations");
        annotations(&notes.called(&format!("{}.annotations", at.path)), faults);
        pod_template(&at, faults);
    } else {
        faults.invalid_as(&selector, &shown(&selector), "");
    }
    forever(&at, "StatefulSet", faults);
}

/// The template as it is checked: claims are volumes of their names, and the host's name is given by the set.
fn with_claims(spec: &At<'_>) -> Value {
    let mut template = spec.get("template").value.clone();
    let names: BTreeSet<&str> = spec
        .get("volumeClaimTemplates")
        .items()
        .map(|claim| claim.at("metadata.name").str())
        .collect();
    let Some(fields) = template.get_mut("spec").and_then(Value::as_object_mut) else {
        return template;
    };
    fields.remove("hostname");
    fields.remove("subdomain");
    if !names.is_empty() {
        let volume = |name: &&str| json!({"name": name, "persistentVolumeClaim": {"claimName": name}});
        let mut volumes: Vec<Value> = names.iter().map(volume).collect();
        let others = fields
            .get("volumes")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let is_other = |volume: &Value| !names.contains(&volume["name"].as_str().unwrap_or_default());
        volumes.extend(others.into_iter().filter(is_other));
        fields.insert("volumes".to_owned(), Value::Array(volumes));
    }
    template
}

const SET_CHANGES: [&str; 7] = [
    "replicas",
    "template",
    "updateStrategy",
    "minReadySeconds",
    "ordinals",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
];

pub(in crate::kinds) fn stateful_set_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let (spec, before) = (new.get("spec"), old.get("spec"));
    set_basics(&spec, faults);
    let without_name = without(spec.value, &["serviceName"]);
    set_rest(
        &At {
            value: &without_name,
            path: spec.path.clone(),
        },
        faults,
    );
    if without(spec.value, &SET_CHANGES) != without(before.value, &SET_CHANGES) {
        faults.forbidden(
            &spec,
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', \
             'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
        );
    }
}

fn without(value: &Value, names: &[&str]) -> Value {
    let mut value = value.clone();
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|name, _| !names.contains(&name.as_str()));
    }
    value
}

pub(in crate::kinds) fn stateful_set_status(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let status = new.get("status");
    let names = [
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
    ];
    counts(&status, &names, faults);
    for name in [
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
    ] {
        not_more(&status, name, "replicas", TOO_MANY, faults);
    }
    not_more(
        &status,
        "availableReplicas",
        "readyReplicas",
        "cannot be greater than status.readyReplicas",
        faults,
    );
    decrement(&status, &old.get("status"), faults);
}

pub(in crate::kinds) fn daemon_set(at: &At<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    let at = spec.get("selector");
    selector(&at, faults);
    if is_sound(&at) {
        matches(&spec, faults);
    }
    if at.is_set() && !is_selective(&spec) {
        faults.invalid_as(&at, &shown(&at), "empty selector is invalid for daemonset");
    }
    template(&spec, "DaemonSet", faults);
    faults.not_negative(&spec.get("minReadySeconds"));
    daemon_strategy(&spec.get("updateStrategy"), faults);
    faults.not_negative(&spec.get("revisionHistoryLimit"));
}

fn daemon_strategy(at: &At<'_>, faults: &mut Faults) {
    let rolling = at.get("rollingUpdate");
    match at.get("type").str() {
        "OnDelete" => {}
        "RollingUpdate" => {
            let (unavailable, surge) = (rolling.get("maxUnavailable"), rolling.get("maxSurge"));
            amount(&unavailable, faults);
            amount(&surge, faults);
            at_most_all(&unavailable, faults);
            at_most_all(&surge, faults);
            match (share(&unavailable) != 0, share(&surge) != 0) {
                (true, true) => faults.invalid(&surge, "may not be set when maxUnavailable is non-zero"),
                (false, false) => faults.required(&unavailable, "cannot be 0 when maxSurge is 0"),
                _ => {}
            }
        }
        other => {
            let shown = format!(r#"{{"Type":{},"RollingUpdate":null}}"#, quoted(other));
            faults.not_supported_as(at, &shown, &["RollingUpdate", "OnDelete"]);
        }
    }
}

pub(in crate::kinds) fn daemon_set_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    daemon_set(new, faults);
    faults.immutable(&new.at("spec.selector"), &old.at("spec.selector"));
}

pub(in crate::kinds) fn replication_controller(at: &At<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    faults.not_negative(&spec.get("minReadySeconds"));
    let selector = spec.get("selector");
    if selector.len() == 0 {
        faults.required(&selector, "");
    }
    faults.not_negative(&spec.get("replicas"));
    if !spec.get("template").is_set() {
        return faults.required(&spec.get("template"), "");
    }
    let found = spec.at("template.metadata.labels");
    if selector
        .entries()
        .any(|(key, value)| found.get(key).value != value.value)
    {
        faults.invalid(&found, MISMATCH);
    }
    template(&spec, "ReplicationController", faults);
}

pub(in crate::kinds) fn controller_revision(at: &At<'_>, faults: &mut Faults) {
    faults.not_negative(&at.get("revision"));
    let data = at.get("data");
    if !data.is_set() {
        faults.required(&data, "data is mandatory");
    }
}

pub(in crate::kinds) fn controller_revision_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    controller_revision(new, faults);
    faults.immutable(&new.get("data"), &old.get("data"));
}
