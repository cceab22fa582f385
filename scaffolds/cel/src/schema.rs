//! The part of a structural schema that rules use: types, limits, list keys, and the rules themselves.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A node of the schema.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// `type`; empty if the schema has no type.
    pub(super) kind: String,
    pub(super) format: String,
    pub(super) nullable: bool,
    pub(super) int_or_string: bool,
    pub(super) embedded: bool,
    /// Whether it is a field that every resource has for rules although the schema does not specify it.
    pub(super) given: bool,
    pub(super) preserve: bool,
    pub(super) defaulted: bool,
    pub(super) list_type: Option<String>,
    pub(super) list_keys: Vec<String>,
    pub(super) map_type: Option<String>,
    /// `None` if the schema has no `properties`.
    pub(super) properties: Option<BTreeMap<String, Arc<Node>>>,
    pub(super) additional: Option<Arc<Node>>,
    /// Whether the schema has `additionalProperties`, even as a boolean.
    pub(super) any_additional: bool,
    pub(super) items: Option<Arc<Node>>,
    pub(super) all_of: Vec<Arc<Node>>,
    pub(super) max_length: Option<i64>,
    pub(super) max_items: Option<i64>,
    pub(super) max_properties: Option<i64>,
    pub(super) required: Vec<String>,
    /// The length in bytes of the longest string in `enum`, if there is one.
    pub(super) longest_enum: Option<usize>,
    pub(super) rules: Vec<Rule>,
}

/// One entry of `x-kubernetes-validations`.
#[derive(Clone, Debug, Default)]
pub(super) struct Rule {
    pub(super) rule: String,
    pub(super) message: String,
    pub(super) message_expression: String,
    pub(super) reason: Option<String>,
    pub(super) field_path: String,
    pub(super) optional_old_self: Option<bool>,
}

impl Node {
    pub(super) fn read(schema: &Value) -> Self {
        let Some(schema) = schema.as_object() else {
            return Self::default();
        };
        let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let flag = |key: &str| schema.get(key) == Some(&Value::Bool(true));
        let number = |key: &str| schema.get(key).and_then(Value::as_i64);
        let child = |key: &str| {
            schema
                .get(key)
                .filter(|it| it.is_object())
                .map(|it| Arc::new(Self::read(it)))
        };
        let texts = |key: &str| -> Vec<String> {
            let list = schema.get(key).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let list_type = schema.get("x-kubernetes-list-type").and_then(Value::as_str);
        let node = Self {
            kind: text("type"),
            format: text("format"),
            nullable: flag("nullable"),
            int_or_string: flag("x-kubernetes-int-or-string"),
            embedded: flag("x-kubernetes-embedded-resource"),
            given: false,
            preserve: flag("x-kubernetes-preserve-unknown-fields"),
            defaulted: schema.get("default").is_some_and(|it| !it.is_null()),
            list_type: list_type.map(str::to_owned),
            list_keys: texts("x-kubernetes-list-map-keys"),
            map_type: schema
                .get("x-kubernetes-map-type")
                .and_then(Value::as_str)
                .map(str::to_owned),
            properties: properties(schema),
            additional: child("additionalProperties"),
            any_additional: schema.get("additionalProperties").is_some_and(|it| !it.is_null()),
            items: child("items"),
            all_of: {
                let all = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
                all.map(|it| Arc::new(Self::read(it))).collect()
            },
            max_length: number("maxLength"),
            max_items: number("maxItems"),
            max_properties: number("maxProperties"),
            required: texts("required"),
            longest_enum: longest(schema),
            rules: rules(schema),
        };
        if node.embedded { node.with_meta() } else { node }
    }

    /// Whether rules can access a field or an entry of a map.
    pub(super) fn knows(&self, key: &str) -> bool {
        match &self.properties {
            Some(properties) => properties.contains_key(key),
            None => self.additional.is_some(),
        }
    }

    /// The node with the fields that every resource has for rules, even if the schema does not specify them.
    pub(super) fn with_meta(&self) -> Self {
        let text = |name: &str, most: i64| {
            let metadata = self.properties.as_ref().and_then(|it| it.get("metadata"));
            let given = metadata.and_then(|it| it.properties.as_ref()?.get(name)?.max_length);
            Arc::new(Self {
                kind: "string".to_owned(),
                max_length: Some(given.map_or(most, |given| given.min(most))),
                ..Self::default()
            })
        };
        let given = |name: &str| !self.properties.as_ref().is_some_and(|it| it.contains_key(name));
        let named = self.properties.as_ref().is_some_and(|properties| {
            let is = |name: &str, kind: &str| properties.get(name).is_some_and(|it| it.kind == kind);
            let meta = properties.get("metadata").and_then(|it| it.properties.as_ref());
            is("kind", "string")
                && is("apiVersion", "string")
                && is("metadata", "object")
                && meta.is_some_and(|meta| {
                    ["name", "generateName"]
                        .iter()
                        .all(|it| meta.get(*it).is_some_and(|it| it.kind == "string"))
                })
        });
        let mut properties = self.properties.clone().unwrap_or_default();
        if !named {
            // The longest DNS subdomain; a generated name is at least one character longer than what it begins with.
            let meta = [("name", 253), ("generateName", 252)];
            let meta = meta.map(|(name, most)| (name.to_owned(), text(name, most)));
            let meta = Self {
                kind: "object".to_owned(),
                properties: Some(BTreeMap::from(meta)),
                given: given("metadata"),
                ..Self::default()
            };
            for name in ["kind", "apiVersion"] {
                let node = Self {
                    kind: "string".to_owned(),
                    given: given(name),
                    ..Self::default()
                };
                properties.insert(name.to_owned(), Arc::new(node));
            }
            properties.insert("metadata".to_owned(), Arc::new(meta));
        }
        Self {
            properties: Some(properties),
            kind: self.kind.clone(),
            format: self.format.clone(),
            list_type: self.list_type.clone(),
            list_keys: self.list_keys.clone(),
            map_type: self.map_type.clone(),
            additional: self.additional.clone(),
            all_of: self.all_of.clone(),
            required: self.required.clone(),
            rules: self.rules.clone(),
            items: None,
            ..*self
        }
    }

    /// Whether this node or any below it has rules.
    pub(super) fn has_rules(&self) -> bool {
        !self.rules.is_empty()
            || self.items.as_ref().is_some_and(|it| it.has_rules())
            || self.additional.as_ref().is_some_and(|it| it.has_rules())
            || self
                .properties
                .iter()
                .flat_map(BTreeMap::values)
                .any(|it| it.has_rules())
    }

    /// Whether new values of this map's fields can be matched with old ones.
    pub(super) fn is_correlatable(&self) -> bool {
        self.map_type
            .as_deref()
            .is_none_or(|it| it == "granular" || it == "atomic")
    }
}

fn properties(schema: &Map<String, Value>) -> Option<BTreeMap<String, Arc<Node>>> {
    let properties = schema.get("properties")?.as_object().filter(|it| !it.is_empty())?;
    Some(
        properties
            .iter()
            .map(|(name, it)| (name.clone(), Arc::new(Node::read(it))))
            .collect(),
    )
}

fn longest(schema: &Map<String, Value>) -> Option<usize> {
    let values = schema.get("enum")?.as_array().filter(|values| !values.is_empty())?;
    Some(values.iter().filter_map(Value::as_str).map(str::len).max().unwrap_or(0))
}

fn rules(schema: &Map<String, Value>) -> Vec<Rule> {
    let rules = schema.get("x-kubernetes-validations").and_then(Value::as_array);
    let read = |rule: &Value| {
        let text = |key: &str| rule[key].as_str().unwrap_or_default().to_owned();
        Rule {
            rule: text("rule"),
            message: text("message"),
            message_expression: text("messageExpression"),
            reason: rule["reason"].as_str().map(str::to_owned),
            field_path: text("fieldPath"),
            optional_old_self: rule["optionalOldSelf"].as_bool(),
        }
    };
    rules.into_iter().flatten().map(read).collect()
}
