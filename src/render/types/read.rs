//! From a schema to types. Structural schemas have no references, so the recursion ends.

use super::names::{self, Names};
use super::{Field, Item, Struct, Type};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The fields of a Condition, and whether each is required.
const CONDITION: [(&str, bool); 6] = [
    ("lastTransitionTime", true),
    ("message", true),
    ("observedGeneration", false),
    ("reason", true),
    ("status", true),
    ("type", true),
];

/// Collects the types of one module.
pub struct Reader {
    names: Names,
    items: Vec<Item>,
}

impl Reader {
    /// In addition to the kind's own type.
    pub fn new(type_name: &str) -> Self {
        let mut names = Names::of_types();
        names.give(type_name.to_owned(), "");
        Self {
            names,
            items: Vec::new(),
        }
    }

    /// The collected types, each before those that it names.
    pub fn finish(self) -> Vec<Item> {
        self.items
    }

    /// The struct that derives the kind. Types inside are named after `stem`.
    pub fn root(&mut self, name: &str, schema: &Value, stem: &str) -> String {
        self.object(name, schema, stem)
    }

    /// The type of the status: the derive needs a named type.
    pub fn status(&mut self, name: &str, schema: &Value) -> String {
        match self.node(name, schema) {
            Type::Named(name) => name,
            of => {
                let name = self.names.give(name.to_owned(), "");
                let doc = description(schema);
                self.items.push(Item::Alias {
                    name: name.clone(),
                    doc,
                    of,
                });
                name
            }
        }
    }

    /// The type of any node of the schema; nested types are called `name`.
    fn node(&mut self, name: &str, schema: &Value) -> Type {
        let found = self.not_null(name, schema);
        match schema["nullable"] == true && found != Type::Any {
            true => Type::Nullable(Box::new(found)),
            false => found,
        }
    }

    fn not_null(&mut self, name: &str, schema: &Value) -> Type {
        if schema["x-kubernetes-int-or-string"] == true {
            return Type::IntOrString;
        }
        match schema["type"].as_str().unwrap_or_default() {
            "boolean" => Type::Bool,
            "integer" if schema["format"] == "int32" => Type::I32,
            "integer" => Type::I64,
            "number" => Type::F64,
            "string" => self.text(name, schema),
            "array" if is_condition(&schema["items"]) => Type::List(Box::new(Type::Condition)),
            "array" => Type::List(Box::new(self.node(name, &schema["items"]))),
            "object" if schema["x-kubernetes-embedded-resource"] == true => Type::Any,
            "object" if has_properties(schema) => Type::Named(self.object(name, schema, name)),
            "object" => Type::Map(Box::new(self.others(name, schema).unwrap_or(Type::Any))),
            _ => Type::Any,
        }
    }

    fn text(&mut self, name: &str, schema: &Value) -> Type {
        let values = schema["enum"].as_array().map(Vec::as_slice).unwrap_or_default();
        let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        if values.is_empty() {
            return Type::Text;
        }
        let name = self.names.give(name.to_owned(), "");
        let mut names = Names::default();
        let default = values.iter().position(|value| schema["default"] == *value);
        let mut seen = BTreeSet::new();
        let variants = values.into_iter().filter(|value| seen.insert(value.to_owned()));
        let variants = variants.map(|value| (names.give(names::variant(value), ""), value.to_owned()));
        self.items.push(Item::Enum {
            variants: variants.collect(),
            doc: description(schema),
            default: default.unwrap_or_default(),
            name: name.clone(),
        });
        Type::Named(name)
    }

    /// A struct of the properties, and of other keys if the schema keeps them.
    fn object(&mut self, name: &str, schema: &Value, stem: &str) -> String {
        let name = self.names.give(name.to_owned(), "");
        let at = self.items.len();
        let mut fields = Vec::new();
        let mut names = Names::default();
        for (key, value) in schema["properties"].as_object().unwrap_or(&Map::new()) {
            fields.push(Field {
                name: names.give(names::field(key), "_"),
                key: Some(key.clone()),
                kind: self.node(&format!("{stem}{}", names::part(key)), value),
                optional: !requires(schema, key),
                doc: description(value),
            });
        }
        if let Some(of) = self.others(&format!("{stem}Value"), schema) {
            fields.push(Field {
                name: names.give("others".to_owned(), "_"),
                key: None,
                kind: Type::Map(Box::new(of)),
                optional: false,
                doc: "Everything else.".to_owned(),
            });
        }
        let doc = description(schema);
        let found = Struct {
            name: name.clone(),
            doc,
            fields,
        };
        self.items.insert(at, Item::Struct(found));
        name
    }

    /// The type of the values under keys that have no property.
    fn others(&mut self, name: &str, schema: &Value) -> Option<Type> {
        match &schema["additionalProperties"] {
            Value::Object(_) => Some(self.node(name, &schema["additionalProperties"])),
            Value::Bool(true) => Some(Type::Any),
            _ if schema["x-kubernetes-preserve-unknown-fields"] == true => Some(Type::Any),
            _ => None,
        }
    }
}

/// Whether a struct can represent it.
pub fn is_object(schema: &Value) -> bool {
    let keeps = schema["x-kubernetes-preserve-unknown-fields"] == true;
    let typed = schema["type"] == "object" || (schema["type"].is_null() && keeps);
    typed && schema["x-kubernetes-embedded-resource"] != true && schema["nullable"] != true
}

/// Whether the property is required.
pub fn requires(schema: &Value, key: &str) -> bool {
    let required = schema["required"].as_array();
    required.is_some_and(|names| names.iter().any(|name| name == key))
}

fn has_properties(schema: &Value) -> bool {
    schema["properties"]
        .as_object()
        .is_some_and(|properties| !properties.is_empty())
}

fn description(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().to_owned()
}

/// Whether these are exactly the fields of Kubernetes' conditions.
fn is_condition(schema: &Value) -> bool {
    let Some(properties) = schema["properties"].as_object() else {
        return false;
    };
    let fits = |(name, required): &(&str, bool)| {
        let property = &properties.get(*name).unwrap_or(&Value::Null);
        let wanted = if *name == "observedGeneration" {
            "integer"
        } else {
            "string"
        };
        property["type"] == wanted && property["nullable"] != true && requires(schema, name) == *required
    };
    let extends = schema["additionalProperties"].is_null() && schema["x-kubernetes-preserve-unknown-fields"] != true;
    properties.len() == CONDITION.len()
        && CONDITION.iter().all(fits)
        && properties["lastTransitionTime"]["format"] == "date-time"
        && extends
        && schema["nullable"] != true
}
