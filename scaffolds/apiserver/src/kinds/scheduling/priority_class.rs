//! PriorityClasses.

use serde_json::{Value, json};

use crate::{
    kinds::{edit::set, faults::Faults, kind::BuiltInKind, located::Located, row::Row},
    meta,
    strategy::{Deletion, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            deletion: Deletion {
                forbids: Some(forbids),
                ..Deletion::default()
            },
            ..Rules::default()
        },
        defaults: &[("scheduling.v1.PriorityClass", |class| {
            set(class, "preemptionPolicy", "PreemptLowerPriority");
        })],
        prepare_create: |class| meta::set(class, "generation", Some(json!(1))),
        validate,
        validate_update,
        cells,
        ..BuiltInKind::default()
    }
}

/// The classes whose names may begin with `system-`, and their values.
const SYSTEM: [(&str, i64); 2] = [
    ("system-node-critical", 2_000_001_000),
    ("system-cluster-critical", 2_000_000_000),
];

/// A collection is deleted with them in it.
fn forbids(name: &str) -> Option<&'static str> {
    let is_system = SYSTEM.iter().any(|(known, _)| *known == name);
    is_system.then_some("this is a system priority class and cannot be deleted")
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let (name, value) = (at.at("metadata.name"), at.get("value"));
    if name.str().starts_with("system-") {
        if let Some(why) = system_fault(at) {
            let rule = "priority class names with 'system-' prefix are reserved for system use only";
            faults.forbidden(&name, &format!("{rule}. error: {why}"));
        }
    } else if value.int() > 1_000_000_000 {
        let detail = "maximum allowed value of a user defined priority is 1000000000";
        faults.forbidden(&value, detail);
    }
    let policy = at.get("preemptionPolicy");
    match policy.value.as_str() {
        Some("") => faults.required(&policy, ""),
        Some(_) => faults.one_of(&policy, &["PreemptLowerPriority", "Never"]),
        None => {}
    }
}

/// The reason that a class whose name has the system's prefix is not one of the system's classes.
fn system_fault(class: &Located<'_>) -> Option<String> {
    let name = class.at("metadata.name").str();
    let Some((_, value)) = SYSTEM.iter().find(|(known, _)| *known == name) else {
        return Some(format!("{name} is not a known system priority class"));
    };
    if class.get("value").int() != *value {
        return Some(format!("value of {name} PriorityClass must be {value}"));
    }
    let is_default = class.get("globalDefault").is_true();
    is_default.then(|| format!("globalDefault of {name} PriorityClass must be false"))
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    if new.get("value").int() != old.get("value").int() {
        faults.forbidden(&new.get("value"), "may not be changed in an update.");
    }
    faults.immutable(&new.get("preemptionPolicy"), &old.get("preemptionPolicy"));
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let default = json!(row.get("globalDefault").is_true());
    vec![
        row.name(),
        row.int("value"),
        default,
        row.age(),
        row.text("preemptionPolicy"),
    ]
}
