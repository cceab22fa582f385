//! MutatingAdmissionPolicyBindings and ValidatingAdmissionPolicyBindings.

use std::{collections::BTreeSet, fmt::Write};

use serde_json::{Value, json};

use super::{configuration::name, matching};
use crate::{
    kinds::{
        faults::Faults,
        format::{path_segment, subdomain},
        kind::BuiltInKind,
        labels::selector,
        located::Located,
        row::Row,
    },
    strategy::{Generation, Passes, Put, Rules},
};

pub(in crate::kinds) fn mutating() -> BuiltInKind {
    BuiltInKind {
        validate: |at, faults| {
            mutates(at, faults);
            name(at, faults);
        },
        validate_update: |new, _, faults| mutates(new, faults),
        ..binding()
    }
}

pub(in crate::kinds) fn validating() -> BuiltInKind {
    BuiltInKind {
        validate: |at, faults| {
            validates(at, faults);
            name(at, faults);
        },
        validate_update: |new, _, faults| validates(new, faults),
        ..binding()
    }
}

fn binding() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            generation: Generation::COUNTED,
            put: Put::CONDITIONAL,
            passes: Passes::VALIDATE,
            ..Rules::default()
        },
        // A policy has the same structs, and their defaults.
        cells,
        ..BuiltInKind::default()
    }
}

const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];

fn mutates(at: &Located<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    validate(&spec, faults);
    matching::mutable(&spec.get("matchResources"), faults);
}

fn validates(at: &Located<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    validate(&spec, faults);
    actions(&spec.get("validationActions"), faults);
}

fn validate(spec: &Located<'_>, faults: &mut Faults) {
    faults.required_format(&spec.get("policyName"), subdomain);
    let (parameter, matching) = (spec.get("paramRef"), spec.get("matchResources"));
    if parameter.is_set() {
        reference(&parameter, faults);
    }
    if matching.is_set() {
        matching::validate(&matching, faults);
    }
}

fn reference(at: &Located<'_>, faults: &mut Faults) {
    const EXCLUSIVE: &str = "name and selector are mutually exclusive";
    let (name, labels) = (at.get("name"), at.get("selector"));
    let has_name = !name.str().is_empty();
    if has_name {
        faults.format(&name, path_segment);
    }
    match (has_name, labels.is_set()) {
        (true, true) => {
            faults.forbidden(&name, EXCLUSIVE);
            selector(&labels, faults);
            faults.forbidden(&labels, EXCLUSIVE);
        }
        (false, true) => selector(&labels, faults),
        (true, false) => {}
        (false, false) => faults.required(at, "one of name or selector must be specified"),
    }
    let action = at.get("parameterNotFoundAction");
    if action.str().is_empty() {
        faults.required(&action, "");
    } else {
        faults.one_of(&action, &["Deny", "Allow"]);
    }
}

fn actions(at: &Located<'_>, faults: &mut Faults) {
    let mut seen = BTreeSet::new();
    for action in at.items() {
        faults.one_of(&action, &ACTIONS);
        if !seen.insert(action.str()) {
            faults.duplicate(&action);
        }
    }
    if seen.contains("Deny") && seen.contains("Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information in the API \
                      response and headers serves no purpose)";
        faults.invalid(at, detail);
    }
    if seen.is_empty() {
        faults.declared(|faults| faults.required(at, ""));
    }
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let parameter = row.get("spec.paramRef");
    let (namespace, name) = (parameter.get("namespace").str(), parameter.get("name").str());
    let labels = parameter.get("selector");
    let shown = match (name, labels.is_set()) {
        ("", true) => in_go(&labels),
        ("", false) => "<unset>".to_owned(),
        _ if namespace.is_empty() => format!("*/{name}"),
        _ => format!("{namespace}/{name}"),
    };
    vec![row.name(), row.text("spec.policyName"), json!(shown), row.age()]
}

/// A LabelSelector as Go's generated code prints it.
fn in_go(selector: &Located<'_>) -> String {
    let mut out = "&LabelSelector{MatchLabels:map[string]string{".to_owned();
    for (key, value) in selector.get("matchLabels").entries() {
        _ = write!(out, "{key}: {},", value.str());
    }
    out.push_str("},MatchExpressions:[]LabelSelectorRequirement{");
    for expression in selector.get("matchExpressions").items() {
        let [key, operator] = ["key", "operator"].map(|field| expression.get(field));
        let values = expression.get("values");
        let values: Vec<&str> = values
            .items()
            .map(|value| value.value.as_str().unwrap_or_default())
            .collect();
        _ = write!(
            out,
            "LabelSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},",
            key.str(),
            operator.str(),
            values.join(" ")
        );
    }
    out.push_str("},}");
    out
}
