//! Labels, label selectors and node selectors.

use serde_json::{Value, json};

use super::format::{label_value, qualified};
use crate::kinds::at::{At, Faults, quoted};

/// Labels; every fault is about the field as a whole.
pub(in crate::kinds) fn labels(at: &At<'_>, faults: &mut Faults) {
    for (key, value) in at.entries() {
        for sentence in qualified(key) {
            faults.invalid_as(at, &quoted(key), &sentence);
        }
        for sentence in label_value(value.str()) {
            faults.invalid_as(at, &quoted(value.str()), &sentence);
        }
    }
}

/// Annotations: keys like those of labels in lower case, 256 KiB altogether.
pub(in crate::kinds) fn annotations(at: &At<'_>, faults: &mut Faults) {
    let mut size = 0;
    for (key, value) in at.entries() {
        for sentence in qualified(&key.to_lowercase()) {
            faults.invalid_as(at, &quoted(key), &sentence);
        }
        size += key.len() + value.str().len();
    }
    if size > 256 * 1024 {
        faults.too_long(at, 256 * 1024);
    }
}

/// A LabelSelector.
pub(in crate::kinds) fn selector(at: &At<'_>, faults: &mut Faults) {
    labels(&at.get("matchLabels"), faults);
    for expression in at.get("matchExpressions").items() {
        let (operator, values) = (expression.get("operator"), expression.get("values"));
        match operator.str() {
            "In" | "NotIn" if values.len() == 0 => {
                faults.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if values.len() > 0 => {
                faults.forbidden(
                    &values,
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                );
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => faults.invalid(&operator, "not a valid selector operator"),
        }
        faults.format(&expression.get("key"), qualified);
        values.items().for_each(|value| faults.format(&value, label_value));
    }
}

/// Whether a LabelSelector can be turned into one that selects: its operators fit their values.
pub(in crate::kinds) fn is_sound(at: &At<'_>) -> bool {
    let mut faults = Faults::default();
    selector(at, &mut faults);
    faults.is_empty()
}

/// A NodeSelector.
pub(in crate::kinds) fn node_selector(at: &At<'_>, faults: &mut Faults) {
    let terms = at.get("nodeSelectorTerms");
    if terms.len() == 0 {
        faults.required(&terms, "must have at least one node selector term");
    }
    terms.items().for_each(|term| node_term(&term, true, faults));
}

/// What a node's labels and fields must be; values of labels only where `is_required`, elsewhere they are warned of.
pub(in crate::kinds) fn node_term(term: &At<'_>, is_required: bool, faults: &mut Faults) {
    for expression in term.get("matchExpressions").items() {
        let (operator, values) = (expression.get("operator"), expression.get("values"));
        match operator.str() {
            "In" | "NotIn" if values.len() == 0 => {
                faults.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if values.len() > 0 => {
                faults.forbidden(
                    &values,
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                );
            }
            "Gt" | "Lt" if values.len() != 1 => {
                faults.required(
                    &values,
                    "must be specified single value when `operator` is 'Lt' or 'Gt'",
                );
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            _ => faults.invalid(&operator, "not a valid selector operator"),
        }
        faults.format(&expression.get("key"), qualified);
        if is_required {
            values.items().for_each(|value| faults.format(&value, label_value));
        }
    }
    for field in term.get("matchFields").items() {
        let (operator, values, key) = (field.get("operator"), field.get("values"), field.get("key"));
        match operator.str() {
            "In" | "NotIn" if values.len() != 1 => {
                faults.required(
                    &values,
                    "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
                );
            }
            "In" | "NotIn" => {}
            _ => faults.invalid(&operator, "not a valid selector operator"),
        }
        if key.str() != "metadata.name" {
            faults.invalid(&key, "not a valid field selector key");
        }
    }
}

/// Whether a LabelSelector selects the labels; an empty one selects everything, a missing one nothing.
pub(in crate::kinds) fn selects(selector: &At<'_>, labels: &At<'_>) -> bool {
    let exact = selector
        .get("matchLabels")
        .entries()
        .all(|(key, value)| labels.get(key).value == value.value);
    let expressions = selector.get("matchExpressions").items().all(|expression| {
        let found = labels.get(expression.get("key").str());
        let listed = expression.get("values").items().any(|value| value.value == found.value);
        match expression.get("operator").str() {
            "In" => found.is_set() && listed,
            "NotIn" => !found.is_set() || !listed,
            "Exists" => found.is_set(),
            _ => !found.is_set(),
        }
    });
    selector.is_set() && exact && expressions
}

/// A selector as the server shows it when it complains: all fields, those that are empty as null.
pub(in crate::kinds) fn shown(selector: &At<'_>) -> String {
    let mut out = serde_json::Map::new();
    for name in ["matchLabels", "matchExpressions"] {
        match selector.get(name).value {
            Value::Null => {}
            other => _ = out.insert(name.to_owned(), other.clone()),
        }
    }
    json!(out).to_string()
}
