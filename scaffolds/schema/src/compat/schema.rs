//! Compares two schemas field by field: values that are no longer allowed, and values that are no longer kept.

use super::bounds;
use super::consequence::{DEFAULTS, DROPPED, INCOMPLETE, MAY_REFUSE, MAY_REFUSE_ALL, MERGES, REFUSED, UNIQUE};
use serde_json::Value;
use std::collections::BTreeMap;

/// A change of a field, and who is affected.
pub(super) struct Change {
    pub field: String,
    pub change: String,
    pub consequence: &'static str,
}

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
    for (change, consequence) in bounds::changes(old, new)
        .into_iter()
        .chain(sets(old, new))
        .chain(kept(old, new))
    {
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
    let (was, is) = (kind(old), kind(new));
    let wider = match (was, is) {
        (_, "any") | ("integer", "number") | ("integer" | "string", "int-or-string") => true,
        (was, is) => was == is,
    };
    (!wider).then(|| format!("the type was {was} and is {is}"))
}

/// The type of the values.
fn kind(schema: &Value) -> &str {
    match schema["x-kubernetes-int-or-string"] == true {
        true => "int-or-string",
        false => schema["type"].as_str().unwrap_or("any"),
    }
}

/// Whether the fields that the schema lacks are kept, with any value.
fn preserves(schema: &Value) -> bool {
    schema["x-kubernetes-preserve-unknown-fields"] == true
}

/// Enums, rules and embedded resources.
fn sets(old: &Value, new: &Value) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    match (old["enum"].as_array(), new["enum"].as_array()) {
        (None, Some(is))
            if old["type"] == "boolean" && [true, false].iter().all(|value| is.contains(&(*value).into())) => {}
        (None, Some(_)) => found.push(("`enum` is new".to_owned(), MAY_REFUSE)),
        (Some(was), Some(is)) => {
            for value in was.iter().filter(|value| !is.contains(value)) {
                found.push((format!("the enum value {value} is gone"), REFUSED));
            }
        }
        _ => {}
    }
    let (was, is) = (rules(old), rules(new));
    for (rule, for_new_values) in is {
        match was.get(rule) {
            None => found.push((format!("the rule `{rule}` is new"), MAY_REFUSE)),
            Some(false) if for_new_values => {
                let change = format!("the rule `{rule}` is also for values that are new (`optionalOldSelf`)");
                found.push((change, MAY_REFUSE));
            }
            Some(_) => {}
        }
    }
    let embeds = |schema: &Value| schema["x-kubernetes-embedded-resource"] == true;
    if embeds(new) && !embeds(old) {
        let change = "an object there needs `apiVersion`, `kind` and valid `metadata`";
        found.push((change.to_owned(), MAY_REFUSE_ALL));
    }
    found
}

/// The rules, each with whether it is evaluated for values that had no value before.
fn rules(schema: &Value) -> BTreeMap<&str, bool> {
    let rules = schema["x-kubernetes-validations"].as_array().into_iter().flatten();
    rules
        .filter_map(|rule| Some((rule["rule"].as_str()?, rule["optionalOldSelf"] == true)))
        .collect()
}

/// A value with its sets in one order, which has no meaning.
fn ordered(value: &Value, schema: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<_> = items.iter().map(|item| ordered(item, &schema["items"])).collect();
            if schema["x-kubernetes-list-type"] == "set" {
                items.sort_by_cached_key(Value::to_string);
            }
            items.into()
        }
        Value::Object(fields) => {
            let of = |name: &str| {
                schema["properties"]
                    .get(name)
                    .unwrap_or(&schema["additionalProperties"])
            };
            let fields = fields.iter();
            fields
                .map(|(name, value)| (name.clone(), ordered(value, of(name))))
                .collect::<serde_json::Map<_, _>>()
                .into()
        }
        other => other.clone(),
    }
}

/// Pruning, defaulting and merging.
fn kept(old: &Value, new: &Value) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    if preserves(old) && !preserves(new) {
        found.push(("unknown fields are no longer preserved".to_owned(), DROPPED));
    }
    if !old["additionalProperties"].is_null() && new["additionalProperties"].is_null() && !preserves(new) {
        found.push(("arbitrary keys are no longer allowed".to_owned(), DROPPED));
    }
    if !old["default"].is_null() && ordered(&old["default"], new) != ordered(&new["default"], new) {
        let is = if new["default"].is_null() {
            "gone".to_owned()
        } else {
            new["default"].to_string()
        };
        let change = format!("the default was {} and is {is}", old["default"]);
        found.push((change, DEFAULTS));
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
            let consequence = match is.as_str() {
                Some("set" | "map") => UNIQUE,
                _ if key.ends_with("map-keys") && !is.is_null() => UNIQUE,
                _ => MERGES,
            };
            found.push((format!("`{key}` was {was} and is {is}"), consequence));
        }
    }
    found
}

/// Whether `make manifests` limits this field of a whole Kubernetes object to the only value that the type ever decoded.
fn is_named(object: &Value, field: &str) -> bool {
    let fields = &object["properties"];
    let has_one = |name: &str| fields[name]["enum"].as_array().is_some_and(|values| values.len() == 1);
    ["apiVersion", "kind"].contains(&field)
        && has_one("apiVersion")
        && has_one("kind")
        && fields["metadata"]["type"] == "object"
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
    let keeps_all = preserves(new) || new["additionalProperties"] == true;
    for (name, was) in old["properties"].as_object().into_iter().flatten() {
        match new["properties"].get(name) {
            Some(is) => {
                if was["default"].is_null() && !is["default"].is_null() && !required(old, name) {
                    found.push(Change {
                        field: path(name),
                        change: format!("the default is {} and was not set", is["default"]),
                        consequence: DEFAULTS,
                    });
                }
                match was["enum"].is_null() && is_named(new, name) {
                    true => node(&path(name), was, was, found),
                    false => node(&path(name), was, is, found),
                }
            }
            // The key is one of a map now.
            None if new["additionalProperties"].is_object() => {
                node(&path(name), was, &new["additionalProperties"], found);
            }
            None if keeps_all => {}
            None => found.push(gone(path(name))),
        }
    }
    let is_resource = old["x-kubernetes-embedded-resource"] == true;
    for (name, is) in new["properties"].as_object().into_iter().flatten() {
        let is_checked = is_resource && ["apiVersion", "kind", "metadata"].contains(&name.as_str());
        if old["properties"].get(name).is_some() || is_checked {
            continue;
        }
        // A key of a map that has a schema of its own now.
        if old["additionalProperties"].is_object() {
            node(&path(name), &old["additionalProperties"], is, found);
        } else if preserves(old) && kind(is) != "any" {
            found.push(Change {
                field: path(name),
                change: format!("the type was any and is {}", kind(is)),
                consequence: REFUSED,
            });
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
