//! From the JSON of a schema to its nodes.

use super::formats::Format;
use super::node::{Additional, Bounds, Count, Junctors, ListType, Node, Text};
use crate::go;
use crate::pattern::Pattern;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Schema = Map<String, Value>;

/// What the schema is read for: the server has two ways of it.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Reading {
    /// To check objects. An integer or string is of these types, and formats that the server does not know are dropped.
    Objects,
    /// To check defaults. An integer or string is of no type, and every format counts as one.
    Defaults,
}

impl Node {
    /// Reads a schema as the server does: what has the wrong JSON type, which it refuses when decoding, is absent here.
    pub fn read(schema: &Value, reading: Reading) -> Self {
        match schema {
            Value::Object(schema) => Self::of(schema, reading),
            _ => Self::default(),
        }
    }

    /// [`read`](Self::read), of what is known to be a schema.
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
            // The definition has been stored by now.
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
