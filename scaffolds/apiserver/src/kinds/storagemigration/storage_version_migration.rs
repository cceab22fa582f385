//! StorageVersionMigrations: stored and validated; the controller that migrates is part of kube-controller-manager.

use kubewright_machinery::names::{self, Unit};
use serde_json::{Value, json};

use crate::{
    kinds::{
        conditions::conditions,
        faults::{Faults, quoted, shown},
        format::subdomain,
        kind::BuiltInKind,
        located::Located,
        row::Row,
    },
    strategy::{Passes, Put, Rules},
};

/// The conditions that a migration ends with.
const ENDS: [(&str, &str); 2] = [
    ("Succeeded", "Success condition cannot be set to false once it is true"),
    ("Failed", "Failed condition cannot be set to false once it is true"),
];

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            put: Put::CONDITIONAL,
            passes: Passes::VALIDATE_THEN_UPDATE,
            ..Rules::default()
        },
        validate,
        validate_update: |new, old, faults| {
            validate(new, faults);
            let (now, was) = (new.get("spec"), old.get("spec"));
            if !now.is_like(&was) {
                let value = json!({"Resource": now.get("resource").value});
                faults.invalid_as(&now, &shown(&value), "field is immutable");
            }
        },
        validate_status,
        cells,
        ..BuiltInKind::default()
    }
    .with_separate_status()
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let (group, resource) = (at.at("spec.resource.group"), at.at("spec.resource.resource"));
    let joined = |sentences: Vec<String>| Some(sentences.join(",")).filter(|it| !it.is_empty());
    if resource.str().is_empty() {
        faults.required(&resource, "resource is required to be set");
    } else if let Some(detail) = joined(names::label_1035(resource.str(), Unit::Bytes)) {
        faults.invalid(&resource, &detail);
    }
    if !group.str().is_empty()
        && let Some(detail) = joined(subdomain(group.str()))
    {
        faults.invalid(&group, &detail);
    }
}

fn validate_status(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let (now, was) = (new.at("status.resourceVersion"), old.at("status.resourceVersion"));
    let is_number = !now.str().starts_with('0') && now.str().bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        faults.invalid(&now, &format!("resource version is not well formed: {}", now.str()));
    }
    let list = new.at("status.conditions");
    conditions(&list, faults);
    if !was.str().is_empty() && was.str() != now.str() {
        faults.invalid_as(&now, &quoted(now.str()), "field is immutable");
    }
    if ENDS.iter().all(|(name, _)| has(&list, name)) {
        let detail = "Both success and failed conditions cannot be true at the same time";
        faults.invalid(&list, detail);
    }
    for (name, detail) in ENDS {
        if has(&old.at("status.conditions"), name) && !has(&list, name) {
            faults.invalid(&list, detail);
        }
    }
}

/// Whether the first condition of the name is true.
fn has(conditions: &Located<'_>, name: &str) -> bool {
    let found = conditions.items().find(|it| it.get("type").str() == name);
    found.is_some_and(|it| it.get("status").str() == "True")
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let [group, resource] = ["group", "resource"].map(|field| row.get(&format!("spec.resource.{field}")));
    let named = match group.str() {
        "" => resource.str().to_owned(),
        group => format!("{}.{group}", resource.str()),
    };
    let conditions = row.get("status.conditions");
    let states = conditions.items().filter(|it| it.get("status").str() == "True");
    let states = states
        .map(|it| it.get("type").str())
        .filter(|name| ["Running", "Failed", "Succeeded"].contains(name));
    vec![row.name(), json!(named), json!(states.last().unwrap_or("Unknown"))]
}
