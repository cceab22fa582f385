//! Keys of labels by whose values a Pod selects others: those with its own value (`matchLabelKeys`), or with another one
//! (`mismatchLabelKeys`).

use serde_json::{Value, json};

use crate::kinds::{
    edit::{Fields, set, within},
    faults::{Faults, quoted},
    format::qualified,
    located::Located,
};

/// The lists of keys, and the operators by which they select.
const LISTS: [(&str, &str); 2] = [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")];

/// Validates the keys of a term of affinity or of a constraint. The selector of a new Pod contains their expressions already.
pub(super) fn label_keys(term: &Located<'_>, faults: &mut Faults) {
    let selector = term.get("labelSelector");
    let [keys, others] = LISTS.map(|(list, _)| term.get(list));
    for list in [&keys, &others] {
        if list.len() > 0 && !selector.is_set() {
            faults.forbidden(list, "must not be specified when labelSelector is not set");
        } else {
            list.items().for_each(|key| faults.format(&key, qualified));
        }
    }
    if keys.len() == 0 {
        return;
    }
    let names: Vec<&str> = keys.items().map(|key| key.str()).collect();
    let mut selected: Vec<&str> = selector.get("matchLabels").entries().map(|(key, _)| key).collect();
    for expression in selector.get("matchExpressions").items() {
        let key = expression.get("key").str();
        let index = names.iter().rposition(|name| *name == key);
        if let Some(index) = index.filter(|_| selected.contains(&key)) {
            // The server's paths omit the name of the list.
            let place = term.called(&format!("{}[{index}]", term.path));
            faults.invalid_as(&place, &quoted(key), "exists in both matchLabelKeys and labelSelector");
        }
        selected.push(key);
    }
    for key in keys.items() {
        if others.items().any(|other| other.str() == key.str()) {
            faults.invalid(&key, "exists in both matchLabelKeys and mismatchLabelKeys");
        }
    }
}

/// Adds an expression to the selector of a term or constraint for each key of a label that the Pod has.
pub(in crate::kinds) fn add_expressions(term: &mut Fields, labels: &Fields) {
    let mut added = Vec::new();
    for (list, operator) in LISTS {
        let keys = term.get(list).and_then(Value::as_array).into_iter().flatten();
        let found = keys.filter_map(|key| Some((key, labels.get(key.as_str()?)?)));
        added.extend(found.map(|(key, value)| json!({"key": key, "operator": operator, "values": [value]})));
    }
    let selector = within(term, "labelSelector").filter(|_| !added.is_empty());
    if let Some(selector) = selector {
        set(selector, "matchExpressions", Vec::<Value>::new());
        let expressions = selector.get_mut("matchExpressions").and_then(Value::as_array_mut);
        expressions.into_iter().for_each(|list| list.append(&mut added));
    }
}
