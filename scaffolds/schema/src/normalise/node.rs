//! Normalises one node of a schema, then its children.

use super::{description, number};
use crate::{dropped::STRUCT_TYPE, options::Options, rust_formats};
use serde_json::{Map, Value, json};

type Schema = Map<String, Value>;

/// The position of a node.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Position {
    /// The whole custom resource.
    Root,
    /// Its `metadata`, for which the API server has its own schema.
    Metadata,
    /// A property that may be left out.
    Optional,
    /// A required property, an item of a list, a value of a map.
    Required,
}

const JUNCTORS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

pub(super) fn normalise(schema: &mut Schema, place: Position, options: &Options) {
    description::limit(schema, options.max_description_length);
    number::normalise(schema);
    maps(schema);
    children(schema, place, options);
    formats(schema);
    system_time(schema);
    nullable(schema, place, options);
    open(schema, place);
    defaults(schema);
    if let Some(kind) = schema.remove(STRUCT_TYPE) {
        // kube-derive's `merge_strategy = StructMerge` writes a key that does not exist.
        schema.entry("x-kubernetes-map-type").or_insert(kind);
    }
}

fn children(schema: &mut Schema, place: Position, options: &Options) {
    let resource = place == Position::Root || schema.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true));
    let required = sort_required(schema);
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, property) in properties.iter_mut() {
            let place = match (resource && name == "metadata", required.contains(name)) {
                (true, _) => Position::Metadata,
                (_, true) => Position::Required,
                (_, false) => Position::Optional,
            };
            descend(property, place, options);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(child) = schema.get_mut(key) {
            descend(child, Position::Required, options);
        }
    }
    for key in JUNCTORS {
        for branch in schema.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten() {
            nest(branch, options);
        }
    }
    if let Some(branch) = schema.get_mut("not") {
        nest(branch, options);
    }
}

fn descend(value: &mut Value, place: Position, options: &Options) {
    if let Value::Object(child) = value {
        normalise(child, place, options);
    }
}

/// Normalises a branch of a junctor, which only validates, and everything below it.
fn nest(value: &mut Value, options: &Options) {
    let Value::Object(schema) = value else { return };
    description::limit(schema, options.max_description_length);
    number::normalise(schema);
    schema.remove("title");
    sort_required(schema);
    for child in schema
        .get_mut("properties")
        .and_then(Value::as_object_mut)
        .into_iter()
        .flat_map(|it| it.values_mut())
    {
        nest(child, options);
    }
    for key in ["items", "additionalProperties", "not"] {
        if let Some(child) = schema.get_mut(key) {
            nest(child, options);
        }
    }
    for key in JUNCTORS {
        for branch in schema.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten() {
            nest(branch, options);
        }
    }
}

fn sort_required(schema: &mut Schema) -> Vec<String> {
    let Some(Value::Array(required)) = schema.get_mut("required") else {
        return Vec::new();
    };
    let mut names: Vec<String> = required.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    if names.is_empty() {
        schema.remove("required");
    } else {
        *required = names.iter().cloned().map(Value::String).collect();
    }
    names
}

/// Converts maps to `additionalProperties`, the only form that CRDs support.
fn maps(schema: &mut Schema) {
    let no_properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .is_none_or(Map::is_empty);
    match schema.get("patternProperties").and_then(Value::as_object) {
        // Keys of a JSON object are strings, whatever the Rust type is; a CRD cannot require that they look like numbers. A pattern of the
        // author's stays for the linter.
        Some(patterns) if patterns.len() == 1 && no_properties && patterns.keys().all(|it| is_of_integers(it)) => {
            let values = patterns.values().next().cloned();
            schema.remove("patternProperties");
            schema.insert("additionalProperties".into(), values.unwrap_or(Value::Bool(true)));
        }
        Some(patterns) if patterns.is_empty() => _ = schema.remove("patternProperties"),
        _ => {}
    }
    match schema.get("additionalProperties") {
        // With `true`, the values would be kept, but everything inside them would be pruned.
        Some(Value::Bool(true)) if no_properties => {
            schema.insert("additionalProperties".into(), json!({}));
        }
        Some(Value::Bool(true)) => {
            schema.remove("additionalProperties");
            schema.insert("x-kubernetes-preserve-unknown-fields".into(), true.into());
        }
        Some(Value::Bool(false)) => {
            schema.remove("additionalProperties");
            // No fields at all, so that it does not count as an object of any shape.
            if no_properties {
                schema.insert("properties".into(), json!({}));
            }
        }
        _ => {}
    }
}

/// Whether schemars writes this pattern for the keys of a map that are integers.
fn is_of_integers(pattern: &str) -> bool {
    [r"^\d+$", r"^-?\d+$"].contains(&pattern)
}

fn formats(schema: &mut Schema) {
    let Some(format) = schema.get("format").and_then(Value::as_str) else {
        return;
    };
    if format == "ip" && !schema.contains_key("anyOf") {
        schema.remove("format");
        schema.insert("anyOf".into(), json!([{"format": "ipv4"}, {"format": "ipv6"}]));
    } else if let Some(pattern) = rust_formats::of_foreign(format) {
        schema.remove("format");
        schema.entry("pattern").or_insert(pattern.into());
    }
}

/// Limits the nanoseconds of a `SystemTime`, whose decoder adds them to the seconds, which may overflow.
fn system_time(schema: &mut Schema) {
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    let Some(fields) = fields.filter(|it| it.len() == 2 && it.contains_key("secs_since_epoch")) else {
        return;
    };
    if let Some(Value::Object(nanos)) = fields.get_mut("nanos_since_epoch") {
        // The limit of the integer's type is there already.
        if nanos
            .get("maximum")
            .and_then(Value::as_u64)
            .is_none_or(|most| most >= 1_000_000_000)
        {
            nanos.insert("maximum".into(), 999_999_999.into());
        }
    }
}

fn nullable(schema: &mut Schema, place: Position, options: &Options) {
    if schema.get("nullable") == Some(&Value::Bool(false)) {
        schema.remove("nullable");
    }
    let drop = match place {
        // The custom resource itself is never null.
        Position::Root | Position::Metadata => true,
        Position::Optional => !options.keep_nullable,
        Position::Required => false,
    };
    if !drop || schema.remove("nullable").is_none() {
        return;
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && values.iter().any(|value| !value.is_null())
    {
        values.retain(|value| !value.is_null());
    }
}

/// Preserves unknown fields in a node that has no keywords about its fields. The Rust type accepts any content; otherwise the API server would
/// refuse the schema, or prune the content.
fn open(schema: &mut Schema, place: Position) {
    if matches!(place, Position::Root | Position::Metadata) {
        return;
    }
    // An embedded resource may also have any other content, and an object of any content may have limits, rules and a way to be merged.
    const ANNOTATIONS: [&str; 12] = [
        "description",
        "title",
        "default",
        "example",
        "nullable",
        "externalDocs",
        "minProperties",
        "maxProperties",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-map-type",
        STRUCT_TYPE,
        "x-kubernetes-validations",
    ];
    let silent = schema
        .iter()
        .all(|(key, value)| ANNOTATIONS.contains(&key.as_str()) || (key == "type" && value == "object"));
    if silent {
        schema.insert("x-kubernetes-preserve-unknown-fields".into(), true.into());
    }
}

fn defaults(schema: &mut Schema) {
    for key in ["default", "example"] {
        // The API server reads null here as absent.
        if schema.get(key) == Some(&Value::Null) {
            schema.remove(key);
        }
    }
    if let Some(mut default) = schema.remove("default") {
        adapt(&mut default, schema);
        schema.insert("default".into(), default);
    }
}

/// Drops nulls from a default, and shortens numbers of single precision. serde serializes `None` as null, which the API server refuses inside a
/// default unless the schema allows it, and `0.1` as 0.10000000149011612, its neighbour among doubles.
fn adapt(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(map) => {
            let child = |name: &str| {
                schema
                    .get("properties")
                    .and_then(|it| it.get(name))
                    .or(schema.get("additionalProperties"))
            };
            map.retain(|name, value| {
                !value.is_null() || child(name).is_none_or(|child| child.get("nullable") == Some(&Value::Bool(true)))
            });
            for (name, value) in map.iter_mut() {
                if let Some(Value::Object(child)) = child(name) {
                    adapt(value, child);
                }
            }
        }
        Value::Array(list) => {
            if let Some(Value::Object(items)) = schema.get("items") {
                list.iter_mut().for_each(|item| adapt(item, items));
            }
        }
        Value::Number(number) if schema.get("format").is_some_and(|it| it == "float") => number::shorten(number),
        _ => {}
    }
}
