//! CertificateSigningRequests.

use std::collections::BTreeSet;

use kubewright_machinery::{
    base64::{self, Encoding},
    time::human_duration,
};
use serde_json::{Value, json};

use super::{chain, request::Request};
use crate::{
    kinds::{
        edit::{Fields, keep, keep_all_but, section},
        faults::{Faults, quoted},
        kind::{BuiltInKind, Part, Selectable},
        located::Located,
        row::{Row, or},
        signer,
    },
    strategy::{MetadataPass, NameRule, Passes, Resets, Rules, Stamps},
    user::User,
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            name: NameRule::PathSegment,
            passes: Passes {
                status: MetadataPass::VALIDATE_THEN_UPDATE,
                ..Passes::VALIDATE_THEN_UPDATE
            },
            resets: Resets {
                object: &["spec", "status"],
                status: &["spec", "status.conditions"],
                ..Resets::default()
            },
            stamps: Stamps {
                user: Some(record_user),
                update: Some(date),
                ..Stamps::default()
            },
            ..Rules::default()
        },
        prepare_update: |new, old| keep(new, old, "spec"),
        prepare_status,
        validate,
        validate_status,
        parts: &[APPROVAL],
        selectable: SELECTABLE,
        cells,
        ..BuiltInKind::default()
    }
}

const SELECTABLE: &[Selectable] = &[Selectable::new("spec.signerName", "/spec/signerName")];
/// The valid usages, in the order in which the server lists them.
const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];
/// Conditions that are either true or absent.
const FINAL: [&str; 3] = ["Approved", "Denied", "Failed"];
/// Conditions that only `approval` sets.
const APPROVALS: [&str; 2] = ["Approved", "Denied"];

const APPROVAL: Part = Part {
    name: "approval",
    reset: &["spec", "status.certificate"],
    prepare: prepare_approval,
    validate: validate_approval,
};

/// Records the user who creates a request: the certificate is for that user.
fn record_user(object: &mut Value, user: &User) {
    let Some(spec) = section(object, "spec") else { return };
    for name in ["username", "uid", "groups", "extra"] {
        spec.remove(name);
    }
    if let Value::Object(fields) = user.body() {
        spec.extend(fields);
    }
}

/// The conditions of a type, with their positions.
fn positions(conditions: &[Value], name: &str) -> Vec<usize> {
    let found = conditions.iter().enumerate().filter(|(_, it)| it["type"] == name);
    found.map(|(at, _)| at).collect()
}

fn conditions(object: &Value) -> &[Value] {
    let found = object.pointer("/status/conditions").and_then(Value::as_array);
    found.map(Vec::as_slice).unwrap_or_default()
}

/// Keeps the conditions of the approval. Validation refuses added and removed ones.
fn prepare_status(new: &mut Value, old: &Value) {
    let before = conditions(old);
    let Some(now) = new.pointer_mut("/status/conditions").and_then(Value::as_array_mut) else {
        return;
    };
    for name in APPROVALS {
        let (had, has) = (positions(before, name), positions(now, name));
        if had.len() != has.len() {
            continue;
        }
        for (from, to) in had.into_iter().zip(has) {
            now[to] = before[from].clone();
        }
    }
}

/// An approval changes only metadata and conditions.
fn prepare_approval(new: &mut Value, old: &Value) {
    keep_all_but(new, old, &["metadata", "status"]);
    let kept = new.pointer("/status/conditions").cloned();
    keep(new, old, "status");
    let Some(status) = section(new, "status") else { return };
    match kept {
        Some(conditions) => _ = status.insert("conditions".to_owned(), conditions),
        None => _ = status.remove("conditions"),
    }
}

/// Sets missing times of conditions: `lastUpdateTime` to `now`, and `lastTransitionTime` to the time at which the condition
/// got its status.
fn date(new: &mut Value, old: &Value, now: &str) {
    let before = conditions(old);
    let list = new.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
    for condition in list.into_iter().flatten().filter_map(Value::as_object_mut) {
        if is_undated(condition, "lastUpdateTime") {
            condition.insert("lastUpdateTime".to_owned(), json!(now));
        }
        if is_undated(condition, "lastTransitionTime") {
            let same = |it: &&Value| {
                ["type", "status"]
                    .iter()
                    .all(|name| it.get(*name) == condition.get(*name))
            };
            let since = before.iter().find(same).and_then(|it| it.get("lastTransitionTime"));
            let since = since.filter(|since| !since.is_null()).cloned();
            condition.insert("lastTransitionTime".to_owned(), since.unwrap_or_else(|| json!(now)));
        }
    }
}

fn is_undated(condition: &Fields, name: &str) -> bool {
    condition.get(name).is_none_or(Value::is_null)
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    let pem = spec.get("request");
    let bytes = base64::decode(pem.str(), Encoding::Standard).unwrap_or_default();
    if let Err(why) = Request::read(&bytes).and_then(|request| request.verify()) {
        faults.invalid(&pem, &why);
    }
    usages(&spec.get("usages"), faults);
    signer_name(&spec.get("signerName"), faults);
    let expiration = spec.get("expirationSeconds");
    if expiration.is_set() && expiration.int() < 600 {
        let detail = "may not specify a duration less than 600 seconds (10 minutes)";
        faults.invalid(&expiration, detail);
    }
}

fn usages(at: &Located<'_>, faults: &mut Faults) {
    if at.len() == 0 {
        faults.required(at, "");
    }
    for usage in at.items() {
        faults.one_of(&usage, &USAGES);
    }
    let mut seen = BTreeSet::new();
    for usage in at.items().filter(|usage| !seen.insert(usage.str())) {
        faults.duplicate(&usage);
    }
}

fn signer_name(at: &Located<'_>, faults: &mut Faults) {
    match at.str() {
        "kubernetes.io/legacy-unknown" => {
            faults.invalid(at, "the legacy signerName is not allowed via this API version");
        }
        _ => signer::name(at, faults),
    }
}

fn validate_status(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    validate_conditions(&new.at("status.conditions"), faults);
    let (now, before) = (new.at("status.certificate"), old.at("status.certificate"));
    let is_new = now.str() != before.str();
    if is_new && !now.str().is_empty() {
        let chain = base64::decode(now.str(), Encoding::Standard).unwrap_or_default();
        if let Some(why) = chain::fault(&chain) {
            faults.invalid_as(&now, "\"<certificate data>\"", &why);
        }
    }
    removed(new, old, faults);
    for name in APPROVALS {
        if count(new, name) > count(old, name) {
            let detail = format!("updates may not add a condition of type \"{name}\"");
            faults.forbidden(&new.at("status.conditions"), &detail);
        }
    }
    if is_new && !before.str().is_empty() {
        faults.forbidden(&now, "updates may not modify existing certificate content");
    }
}

fn validate_approval(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    validate_conditions(&new.at("status.conditions"), faults);
    removed(new, old, faults);
}

fn count(at: &Located<'_>, name: &str) -> usize {
    positions(conditions(at.value), name).len()
}

fn removed(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    for name in FINAL {
        if count(new, name) < count(old, name) {
            let detail = format!("updates may not remove a condition of type \"{name}\"");
            faults.forbidden(&new.at("status.conditions"), &detail);
        }
    }
}

fn validate_conditions(at: &Located<'_>, faults: &mut Faults) {
    let mut seen = BTreeSet::new();
    for condition in at.items() {
        let (name, status) = (condition.get("type"), condition.get("status"));
        if name.str().is_empty() {
            faults.required(&name, "");
        }
        let known: &[&str] = match FINAL.contains(&name.str()) {
            true => &["True"],
            false => &["False", "True", "Unknown"],
        };
        match status.str() {
            "" => faults.required(&status, ""),
            _ => faults.one_of(&status, known),
        }
        if !seen.insert(name.str()) {
            faults.duplicate(&name);
        }
    }
    if APPROVALS.iter().all(|name| seen.contains(name)) {
        let both = APPROVALS.map(|name| format!("conditions[{{\"type\": \"{name}\"}}]"));
        let shown = quoted(&format!("{{{}}}", both.join(", ")));
        let detail = format!(
            "must specify at most one of: {}",
            both.map(|it| format!("`{it}`")).join(", ")
        );
        faults.declared(|faults| faults.invalid_as(at, &shown, &detail));
    }
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let expiration = row.get("spec.expirationSeconds");
    let duration = match expiration.is_set() {
        true => json!(human_duration(expiration.int())),
        false => json!("<none>"),
    };
    vec![
        row.name(),
        row.age(),
        or(row.get("spec.signerName").str(), "<none>"),
        row.text("spec.username"),
        duration,
        json!(state(row)),
    ]
}

fn state(row: &Row<'_>) -> String {
    let has = |name: &str| count(&row.at, name) > 0;
    let approval = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (_, true) => "Approved",
        _ => "Pending",
    };
    let failed = if has("Failed") { ",Failed" } else { "" };
    let issued = match row.get("status.certificate").str() {
        "" => "",
        _ => ",Issued",
    };
    format!("{approval}{failed}{issued}")
}
