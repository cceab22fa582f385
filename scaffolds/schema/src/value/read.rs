//! Reads a schema from JSON into nodes.

use super::node::{Additional, Bounds, Count, Junctors, ListType, Node, Text};
use kubewright_machinery::formats::Format;
use kubewright_machinery::go;
use kubewright_machinery::pattern::Pattern;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Schema = Map<String, Value>;

/// The purpose for which a schema is read. The server has a different reading for each.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Reading {
    /// To validate objects. An int-or-string has these two types, and formats that the server does not support are dropped.
    Objects,
    /// To validate defaults. An int-or-string has no type, and every format is kept.
    Defaults,
}

impl Node {
    /// Reads a schema as the server does. Values of the wrong JSON type, which the server refuses when it decodes the CRD, are ignored here.
    pub fn read(schema: &Value, reading: Reading) -> Self {
        match schema {
            Value::Object(schema) => Self::of(schema, reading),
            _ => Self::default(),
        }
    }

    /// As [`read`](Self::read), for a JSON object.
    pub fn of(schema: &Schema, reading: Reading) -> Self {
        let mut node = Self::read_object(schema, reading);
        node.has_lists = node.list_type != ListType::Atomic || node.children().any(|it| it.has_lists);
        node.has_resources = node.embedded || node.children().any(|it| it.has_resources);
        node.has_rules = node.has_rules || node.children().any(|it| it.has_rules);
        node
    }

    fn read_object(schema: &Schema, reading: Reading) -> Self {
        let (types, format) = types(schema, reading);
        let as_read = |value: Value| match reading {
            // The default is in the form in which the stored CRD has it.
            Reading::Objects => go::stored(value),
            Reading::Defaults => value,
        };
        Self {
            types,
            format,
            nullable: flag(schema, "nullable"),
            default: schema.get("default").filter(|it| !it.is_null()).cloned().map(as_read),
            one_of_values: list(schema, "enum").iter().cloned().map(as_read).collect(),
            number: bounds(schema),
            text: text(schema),
            items: boxed(schema, "items", reading),
            item_count: count(schema, "minItems", "maxItems"),
            properties: properties(schema, reading),
            additional: additional(schema, reading),
            property_count: count(schema, "minProperties", "maxProperties"),
            required: strings(schema, "required"),
            junctors: junctors(schema, reading),
            preserve: flag(schema, "x-kubernetes-preserve-unknown-fields"),
            embedded: flag(schema, "x-kubernetes-embedded-resource"),
            list_type: match word(schema, "x-kubernetes-list-type") {
                "set" => ListType::Set,
                "map" => ListType::Map,
                _ => ListType::Atomic,
            },
            map_keys: strings(schema, "x-kubernetes-list-map-keys"),
            has_lists: false,
            has_resources: false,
            has_rules: !list(schema, "x-kubernetes-validations").is_empty(),
        }
    }
}

fn types(schema: &Schema, reading: Reading) -> (Vec<String>, Option<Format>) {
    let kind = word(schema, "type");
    let format = word(schema, "format");
    if reading == Reading::Defaults {
        let types = if kind.is_empty() {
            Vec::new()
        } else {
            vec![kind.to_owned()]
        };
        return (types, Format::any(format));
    }
    if flag(schema, "x-kubernetes-int-or-string") {
        return (
            vec!["integer".to_owned(), "string".to_owned()],
            Format::known("", format),
        );
    }
    let types = if kind.is_empty() {
        Vec::new()
    } else {
        vec![kind.to_owned()]
    };
    (types, Format::known(kind, format))
}

fn bounds(schema: &Schema) -> Bounds {
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    Bounds {
        multiple_of: number("multipleOf"),
        minimum: number("minimum"),
        maximum: number("maximum"),
        exclusive_minimum: flag(schema, "exclusiveMinimum"),
        exclusive_maximum: flag(schema, "exclusiveMaximum"),
    }
}

fn text(schema: &Schema) -> Text {
    let Count { least, most } = count(schema, "minLength", "maxLength");
    let pattern = Some(word(schema, "pattern")).filter(|it| !it.is_empty());
    Text {
        least,
        most,
        pattern: pattern.map(|pattern| (pattern.to_owned(), Pattern::new(pattern))),
    }
}

fn count(schema: &Schema, least: &str, most: &str) -> Count {
    let number = |key: &str| schema.get(key).and_then(Value::as_i64);
    Count {
        least: number(least),
        most: number(most),
    }
}

fn properties(schema: &Schema, reading: Reading) -> BTreeMap<String, Node> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| (name.clone(), Node::read(schema, reading)))
        .collect()
}

fn additional(schema: &Schema, reading: Reading) -> Additional {
    match schema.get("additionalProperties") {
        Some(Value::Bool(allowed)) => Additional::Allowed(*allowed),
        Some(values @ Value::Object(_)) => Additional::Schema(Box::new(Node::read(values, reading))),
        _ => Additional::Unsaid,
    }
}

fn junctors(schema: &Schema, reading: Reading) -> Junctors {
    let branches = |key: &str| {
        list(schema, key)
            .iter()
            .map(|branch| Node::read(branch, reading))
            .collect()
    };
    Junctors {
        all_of: branches("allOf"),
        any_of: branches("anyOf"),
        one_of: branches("oneOf"),
        not: boxed(schema, "not", reading),
    }
}

fn boxed(schema: &Schema, key: &str, reading: Reading) -> Option<Box<Node>> {
    let value = schema.get(key).filter(|it| it.is_object())?;
    Some(Box::new(Node::read(value, reading)))
}

fn flag(schema: &Schema, key: &str) -> bool {
    schema.get(key) == Some(&Value::Bool(true))
}

fn word<'a>(schema: &'a Schema, key: &str) -> &'a str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(schema: &'a Schema, key: &str) -> &'a [Value] {
    schema.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn strings(schema: &Schema, key: &str) -> Vec<String> {
    list(schema, key)
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}
