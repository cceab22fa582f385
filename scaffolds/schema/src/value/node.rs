//! The compiled form of a schema: one node for each place in an object, read once from JSON.

use kubewright_machinery::formats::Format;
use kubewright_machinery::pattern::Pattern;
use serde_json::Value;
use std::collections::BTreeMap;

/// The schema of the values at one place.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// No type, one type, or integer and string.
    pub types: Vec<String>,
    /// Only a format that the server supports for the type; it ignores others.
    pub format: Option<Format>,
    pub nullable: bool,
    /// The default, pruned.
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
    /// Whether this node or any below it is a list of type set or map.
    pub has_lists: bool,
    /// Whether this node or any below it is a resource.
    pub has_resources: bool,
    /// Whether this node or any below it has validation rules.
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

impl Node {
    /// The nodes of the properties, additional properties and items.
    pub fn children(&self) -> impl Iterator<Item = &Node> {
        let single = self.items.as_deref().into_iter().chain(self.additional.schema());
        single.chain(self.properties.values())
    }

    /// Prunes every default as an object would be pruned.
    pub fn prune_defaults(&mut self) {
        if let Some(mut default) = self.default.take() {
            super::prune::unknown_in(&mut default, self);
            // The server drops metadata that it cannot decode; it does not accept a schema with such a default anyway.
            _ = super::resource::coerce(&mut default, self, &kubewright_machinery::cause::Path::root());
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

    /// Whether a default of this node, or of any below it, contains a null.
    pub fn defaults_nulls(&self) -> bool {
        self.default.as_ref().is_some_and(has_null) || self.children().any(Self::defaults_nulls)
    }

    /// The schema of a property: from `properties`, or else from `additionalProperties`.
    pub fn property(&self, name: &str) -> Option<&Node> {
        self.properties.get(name).or(self.additional.schema())
    }

    pub fn has_type(&self, name: &str) -> bool {
        self.types.iter().any(|it| it == name)
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(fields) => fields.values().any(has_null),
        _ => false,
    }
}

impl Additional {
    pub fn schema(&self) -> Option<&Node> {
        match self {
            Self::Schema(node) => Some(node),
            Self::Unsaid | Self::Allowed(_) => None,
        }
    }

    pub fn is_specified(&self) -> bool {
        !matches!(self, Self::Unsaid)
    }
}
