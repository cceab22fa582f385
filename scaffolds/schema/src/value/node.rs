//! The compiled form of a schema: one node for each place in an object, read once from JSON.

use super::formats::Format;
use crate::go;
use crate::pattern::Pattern;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What is said of the values at one place.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// None, one, or integer and string.
    pub types: Vec<String>,
    /// Only one that the server knows for the type; it ignores others.
    pub format: Option<Format>,
    pub nullable: bool,
    /// Pruned by the schema.
    pub default: Option<Value>,
    pub one_of_values: Vec<Value>,
    pub number: Bounds,
    pub text: Text,
    pub items: Option<Box<Node>>,
    pub item_count: Count,
    pub properties: BTreeMap<String, Node>,
    pub additional: Additional,
    pub property_count: Count,
    pub required: Vec<String>,
    pub junctors: Junctors,
    pub preserve: bool,
    pub embedded: bool,
    pub list_type: ListType,
    pub map_keys: Vec<String>,
    /// Whether this or anything below is a list of things that differ.
    pub has_lists: bool,
    /// Whether this or anything below is a resource.
    pub has_resources: bool,
    /// Whether this or anything below has validation rules.
    pub has_rules: bool,
}

/// `additionalProperties`.
#[derive(Debug, Default)]
pub(crate) enum Additional {
    #[default]
    Unsaid,
    Allowed(bool),
    Schema(Box<Node>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum ListType {
    #[default]
    Atomic,
    Set,
    Map,
}

#[derive(Debug, Default)]
pub(crate) struct Bounds {
    pub multiple_of: Option<f64>,
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    pub exclusive_minimum: bool,
    pub exclusive_maximum: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Text {
    pub least: Option<i64>,
    pub most: Option<i64>,
    /// The pattern as written, and compiled.
    pub pattern: Option<(String, Result<Pattern, String>)>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub least: Option<i64>,
    pub most: Option<i64>,
}

#[derive(Debug, Default)]
pub(crate) struct Junctors {
    pub all_of: Vec<Node>,
    pub any_of: Vec<Node>,
    pub one_of: Vec<Node>,
    pub not: Option<Box<Node>>,
}

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

    /// The nodes of the values inside a value of this one.
    fn children(&self) -> impl Iterator<Item = &Node> {
        let single = self.items.as_deref().into_iter().chain(self.additional.schema());
        single.chain(self.properties.values())
    }

    /// Makes this the node of a resource, as that at the root of a schema is one, said or not.
    pub fn become_resource(&mut self) {
        self.embedded = true;
        self.has_resources = true;
    }

    /// Drops from every default what the schema would drop from an object.
    pub fn prune_defaults(&mut self) {
        if let Some(mut default) = self.default.take() {
            super::prune::unknown_in(&mut default, self);
            // What cannot be read, the server drops; it does not accept such a schema to begin with.
            _ = super::resource::coerce(&mut default, self, &crate::cause::Path::root());
            self.default = Some(default);
        }
        if let Some(items) = &mut self.items {
            items.prune_defaults();
        }
        if let Additional::Schema(values) = &mut self.additional {
            values.prune_defaults();
        }
        self.properties.values_mut().for_each(Node::prune_defaults);
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

    /// The schema of a property: its own, or the one of all others.
    pub fn property(&self, name: &str) -> Option<&Node> {
        self.properties.get(name).or(self.additional.schema())
    }

    pub fn has_type(&self, name: &str) -> bool {
        self.types.iter().any(|it| it == name)
    }
}

impl Additional {
    pub fn schema(&self) -> Option<&Node> {
        match self {
            Self::Schema(node) => Some(node),
            Self::Unsaid | Self::Allowed(_) => None,
        }
    }

    pub fn is_said(&self) -> bool {
        !matches!(self, Self::Unsaid)
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
