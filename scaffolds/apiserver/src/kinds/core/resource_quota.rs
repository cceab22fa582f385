//! ResourceQuotas.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    kinds::{
        amounts::{is_standard, quota_resource},
        faults::{Faults, quoted},
        kind::BuiltInKind,
        located::Located,
        row::Row,
    },
    strategy::{Deletion, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            deletion: Deletion {
                returns_object: true,
                ..Deletion::default()
            },
            ..Rules::default()
        },
        validate,
        validate_update,
        validate_status,
        cells,
        ..BuiltInKind::default()
    }
}

/// The scopes of Pods that a selector can only ask for with `Exists`.
const PLAIN: [&str; 5] = [
    "BestEffort",
    "NotBestEffort",
    "Terminating",
    "NotTerminating",
    "CrossNamespacePodAffinity",
];
const CONFLICTING: [[&str; 2]; 2] = [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]];

fn validate(at: &Located<'_>, faults: &mut Faults) {
    amounts(&at.at("spec.hard"), faults);
    scopes(&at.get("spec"), faults);
    selector(&at.get("spec"), faults);
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    validate(new, faults);
    let [new, old] = [new, old].map(|at| at.at("spec.scopes"));
    let names = |at: &Located<'_>| at.items().map(|scope| scope.str().to_owned()).collect::<BTreeSet<_>>();
    if names(&new) != names(&old) {
        faults.invalid(&new, "field is immutable");
    }
}

fn validate_status(new: &Located<'_>, _: &Located<'_>, faults: &mut Faults) {
    amounts(&new.at("status.hard"), faults);
    amounts(&new.at("status.used"), faults);
}

fn amounts(at: &Located<'_>, faults: &mut Faults) {
    for (name, amount) in at.entries() {
        quota_resource(name, &amount, faults);
    }
}

fn scopes(spec: &Located<'_>, faults: &mut Faults) {
    let at = spec.get("scopes");
    for scope in at.items() {
        if !is_scope(scope.str()) {
            faults.invalid(&at, "unsupported scope");
        }
        for _ in unfit(scope.str(), spec) {
            faults.invalid(&at, "unsupported scope applied to resource");
        }
    }
    let names: Vec<&str> = at.items().map(|scope| scope.str()).collect();
    conflicts(&names, &at, faults);
}

fn selector(spec: &Located<'_>, faults: &mut Faults) {
    const VALUES: &str = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    const NO_VALUE: &str = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    const EXISTS: &str = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                          ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, \
                          ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
    // Upstream names the fields of an item without its position.
    let at = spec.at("scopeSelector.matchExpressions");
    for item in at.items() {
        let [scope, operator, values] =
            ["scopeName", "operator", "values"].map(|name| item.get(name).called(&at.get(name).path));
        if !is_scope(scope.str()) {
            faults.invalid_as(&scope, &quoted(scope.str()), "unsupported scope");
        }
        for _ in unfit(scope.str(), spec) {
            faults.invalid_as(&at, &internal(&at), "unsupported scope applied to resource");
        }
        if PLAIN.contains(&scope.str()) && operator.str() != "Exists" {
            faults.invalid_as(&operator, &quoted(operator.str()), EXISTS);
        }
        match operator.str() {
            "In" | "NotIn" if values.len() == 0 => faults.required(&values, VALUES),
            "Exists" | "DoesNotExist" if values.len() != 0 => faults.invalid(&values, NO_VALUE),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => faults.invalid_as(&operator, &quoted(other), "not a valid selector operator"),
        }
    }
    let names: Vec<&str> = at.items().map(|item| item.get("scopeName").str()).collect();
    conflicts(&names, &spec.get("scopes").called(&at.path), faults);
}

/// A selector as upstream quotes it: its internal type, whose fields have the names of Go.
fn internal(expressions: &Located<'_>) -> String {
    let items = expressions.items().map(|item| {
        let [scope, operator] = ["scopeName", "operator"].map(|name| quoted(item.get(name).str()));
        let values = item.get("values").value;
        format!(r#"{{"ScopeName":{scope},"Operator":{operator},"Values":{values}}}"#)
    });
    format!(r#"{{"MatchExpressions":[{}]}}"#, items.collect::<Vec<_>>().join(","))
}

fn conflicts(names: &[&str], at: &Located<'_>, faults: &mut Faults) {
    for pair in CONFLICTING {
        if pair.iter().all(|name| names.contains(name)) {
            faults.invalid(at, "conflicting scopes");
        }
    }
}

fn is_scope(name: &str) -> bool {
    PLAIN.contains(&name) || matches!(name, "PriorityClass" | "VolumeAttributesClass")
}

/// The limited resources to which a scope does not apply.
fn unfit<'a>(scope: &'a str, spec: &Located<'a>) -> impl Iterator<Item = &'a str> {
    const COMPUTED: [&str; 6] = [
        "cpu",
        "memory",
        "limits.cpu",
        "limits.memory",
        "requests.cpu",
        "requests.memory",
    ];
    let fits = move |name: &str| match scope {
        "BestEffort" => name == "pods",
        "VolumeAttributesClass" => matches!(name, "persistentvolumeclaims" | "requests.storage"),
        scope if is_scope(scope) => name == "pods" || COMPUTED.contains(&name),
        _ => true,
    };
    let names = spec.get("hard").entries().map(|(name, _)| name);
    names.filter(move |name| is_standard(name) && !fits(name))
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let used = row.get("status.used");
    let hard = row.get("status.hard");
    let text = |limits: bool| {
        let each = hard.entries().filter(|(name, _)| name.starts_with("limits.") == limits);
        let each = each.map(|(name, hard)| {
            let used = used.get(name).str();
            format!("{name}: {}/{}", if used.is_empty() { "0" } else { used }, hard.str())
        });
        json!(each.collect::<Vec<_>>().join(", "))
    };
    vec![row.name(), text(false), text(true), row.age()]
}
