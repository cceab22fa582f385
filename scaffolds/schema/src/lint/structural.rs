//! The rules of structural schemas: each value has one type, which is specified outside of `allOf`, `anyOf`, `oneOf` and `not`;
//! those only validate.

use kubewright_machinery::cause::{Cause, Path};
use kubewright_machinery::pattern;
use serde_json::{Map, Value, json};

type Schema = Map<String, Value>;

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

/// The first unsupported keyword anywhere below `schema`. If there is one, the other rules are not checked.
pub(super) fn unsupported(schema: &Schema) -> Option<String> {
    for (key, name) in [
        ("id", "id"),
        ("$schema", "schema"),
        ("$ref", "$ref"),
        ("patternProperties", "patternProperties"),
        ("dependencies", "dependencies"),
        ("additionalItems", "additionalItems"),
        ("definitions", "definitions"),
    ] {
        let set = schema.get(key).is_some_and(|value| match value {
            Value::Null => false,
            Value::String(text) => !text.is_empty(),
            Value::Object(map) => !map.is_empty() || key == "additionalItems",
            _ => true,
        });
        if set {
            return Some(format!("OpenAPIV3Schema '{name}' is not supported"));
        }
    }
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        return Some("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined".to_owned());
    }
    if schema
        .get("items")
        .is_some_and(|items| items.as_array().is_some_and(|list| !list.is_empty()))
    {
        return Some("OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned());
    }
    children(schema).find_map(unsupported)
}

/// Every schema directly below `schema`.
fn children(schema: &Schema) -> impl Iterator<Item = &Schema> {
    let single = ["items", "additionalProperties", "not"]
        .into_iter()
        .filter_map(|key| schema.get(key));
    let lists = ["allOf", "anyOf", "oneOf"]
        .into_iter()
        .filter_map(|key| schema.get(key)?.as_array())
        .flatten();
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::values);
    single.chain(lists).chain(properties).filter_map(Value::as_object)
}

/// Checks a schema from its root.
pub(super) fn check(root: &Schema, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    invariants(root, Level::Root, path, &mut causes);
    // As on the server, only the root's own junctors are compared with the structure.
    complete(root, Some(root), (path, path), &mut causes);
    causes
}

fn text<'a>(schema: &'a Schema, key: &str) -> &'a str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn flag(schema: &Schema, key: &str) -> bool {
    schema.get(key) == Some(&Value::Bool(true))
}

fn invariants(schema: &Schema, level: Level, path: &Path, causes: &mut Vec<Cause>) {
    let kind = text(schema, "type");
    let items = schema.get("items").and_then(Value::as_object);
    if kind == "array" && items.is_none() {
        causes.push(path.child("items").required("must be specified"));
    }
    if let Some(items) = items {
        invariants(items, Level::Item, &path.child("items"), causes);
    }
    for (name, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        if let Value::Object(property) = property {
            invariants(property, Level::Field, &path.property(name), causes);
        }
    }
    let additional = schema.get("additionalProperties").filter(|value| !value.is_null());
    if additional.is_some() && level == Level::Root {
        causes.push(
            path.child("additionalProperties")
                .forbidden("must not be used at the root"),
        );
    }
    if let Some(Value::Object(values)) = additional {
        invariants(values, Level::Field, &path.child("additionalProperties"), causes);
    }
    extensions(schema, path, causes);
    let skip = (
        is_int_or_string(schema.get("anyOf")),
        first_all_of_is_int_or_string(schema),
    );
    validations(schema, skip, path, causes);
    shape(schema, level, path, causes);
    resource(schema, level, path, causes);
}

fn extensions(schema: &Schema, path: &Path, causes: &mut Vec<Cause>) {
    if flag(schema, "x-kubernetes-int-or-string") {
        for key in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
            if flag(schema, key) {
                causes.push(
                    path.child(key)
                        .invalid(true, "must be false if x-kubernetes-int-or-string is true"),
                );
            }
        }
    }
}

/// Checks the type of a node.
fn shape(schema: &Schema, level: Level, path: &Path, causes: &mut Vec<Cause>) {
    let kind = text(schema, "type");
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    let open = flag(schema, "x-kubernetes-int-or-string") || flag(schema, "x-kubernetes-preserve-unknown-fields");
    let at = path.child("type");
    if embedded && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        causes.push(if kind.is_empty() {
            at.required(detail)
        } else {
            at.invalid(kind, detail)
        });
    } else if kind.is_empty() && !open {
        causes.push(at.required(match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        }));
    }
    if embedded && schema.get("additionalProperties").is_some_and(|value| !value.is_null()) {
        let at = path.child("additionalProperties");
        causes.push(at.forbidden("must not be used if x-kubernetes-embedded-resource is set"));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        causes.push(at.invalid(kind, "must be object at the root"));
    }
}

/// Checks `apiVersion`, `kind` and `metadata` of the resource and of embedded resources.
fn resource(schema: &Schema, level: Level, path: &Path, causes: &mut Vec<Cause>) {
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    let properties = schema.get("properties").and_then(Value::as_object);
    let property = |name: &str| properties?.get(name)?.as_object();
    if level == Level::Root || embedded {
        for (name, kind) in [("kind", "string"), ("apiVersion", "string"), ("metadata", "object")] {
            if let Some(property) = property(name).filter(|property| text(property, "type") != kind) {
                let at = path.property(name).child("type");
                causes.push(at.invalid(text(property, "type"), &format!("must be {kind}")));
            }
        }
    }
    if level == Level::Root
        && let Some(metadata) = property("metadata")
        && !only_names(metadata)
    {
        let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        causes.push(path.property("metadata").forbidden(detail));
    }
    if embedded && !flag(schema, "x-kubernetes-preserve-unknown-fields") && properties.is_none_or(Map::is_empty) {
        let detail =
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        causes.push(path.child("properties").required(detail));
    }
}

/// Whether a schema of metadata specifies only `name` and `generateName`. The server has its own schema of the root's metadata.
fn only_names(metadata: &Schema) -> bool {
    metadata.iter().all(|(key, value)| match (key.as_str(), value) {
        ("type" | "default", _) | (_, Value::Null | Value::Bool(false)) => true,
        ("properties", Value::Object(properties)) => properties
            .keys()
            .all(|name| ["name", "generateName"].contains(&name.as_str())),
        (_, Value::String(text)) => text.is_empty(),
        (_, Value::Array(list)) => list.is_empty(),
        _ => false,
    })
}

/// Whether `anyOf` has the two branches that `x-kubernetes-int-or-string` stands for.
pub(crate) fn is_int_or_string(any_of: Option<&Value>) -> bool {
    any_of == Some(&json!([{"type": "integer"}, {"type": "string"}]))
}

fn first_all_of_is_int_or_string(schema: &Schema) -> bool {
    let first = schema
        .get("allOf")
        .and_then(Value::as_array)
        .and_then(|branches| branches.first());
    first.is_some_and(|first| is_int_or_string(first.get("anyOf")))
}

/// Checks the junctors and the pattern of a node. `skip` is true for the `anyOf`, and for that of the first `allOf`, of an int-or-string:
/// the only form in which a junctor may contain types.
fn validations(schema: &Schema, skip: (bool, bool), path: &Path, causes: &mut Vec<Cause>) {
    for key in ["anyOf", "allOf", "oneOf"] {
        if key == "anyOf" && skip.0 {
            continue;
        }
        for (index, branch) in schema
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .enumerate()
        {
            let skip = key == "allOf" && index == 0 && skip.1;
            nested(branch, skip, &path.child(key).index(index), causes);
        }
    }
    if let Some(branch) = schema.get("not") {
        nested(branch, false, &path.child("not"), causes);
    }
    let pattern = text(schema, "pattern");
    if let Err(error) = pattern::check(pattern) {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        causes.push(path.child("pattern").invalid(pattern, &detail));
    }
}

/// Checks a node inside a junctor.
fn nested(value: &Value, skip_any_of: bool, path: &Path, causes: &mut Vec<Cause>) {
    let Value::Object(schema) = value else { return };
    validations(schema, (skip_any_of, false), path, causes);
    if let Some(items) = schema.get("items") {
        nested(items, false, &path.child("items"), causes);
    }
    for (name, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        nested(property, false, &path.property(name), causes);
        if name == "metadata" {
            causes.push(
                path.property(name)
                    .forbidden("must not be specified in a nested context"),
            );
        }
    }
    if schema
        .get("additionalProperties")
        .is_some_and(|value| value.is_object() || *value == Value::Bool(true))
    {
        causes.push(
            path.child("additionalProperties")
                .forbidden("must be undefined to be structural"),
        );
    }
    for (key, detail) in [
        ("type", "must be empty to be structural"),
        ("title", "must be empty to be structural"),
        ("description", "must be empty to be structural"),
        ("default", "must be undefined to be structural"),
        ("nullable", "must be false to be structural"),
        ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
        ("x-kubernetes-embedded-resource", "must be false to be structural"),
        ("x-kubernetes-int-or-string", "must be false to be structural"),
        ("x-kubernetes-list-map-keys", "must be empty to be structural"),
        ("x-kubernetes-list-type", "must be undefined to be structural"),
        ("x-kubernetes-map-type", "must be undefined to be structural"),
        ("x-kubernetes-validations", "must be empty to be structural"),
    ] {
        let set = match schema.get(key) {
            None | Some(Value::Null) => false,
            Some(_) if key == "default" || key == "x-kubernetes-list-type" || key == "x-kubernetes-map-type" => true,
            Some(Value::Bool(flag)) => *flag,
            Some(Value::String(text)) => !text.is_empty(),
            Some(Value::Array(list)) => !list.is_empty(),
            Some(_) => true,
        };
        if set {
            causes.push(path.child(key).forbidden(detail));
        }
    }
}

/// Checks that every property and item in a junctor is also specified outside of it. `paths` are the paths outside and
/// inside the junctor.
fn complete(validation: &Schema, structure: Option<&Schema>, paths: (&Path, &Path), causes: &mut Vec<Cause>) {
    let (at, inside) = paths;
    if let Some(branch) = validation.get("not") {
        complete_nested(branch, structure, (at, &inside.child("not")), causes);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for (index, branch) in validation
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .enumerate()
        {
            complete_nested(branch, structure, (at, &inside.child(key).index(index)), causes);
        }
    }
}

fn complete_nested(value: &Value, structure: Option<&Schema>, paths: (&Path, &Path), causes: &mut Vec<Cause>) {
    let Value::Object(validation) = value else { return };
    let (at, inside) = paths;
    let Some(structure) = structure else {
        causes.push(at.required(&format!("because it is defined in {inside}")));
        return;
    };
    complete(validation, Some(structure), paths, causes);
    if let Some(items) = validation.get("items") {
        let below = structure.get("items").and_then(Value::as_object);
        complete_nested(items, below, (&at.child("items"), &inside.child("items")), causes);
    }
    for (name, property) in validation
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let below = structure
            .get("properties")
            .and_then(|it| it.get(name))
            .and_then(Value::as_object);
        complete_nested(property, below, (&at.property(name), &inside.property(name)), causes);
    }
}
