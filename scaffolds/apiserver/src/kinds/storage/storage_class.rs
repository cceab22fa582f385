//! StorageClasses.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::{
    kinds::{
        edit::{Fields, set},
        faults::Faults,
        format::qualified,
        kind::{BuiltInKind, Change, Warnings},
        located::Located,
        node_selector::outdated,
        row::Row,
    },
    strategy::{Deletion, Passes, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            deletion: Deletion {
                returns_object: true,
                ..Deletion::default()
            },
            passes: Passes::VALIDATE_THEN_UPDATE,
            ..Rules::default()
        },
        defaults: &[("storage.v1.StorageClass", default)],
        validate,
        validate_update,
        warnings,
        cells,
        ..BuiltInKind::default()
    }
}

fn default(class: &mut Fields) {
    set(class, "reclaimPolicy", "Delete");
    set(class, "volumeBindingMode", "Immediate");
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let provisioner = at.get("provisioner");
    if provisioner.str().is_empty() {
        faults.declared(|faults| faults.required(&provisioner, ""));
    } else {
        for sentence in qualified(&provisioner.str().to_lowercase()) {
            faults.invalid(&provisioner, &sentence);
        }
    }
    parameters(&at.get("parameters"), faults);
    if !at.get("reclaimPolicy").str().is_empty() {
        faults.one_of(&at.get("reclaimPolicy"), &["Delete", "Retain"]);
    }
    faults.one_of(&at.get("volumeBindingMode"), &["Immediate", "WaitForFirstConsumer"]);
    topologies(&at.get("allowedTopologies"), faults);
}

/// The maximum number of parameters, and their maximum total size in bytes.
const MOST_PARAMETERS: usize = 512;
const MOST_BYTES: usize = 256 * 1024;

fn parameters(at: &Located<'_>, faults: &mut Faults) {
    if at.len() > MOST_PARAMETERS {
        faults.too_long(at, MOST_PARAMETERS);
    }
    let mut size = 0;
    for (key, value) in at.entries() {
        if key.is_empty() {
            faults.invalid_as(at, "\"\"", "field can not be empty.");
        }
        size += key.len() + value.str().len();
    }
    if size > MOST_BYTES {
        faults.too_long(at, MOST_BYTES);
    }
}

/// Checks that terms differ from each other. Upstream also compares each with as many empty terms as there are terms.
fn topologies(at: &Located<'_>, faults: &mut Faults) {
    let mut earlier = vec![BTreeMap::new(); at.len()];
    for item in at.items() {
        let expressions = item.get("matchLabelExpressions");
        let term = topology_term(&expressions, faults);
        for _ in earlier.iter().filter(|other| **other == term) {
            faults.duplicate_as(&expressions, "\"\"");
        }
        earlier.push(term);
    }
}

/// The values of each key.
fn topology_term<'a>(expressions: &Located<'a>, faults: &mut Faults) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let mut term = BTreeMap::new();
    for expression in expressions.items() {
        let (key, values) = (expression.get("key"), expression.get("values"));
        if values.len() == 0 {
            faults.required(&values, "");
        }
        let mut set = BTreeSet::new();
        for value in values.items() {
            if !set.insert(value.str()) {
                faults.duplicate(&value);
            }
        }
        faults.format(&key, qualified);
        if term.insert(key.str(), set).is_some() {
            faults.duplicate(&key);
        }
    }
    term
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    validate(new, faults);
    for field in ["provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"] {
        faults.declared_immutable(&new.get(field), &old.get(field));
    }
}

/// Warns about deprecated keys.
fn warnings(Change { new: at, .. }: Change<'_, '_>) -> Warnings {
    let mut warnings = Warnings::new();
    for term in at.get("allowedTopologies").items() {
        for expression in term.get("matchLabelExpressions").items() {
            let key = expression.get("key");
            warnings.extend(outdated(key.str()).map(|why| format!("{}: {why}", key.path)));
        }
    }
    warnings
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let grows = json!(row.get("allowVolumeExpansion").is_true());
    vec![
        row.name(),
        row.text("provisioner"),
        or_unset(row, "reclaimPolicy", "Delete"),
        or_unset(row, "volumeBindingMode", "Immediate"),
        grows,
        row.age(),
    ]
}

/// The text at `path`, or `fallback` if it is absent; an empty text is not absent.
fn or_unset(row: &Row<'_>, path: &str, fallback: &str) -> Value {
    json!(row.get(path).value.as_str().unwrap_or(fallback))
}
