//! From a schema to types. Structural schemas have no references, so the recursion ends.

use super::names::{self, Names};
use super::{Field, Item, Struct, Type, attributes, conditions};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The pattern of Kubernetes' quantities, as controller-gen and `make manifests` write it.
pub const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// Collects the types of one module.
pub struct Reader {
    names: Names,
    items: Vec<Item>,
    /// Whether the types say all of their schema.
    own: bool,
    /// As in `Subject`.
    wide: bool,
}

impl Reader {
    /// In addition to the kind's own type. With `own` the types say all of their schema.
    pub fn new(type_name: &str, own: bool, wide: bool) -> Self {
        let mut names = Names::of_types();
        names.give(type_name.to_owned(), "");
        Self {
            names,
            items: Vec::new(),
            own,
            wide,
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
        // An alias has no attributes.
        if self.own {
            return self.object(name, schema, name);
        }
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
            return self.number_or_text(schema);
        }
        match schema["type"].as_str().unwrap_or_default() {
            "boolean" => Type::Bool,
            "integer" if schema["format"] == "int32" => Type::I32,
            "integer" => Type::I64,
            "number" => Type::F64,
            "string" => self.text(name, schema),
            "array" if self.is_condition(&schema["items"]) => Type::List(Box::new(Type::Condition)),
            "array" => Type::List(Box::new(self.node(name, &schema["items"]))),
            "object" if schema["x-kubernetes-embedded-resource"] == true => Type::Any,
            "object" if has_properties(schema) => Type::Named(self.object(name, schema, name)),
            "object" if self.own && !schema["additionalProperties"].is_object() => match keeps(schema) {
                true => Type::Any,
                false => Type::Named(self.object(name, schema, name)),
            },
            "object" => Type::Map(Box::new(self.others(name, schema).unwrap_or(Type::Any))),
            _ => Type::Any,
        }
    }

    /// Kubernetes' type for it, where that decodes what the schema allows. `make manifests` adds the limits of `IntOrString` to a kind of the
    /// project.
    fn number_or_text(&self, schema: &Value) -> Type {
        let within = |key: &str, most: i64| schema[key].as_i64().is_some_and(|bound| bound.abs() <= most);
        let short = within("minimum", -i64::from(i32::MIN)) && within("maximum", i64::from(i32::MAX));
        match schema["pattern"].as_str() {
            _ if !self.wide => Type::IntOrString,
            Some(QUANTITY) => Type::Quantity,
            _ if self.own || short => Type::IntOrString,
            _ => Type::NumberOrText,
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
        let variants = values.iter().filter(|value| seen.insert(value.to_owned()));
        let variants = variants.map(|value| (names.give(names::variant(value), ""), (*value).to_owned()));
        let attributes = match self.own {
            true => attributes::of_enum(&values, schema),
            false => Vec::new(),
        };
        self.items.push(Item::Enum {
            variants: variants.collect(),
            attributes,
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
            let kind = self.node(&format!("{stem}{}", names::part(key)), value);
            let name = names.give(names::field(key), "_");
            fields.push(self.field(name, key, kind, schema));
        }
        let others = self.others(&format!("{stem}Value"), schema);
        let attributes = match self.own {
            true => attributes::of_struct(schema, others.as_ref()),
            false => Vec::new(),
        };
        if let Some(of) = others {
            fields.push(Field {
                name: names.give("others".to_owned(), "_"),
                key: None,
                kind: Type::Map(Box::new(of)),
                optional: false,
                doc: "Everything else.".to_owned(),
                attributes: Vec::new(),
            });
        }
        let doc = description(schema);
        let found = Struct {
            name: name.clone(),
            doc,
            fields,
            attributes,
        };
        self.items.insert(at, Item::Struct(found));
        name
    }

    /// The field of a property of `schema`.
    fn field(&self, name: String, key: &str, kind: Type, schema: &Value) -> Field {
        let (value, required) = (&schema["properties"][key], requires(schema, key));
        let mut attributes = match self.own {
            true => attributes::of_field(&kind, value, required),
            false => Vec::new(),
        };
        // Reconcilers set conditions in a plain list.
        let conditions = self.own && !required && key == "conditions" && conditions::in_list(value);
        if conditions {
            let absent = "#[serde(default, skip_serializing_if = \"Vec::is_empty\")]";
            attributes.insert(0, absent.to_owned());
        }
        Field {
            name,
            key: Some(key.to_owned()),
            kind,
            optional: !required && !conditions,
            doc: description(value),
            attributes,
        }
    }

    /// Whether Kubernetes' type for conditions has this schema. A kind of the project needs its constraints, too.
    fn is_condition(&self, schema: &Value) -> bool {
        conditions::fits(schema) && (!self.own || conditions::is_exact(schema))
    }

    /// The type of the values under keys that have no property.
    fn others(&mut self, name: &str, schema: &Value) -> Option<Type> {
        match &schema["additionalProperties"] {
            Value::Object(_) => Some(self.node(name, &schema["additionalProperties"])),
            Value::Bool(true) => Some(Type::Any),
            _ if keeps(schema) => Some(Type::Any),
            _ => None,
        }
    }
}

/// Whether values under other keys are kept.
pub fn keeps(schema: &Value) -> bool {
    schema["x-kubernetes-preserve-unknown-fields"] == true
}

/// Whether a struct can represent it.
pub fn is_object(schema: &Value) -> bool {
    let typed = schema["type"] == "object" || (schema["type"].is_null() && keeps(schema));
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
