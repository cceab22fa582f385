//! Compares two schemas field by field: values that are no longer allowed, and values that are no longer kept.

use crate::lint::structural;
use serde_json::Value;
use std::collections::BTreeSet;

/// A change of a field, and who is affected.
pub(super) struct Change {
    pub field: String,
    pub change: String,
    pub consequence: &'static str,
}

pub(super) const REFUSED: &str = "objects with this value are refused at their next write";
pub(super) const DROPPED: &str = "values that objects have there are lost at their next write";
const MAY_REFUSE: &str = "objects that were valid may be refused at their next write";
pub(super) const INCOMPLETE: &str = "objects without it are refused at their next write";
pub(super) const MERGES: &str = "server-side apply merges it differently";

/// All breaking changes from `old` to `new`.
pub(super) fn changes(old: &Value, new: &Value) -> Vec<Change> {
    let mut found = Vec::new();
    node("", old, new, &mut found);
    found
}

fn node(field: &str, old: &Value, new: &Value, found: &mut Vec<Change>) {
    let mut add = |change: String, consequence| {
        found.push(Change {
            field: field.to_owned(),
            change,
            consequence,
        });
    };
    if let Some(change) = types(old, new) {
        add(change, REFUSED);
        // The fields below differ only because the type differs.
        return;
    }
    for (change, consequence) in bounds(old, new).into_iter().chain(sets(old, new)).chain(kept(old, new)) {
        add(change, consequence);
    }
    properties(field, old, new, found);
    for (part, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        if old[part].is_object() && new[part].is_object() {
            node(&format!("{field}{suffix}"), &old[part], &new[part], found);
        }
    }
}

/// The change of the type, unless the new type allows all values of the old one.
fn types(old: &Value, new: &Value) -> Option<String> {
    let name = |schema: &Value| match schema["x-kubernetes-int-or-string"] == true {
        true => "int-or-string".to_owned(),
        false => schema["type"].as_str().unwrap_or("any").to_owned(),
    };
    let (was, is) = (name(old), name(new));
    let wider = match (was.as_str(), is.as_str()) {
        (_, "any") | ("integer", "number") | ("integer" | "string", "int-or-string") => true,
        (was, is) => was == is,
    };
    (!wider).then(|| format!("the type was {was} and is {is}"))
}

/// Bounds, and constraints that are compatible only if they are equal.
fn bounds(old: &Value, new: &Value) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    for (keys, tighter) in [
        (
            ["minimum", "minLength", "minItems", "minProperties"],
            std::cmp::Ordering::Greater,
        ),
        (
            ["maximum", "maxLength", "maxItems", "maxProperties"],
            std::cmp::Ordering::Less,
        ),
    ] {
        for key in keys {
            let (was, is) = (old[key].as_f64(), new[key].as_f64());
            match (was, is) {
                (None, Some(_)) => found.push((format!("`{key}` is {} and was not set", new[key]), MAY_REFUSE)),
                (Some(was), Some(is)) if is.partial_cmp(&was) == Some(tighter) => {
                    found.push((format!("`{key}` was {} and is {}", old[key], new[key]), MAY_REFUSE));
                }
                _ => {}
            }
        }
    }
    for key in ["exclusiveMinimum", "exclusiveMaximum"] {
        if old[key] != true && new[key] == true {
            found.push((format!("`{key}` is new"), MAY_REFUSE));
        }
    }
    for key in ["pattern", "format", "multipleOf", "allOf", "anyOf", "oneOf", "not"] {
        if !new[key].is_null() && old[key] != new[key] && !(key == "anyOf" && is_int_or_string(new)) {
            let verb = if old[key].is_null() { "is new" } else { "changed" };
            found.push((format!("`{key}` {verb}"), MAY_REFUSE));
        }
    }
    if old["nullable"] == true && new["nullable"] != true {
        found.push(("null is no longer allowed".to_owned(), REFUSED));
    }
    found
}

/// Whether `anyOf` says what `x-kubernetes-int-or-string` says: controller-gen writes both.
fn is_int_or_string(schema: &Value) -> bool {
    schema["x-kubernetes-int-or-string"] == true && structural::is_int_or_string(schema.get("anyOf"))
}

/// Enums, required fields and rules.
fn sets(old: &Value, new: &Value) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    match (old["enum"].as_array(), new["enum"].as_array()) {
        (None, Some(_)) => found.push(("`enum` is new".to_owned(), MAY_REFUSE)),
        (Some(was), Some(is)) => {
            for value in was.iter().filter(|value| !is.contains(value)) {
                found.push((format!("the enum value {value} is gone"), REFUSED));
            }
        }
        _ => {}
    }
    let rules = |schema: &Value| -> BTreeSet<String> {
        let rules = schema["x-kubernetes-validations"].as_array().into_iter().flatten();
        rules
            .filter_map(|rule| rule["rule"].as_str())
            .map(str::to_owned)
            .collect()
    };
    for rule in rules(new).difference(&rules(old)) {
        found.push((format!("the rule `{rule}` is new"), MAY_REFUSE));
    }
    found
}

/// Pruning, defaulting and merging.
fn kept(old: &Value, new: &Value) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    let preserves = |schema: &Value| schema["x-kubernetes-preserve-unknown-fields"] == true;
    if preserves(old) && !preserves(new) {
        found.push(("unknown fields are no longer preserved".to_owned(), DROPPED));
    }
    if !old["additionalProperties"].is_null() && new["additionalProperties"].is_null() && !preserves(new) {
        found.push(("arbitrary keys are no longer allowed".to_owned(), DROPPED));
    }
    if !old["default"].is_null() && old["default"] != new["default"] {
        let is = if new["default"].is_null() {
            "gone".to_owned()
        } else {
            new["default"].to_string()
        };
        let change = format!("the default was {} and is {is}", old["default"]);
        found.push((change, "objects that leave it out get another value"));
    }
    for key in [
        "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-map-type",
    ] {
        // The defaults: lists are atomic, maps are granular.
        let meant = |schema: &Value| match &schema[key] {
            Value::Null if key.ends_with("list-type") => Value::from("atomic"),
            Value::Null if key.ends_with("map-type") => Value::from("granular"),
            other => other.clone(),
        };
        let (was, is) = (meant(old), meant(new));
        if was != is {
            found.push((format!("`{key}` was {was} and is {is}"), MERGES));
        }
    }
    found
}

fn properties(field: &str, old: &Value, new: &Value, found: &mut Vec<Change>) {
    let path = |name: &str| {
        if field.is_empty() {
            name.to_owned()
        } else {
            format!("{field}.{name}")
        }
    };
    let gone = |field: String| Change {
        field,
        change: "the field is gone".to_owned(),
        consequence: DROPPED,
    };
    let required = |schema: &Value, name: &str| {
        let names = schema["required"].as_array();
        names.is_some_and(|names| names.iter().any(|it| it == name))
    };
    let keeps_all = new["x-kubernetes-preserve-unknown-fields"] == true || new["additionalProperties"].is_object();
    for (name, was) in old["properties"].as_object().into_iter().flatten() {
        match new["properties"].get(name) {
            Some(is) => node(&path(name), was, is, found),
            None if keeps_all => {}
            None => found.push(gone(path(name))),
        }
    }
    for name in new["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        // Defaulting happens before validation.
        if !required(old, name) && new["properties"][name]["default"].is_null() {
            found.push(Change {
                field: path(name),
                change: "the field is required".to_owned(),
                consequence: INCOMPLETE,
            });
        }
    }
}
