//! Labels, annotations and label selectors: validation and printing.

use kubewright_machinery::labels;
use serde_json::{Value, json};

use crate::kinds::{
    faults::{Faults, quoted},
    format::{label_value, qualified},
    located::Located,
    row::or,
};

/// Checks labels of an object inside of another; every fault is about the field as a whole.
pub(in crate::kinds) fn labels(at: &Located<'_>, faults: &mut Faults) {
    faults.extend_of_map(at, labels::labels);
}

/// Checks annotations of an object inside of another.
pub(in crate::kinds) fn annotations(at: &Located<'_>, faults: &mut Faults) {
    faults.extend_of_map(at, labels::annotations);
}

/// Checks annotations whose keys are a domain and a name, in letters of any case.
pub(in crate::kinds) fn user_annotations(at: &Located<'_>, faults: &mut Faults) {
    let mut size = 0;
    for (key, text) in at.entries() {
        size += key.len() + text.str().len();
        let key = key.to_lowercase();
        let sentences = qualified(&key);
        if key.is_empty() {
            faults.required(at, "");
        } else if sentences.is_empty() && !key.contains('/') {
            let detail = "must be a domain-prefixed key (such as \"acme.io/foo\")";
            faults.invalid_as(at, &quoted(&key), detail);
        } else {
            let complain = |sentence: &String| faults.invalid_as(at, &quoted(&key), sentence);
            sentences.iter().for_each(complain);
        }
    }
    if size > labels::MOST_ANNOTATIONS {
        faults.too_long(at, labels::MOST_ANNOTATIONS);
    }
}

/// Validates a LabelSelector.
pub(in crate::kinds) fn selector(at: &Located<'_>, faults: &mut Faults) {
    selector_with(at, true, faults);
}

/// Validates a LabelSelector, whose values are labels' values if `checks_values`.
pub(in crate::kinds) fn selector_with(at: &Located<'_>, checks_values: bool, faults: &mut Faults) {
    labels(&at.get("matchLabels"), faults);
    for expression in at.get("matchExpressions").items() {
        operator(&expression, faults);
        faults.format(&expression.get("key"), qualified);
        if checks_values {
            expression
                .get("values")
                .items()
                .for_each(|value| faults.format(&value, label_value));
        }
    }
}

/// Validates the operator of an expression, and that it has values if and only if the operator compares values.
pub(in crate::kinds) fn operator(expression: &Located<'_>, faults: &mut Faults) {
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
}

/// Whether a LabelSelector is valid.
pub(in crate::kinds) fn is_sound(at: &Located<'_>) -> bool {
    let mut faults = Faults::default();
    selector(at, &mut faults);
    faults.is_empty()
}

/// Whether a LabelSelector matches labels; an empty one matches all objects, a missing one none.
pub(in crate::kinds) fn selects(selector: &Located<'_>, labels: &Located<'_>) -> bool {
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

/// A selector as the server's errors quote it: with all fields, empty ones as null.
pub(in crate::kinds) fn shown(selector: &Located<'_>) -> String {
    let mut out = serde_json::Map::new();
    for name in ["matchLabels", "matchExpressions"] {
        match selector.get(name).value {
            Value::Null => {}
            other => _ = out.insert(name.to_owned(), other.clone()),
        }
    }
    json!(out).to_string()
}

/// `k=v,…`, or `<none>` without labels.
pub(in crate::kinds) fn print_labels(at: &Located<'_>) -> Value {
    let pairs: Vec<String> = at
        .entries()
        .map(|(key, value)| format!("{key}={}", value.str()))
        .collect();
    or(&pairs.join(","), "<none>")
}

/// A label selector on one line.
pub(in crate::kinds) fn print_selector(at: &Located<'_>) -> Value {
    let mut parts: Vec<(String, String)> = at
        .get("matchLabels")
        .entries()
        .map(|(key, value)| (key.to_owned(), format!("{key}={}", value.str())))
        .collect();
    for expression in at.get("matchExpressions").items() {
        let key = expression.get("key").str();
        let values = expression.get("values");
        let mut values: Vec<&str> = values.items().filter_map(|value| value.value.as_str()).collect();
        values.sort_unstable();
        let values = values.join(",");
        let text = match expression.get("operator").str() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            _ => format!("!{key}"),
        };
        parts.push((key.to_owned(), text));
    }
    parts.sort_by(|left, right| left.0.cmp(&right.0));
    let texts: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
    or(&texts.join(","), "<none>")
}
