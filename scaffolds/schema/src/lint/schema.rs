//! The API server's rules for every node of a schema, structural or not.

use super::{lists, rules};
use kubewright_machinery::cause::{Cause, Path};
use serde_json::{Map, Value};

type Schema = Map<String, Value>;

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// The keywords that are allowed at the root of a schema if the status subresource is enabled, in the server's spelling.
const AT_ROOT: [&str; 22] = [
    "Description",
    "Type",
    "Format",
    "Title",
    "Maximum",
    "ExclusiveMaximum",
    "Minimum",
    "ExclusiveMinimum",
    "MaxLength",
    "MinLength",
    "Pattern",
    "MaxItems",
    "MinItems",
    "UniqueItems",
    "MultipleOf",
    "Required",
    "Items",
    "Properties",
    "ExternalDocs",
    "Example",
    "XPreserveUnknownFields",
    "XValidations",
];

/// Context that a node inherits from its ancestors.
#[derive(Clone, Copy, Default)]
struct Scope<'a> {
    /// Whether the node is the root.
    root: bool,
    /// Whether the node is inside the type or object metadata of a resource.
    resource_meta: bool,
    /// The reason for which defaults are refused here, if they are.
    no_defaults: Option<&'a str>,
}

/// Checks a schema from its root.
pub(super) fn check(root: &Schema, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    let scope = Scope {
        root: true,
        ..Scope::default()
    };
    node(root, path, scope, &mut causes);
    causes
}

/// Checks the root of a resource with a status subresource.
pub(super) fn root_with_status(root: &Schema, path: &Path) -> Option<Cause> {
    let set = |key: &str, value: &Value| match value {
        Value::Null => false,
        // For a flag, `false` is the same as absent; for these keywords it is not.
        Value::Bool(false) => ["additionalProperties", "additionalItems", "default"].contains(&key),
        Value::String(text) => !text.is_empty() || key == "default",
        Value::Array(list) => !list.is_empty() || key == "default",
        Value::Object(_) | Value::Bool(true) | Value::Number(_) => true,
    };
    let kind = root.get("type").and_then(Value::as_str).unwrap_or_default();
    if !kind.is_empty() && kind != "object" {
        let detail =
            "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        return Some(path.child("openAPIV3Schema.type").invalid(kind, detail));
    }
    let known = |key: &str| {
        let name = key
            .strip_prefix("x-kubernetes-")
            .map_or(key.to_owned(), |rest| format!("x{}", rest.replace('-', "")));
        AT_ROOT.iter().any(|allowed| allowed.eq_ignore_ascii_case(&name))
    };
    root.iter()
        .find(|(key, value)| set(key, value) && !known(key))
        .map(|_| {
            let fields = AT_ROOT.join(" ");
            let detail = format!(
                "only [{fields}] fields are allowed at the root of the schema if the status subresource is enabled"
            );
            path.child("openAPIV3Schema").invalid(root.clone(), &detail)
        })
}

/// Whether `test` is true for any node of any schema below `value`.
pub(super) fn any(value: &Value, test: fn(&Schema) -> bool) -> bool {
    match value {
        Value::Object(map) => test(map) || map.values().any(|value| any(value, test)),
        Value::Array(list) => list.iter().any(|value| any(value, test)),
        _ => false,
    }
}

fn node(schema: &Schema, path: &Path, scope: Scope, causes: &mut Vec<Cause>) {
    keywords(schema, path, scope, causes);
    properties(schema, path, scope, causes);
    let below = Scope { root: false, ..scope };
    for key in ["allOf", "oneOf", "anyOf"] {
        for (index, branch) in schema
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .enumerate()
        {
            child(Some(branch), &path.child(key).index(index), below, causes);
        }
    }
    child(schema.get("not"), &path.child("not"), below, causes);
    for key in ["definitions", "dependencies"] {
        for (name, value) in schema.get(key).and_then(Value::as_object).into_iter().flatten() {
            child(Some(value), &path.child(key).key(name), below, causes);
        }
    }
    match schema.get("items") {
        Some(Value::Array(list)) => {
            for (index, item) in list.iter().enumerate() {
                child(Some(item), &path.child("items").index(index), below, causes);
            }
        }
        item => child(item, &path.child("items"), below, causes),
    }
    lists::check(schema, path, causes);
    rules::check(schema, path, causes);
}

fn child(value: Option<&Value>, path: &Path, scope: Scope, causes: &mut Vec<Cause>) {
    if let Some(Value::Object(schema)) = value {
        node(schema, path, scope, causes);
    }
}

fn properties(schema: &Schema, path: &Path, scope: Scope, causes: &mut Vec<Cause>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let some = properties.is_some_and(|properties| !properties.is_empty());
    let at = path.child("additionalProperties");
    match schema.get("additionalProperties") {
        Some(Value::Bool(false) | Value::Object(_)) if some => {
            causes.push(at.forbidden("additionalProperties and properties are mutual exclusive"));
        }
        _ => {}
    }
    let inner = Scope { root: false, ..scope };
    let mut values = inner;
    if scope.resource_meta {
        values.no_defaults = Some(" inside additionalProperties applying to object metadata");
    }
    child(schema.get("additionalProperties"), &at, values, causes);
    let embedded = schema.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true));
    for (name, property) in properties.into_iter().flatten() {
        let mut below = inner;
        let reason = format!(" in top-level {name}");
        if (scope.root || embedded) && ["metadata", "kind", "apiVersion"].contains(&name.as_str()) {
            below.resource_meta = true;
            if scope.root {
                below.no_defaults = Some(&reason);
            }
        }
        child(Some(property), &path.property(name), below, causes);
    }
}

/// Checks for keywords that CRDs do not support, or that are not allowed at this place.
fn keywords(schema: &Schema, path: &Path, scope: Scope, causes: &mut Vec<Cause>) {
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    if !kind.is_empty() && !TYPES.contains(&kind) {
        causes.push(path.child("type").unsupported(kind, &TYPES));
    }
    if kind == "null" {
        causes.push(
            path.child("type")
                .forbidden("type cannot be set to null, use nullable as an alternative"),
        );
    }
    if schema.get("default").is_some_and(|default| !default.is_null())
        && let Some(reason) = scope.no_defaults
    {
        causes.push(path.child("default").forbidden(&format!("must not be set{reason}")));
    }
    for key in [
        "id",
        "additionalItems",
        "patternProperties",
        "definitions",
        "dependencies",
        "$ref",
    ] {
        let set = match schema.get(key) {
            None | Some(Value::Null) => false,
            Some(Value::Object(map)) => !map.is_empty() || key == "additionalItems",
            Some(Value::String(text)) => !text.is_empty() || key == "$ref",
            Some(_) => true,
        };
        if set {
            causes.push(path.child(key).forbidden(&format!("{key} is not supported")));
        }
    }
    if schema
        .get("items")
        .is_some_and(|items| items.as_array().is_some_and(|list| !list.is_empty()))
    {
        causes.push(
            path.child("items")
                .forbidden("items must be a schema object and not an array"),
        );
    }
    if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
        let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        causes.push(path.child("uniqueItems").forbidden(detail));
    }
    if scope.resource_meta && schema.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true)) {
        let at = path.child("x-kubernetes-embedded-resource");
        causes.push(at.forbidden("must not be used inside of resource meta"));
    }
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        let at = path.child("x-kubernetes-preserve-unknown-fields");
        causes.push(at.invalid(false, "must be true or undefined"));
    }
}
