//! The rules of list types and map types, by which server-side apply merges.

use super::formats;
use kubewright_machinery::cause::{Cause, Path};
use serde_json::{Map, Value};

type Schema = Map<String, Value>;

pub(super) fn check(schema: &Schema, path: &Path, causes: &mut Vec<Cause>) {
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    let kind = text("type").unwrap_or_default();
    if let Some(map_type) = text("x-kubernetes-map-type") {
        must_be("object", "x-kubernetes-map-type", kind, path, causes);
        if !["atomic", "granular"].contains(&map_type) {
            causes.push(
                path.child("x-kubernetes-map-type")
                    .unsupported(map_type, &["atomic", "granular"]),
            );
        }
    }
    let keys: Vec<&str> = schema
        .get("x-kubernetes-list-map-keys")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let at = path.child("x-kubernetes-list-type");
    let Some(list_type) = text("x-kubernetes-list-type") else {
        if !keys.is_empty() {
            causes.push(at.required("must be map if x-kubernetes-list-map-keys is non-empty"));
        }
        return;
    };
    if kind != "array" {
        must_be("array", "x-kubernetes-list-type", kind, path, causes);
    } else if list_type == "set" {
        set_items(schema, path, causes);
    }
    if !["atomic", "set", "map"].contains(&list_type) {
        causes.push(at.unsupported(list_type, &["atomic", "set", "map"]));
    }
    if !keys.is_empty() && list_type != "map" {
        causes.push(at.invalid(list_type, "must be map if x-kubernetes-list-map-keys is non-empty"));
    }
    if list_type == "map" {
        map_items(schema, &keys, path, causes);
    }
    if let ("set" | "map", Some(Value::Object(items))) = (list_type, schema.get("items"))
        && items.get("nullable") == Some(&Value::Bool(true))
    {
        let at = path.child("items").child("nullable");
        causes.push(at.forbidden(&format!(
            "cannot be nullable when x-kubernetes-list-type is {list_type}"
        )));
    }
}

/// The remedy for a set of objects or lists.
pub(super) const NO_SET: &str = "use `#[schemars(extend(\"x-kubernetes-list-type\" = \"atomic\"))]`, or for objects \
                                 `\"map\"` with `x-kubernetes-list-map-keys`";

/// The fields of a schema, or of all versions of a CRD, that are sets of objects or lists, each with the server's warning.
pub(super) fn odd_sets(value: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    formats::walk_all(value, &mut |schema, field| {
        let items = schema.get("items").and_then(|items| items["type"].as_str());
        if let (Some("set"), Some(items @ ("object" | "array"))) =
            (schema.get("x-kubernetes-list-type").and_then(Value::as_str), items)
        {
            let warning = format!(
                "x-kubernetes-list-type: set for items of type \"{items}\" is not supported by server-side apply or CEL validation rules"
            );
            found.push((field.to_owned(), warning));
        }
    });
    found
}

fn must_be(wanted: &str, because: &str, kind: &str, path: &Path, causes: &mut Vec<Cause>) {
    let detail = format!("must be {wanted} if {because} is specified");
    if kind.is_empty() {
        causes.push(path.child("type").required(&detail));
    } else if kind != wanted {
        causes.push(path.child("type").invalid(kind, &detail));
    }
}

/// Checks the items of a set: they are compared as a whole, so they must be scalar or atomic.
fn set_items(schema: &Schema, path: &Path, causes: &mut Vec<Cause>) {
    let Some(Value::Object(items)) = schema.get("items") else {
        return;
    };
    let text = |key: &str| items.get(key).and_then(Value::as_str);
    const DETAIL: &str = "must be atomic as item of a list with x-kubernetes-list-type=set";
    // The server prints the list type in both messages.
    let shown = items.get("x-kubernetes-list-type").cloned().unwrap_or(Value::Null);
    match text("type") {
        Some("array") if text("x-kubernetes-list-type").is_some_and(|it| it != "atomic") => {
            causes.push(
                path.child("items")
                    .child("x-kubernetes-list-type")
                    .invalid(shown, DETAIL),
            );
        }
        Some("object") if text("x-kubernetes-map-type") != Some("atomic") => {
            causes.push(
                path.child("items")
                    .child("x-kubernetes-map-type")
                    .invalid(shown, DETAIL),
            );
        }
        _ => {}
    }
}

/// Checks the items of a list of type map: each item must have all keys.
fn map_items(schema: &Schema, keys: &[&str], path: &Path, causes: &mut Vec<Cause>) {
    let at_keys = path.child("x-kubernetes-list-map-keys");
    let at_items = path.child("items");
    if keys.is_empty() {
        causes.push(at_keys.required("must not be empty if x-kubernetes-list-type is map"));
    }
    let items = match schema.get("items") {
        None | Some(Value::Null) => {
            causes.push(at_items.required("must have a schema if x-kubernetes-list-type is map"));
            return;
        }
        Some(Value::Object(items)) => items,
        Some(other) => {
            causes.push(at_items.invalid(
                other.clone(),
                "must only have a single schema if x-kubernetes-list-type is map",
            ));
            return;
        }
    };
    let kind = items.get("type").and_then(Value::as_str).unwrap_or_default();
    if kind != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        causes.push(at_items.child("type").invalid(kind, detail));
    }
    let required = |key: &str| {
        items
            .get("required")
            .and_then(Value::as_array)
            .is_some_and(|required| required.iter().any(|it| it == key))
    };
    for (position, key) in keys.iter().enumerate() {
        let property = items
            .get("properties")
            .and_then(|properties| properties.get(key))
            .and_then(Value::as_object);
        let at = at_items.property(key);
        if kind == "object" {
            match property.map(|property| property.get("type").and_then(Value::as_str)) {
                None => {
                    let detail = "entries must all be names of item properties";
                    causes.push(at_keys.invalid(keys.to_vec(), detail));
                }
                Some(Some("array" | "object")) => {
                    let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                    // The server prints the type of the item, which is always object.
                    causes.push(at.child("type").invalid("object", detail));
                }
                Some(_) => {}
            }
            if keys[..position].contains(key) {
                causes.push(at_keys.invalid(keys.to_vec(), "must not contain duplicate entries"));
            }
        }
        let Some(property) = property else { continue };
        if !required(key) && property.get("default").is_none_or(Value::is_null) {
            causes.push(at.child("default").required(
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
            ));
        }
        if property.get("nullable") == Some(&Value::Bool(true)) {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            causes.push(at.child("nullable").forbidden(detail));
        }
    }
}
