//! Completes objects that lack required fields.
//!
//! To find out which fields a field manager owns in another version, API servers convert objects without the fields of
//! other managers (structured-merge-diff, `merge/update.go`, `prune`), required or not. Go's types take such objects.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{edges, variants};
use crate::unions::{self, Member};

/// The maximum of items that are made up for a list.
const ITEMS: u64 = 64;

/// The required fields of a schema, with a value for each of them.
#[derive(Debug)]
pub struct Required {
    /// By name. A value for each that is required, or that a variant or a union requires.
    fields: BTreeMap<String, (Option<Value>, Required)>,
    names: Vec<String>,
    /// The required fields of each variant, of which an object has one.
    variants: Vec<Vec<String>>,
    members: Vec<Member>,
    /// Of the items of a list, and the values of a map.
    below: Option<Box<Required>>,
}

impl Required {
    /// The required fields of a schema of `make manifests`.
    pub fn of(schema: &Value) -> Self {
        let names: Vec<String> = texts(&schema["required"]).collect();
        let variants = ["oneOf", "anyOf"].map(|keyword| variants(&schema[keyword])).concat();
        let members = unions::members(schema);
        let field = |(name, schema): (&String, &Value)| {
            let may_be_required =
                names.contains(name) || variants.concat().contains(name) || members.iter().any(|it| it.field == *name);
            let value = may_be_required.then(|| least(schema)).flatten();
            (name.clone(), (value, Self::of(schema)))
        };
        let properties = schema["properties"].as_object();
        let fields = properties.into_iter().flatten().map(field).collect();
        let below = ["items", "additionalProperties"]
            .iter()
            .find_map(|keyword| schema.get(keyword));
        let below = below.filter(|below| below.is_object());
        Self {
            fields,
            below: below.map(|below| Box::new(Self::of(below))),
            names,
            variants,
            members,
        }
    }

    /// The object with a value for each required field that is missing, at any depth; `None` if none is. The value is the default of the
    /// field, or else the zero value of its type, the first of its constants, or another one that its schema admits.
    pub fn filled(&self, object: &Value) -> Option<Value> {
        let mut filled = object.clone();
        self.fill(&mut filled);
        (filled != *object).then_some(filled)
    }

    /// Adds values for required fields that are missing, and nothing in them.
    pub fn fill_root(&self, object: &mut Value) {
        let fields = object.as_object_mut();
        fields.into_iter().for_each(|fields| self.add(fields, &self.names));
    }

    fn fill(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                self.add(fields, &self.names);
                let is_whole = |names: &Vec<String>| names.iter().all(|name| fields.contains_key(name));
                if let Some(first) = self.variants.first()
                    && !self.variants.iter().any(is_whole)
                {
                    self.add(fields, first);
                }
                for member in self.members.iter().filter(|it| it.is_required) {
                    if fields.get(&member.discriminator).is_some_and(|it| *it == member.value) {
                        self.add(fields, std::slice::from_ref(&member.field));
                    }
                }
                for (name, value) in fields {
                    let known = self.fields.get(name).map(|(_, below)| below);
                    if let Some(below) = known.or(self.below.as_deref()) {
                        below.fill(value);
                    }
                }
            }
            Value::Array(items) => {
                let below = self.below.iter();
                below.for_each(|below| items.iter_mut().for_each(|item| below.fill(item)));
            }
            _ => {}
        }
    }

    fn add(&self, fields: &mut Map<String, Value>, names: &[String]) {
        for name in names {
            if fields.get(name).is_none_or(Value::is_null)
                && let Some((Some(value), _)) = self.fields.get(name)
            {
                fields.insert(name.clone(), value.clone());
            }
        }
    }
}

fn texts(list: &Value) -> impl Iterator<Item = String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|it| it.as_str().map(str::to_owned))
}

/// A value for a field, without the fields of an object.
fn least(schema: &Value) -> Option<Value> {
    if let Some(default) = schema.get("default") {
        return Some(default.clone());
    }
    let zero = match schema["type"].as_str() {
        _ if schema["x-kubernetes-int-or-string"] == true => json!(0),
        Some("object") => return Some(json!({})),
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or_default();
            let items = (0..count.min(ITEMS)).map(|_| least(&schema["items"]));
            return items.collect::<Option<_>>().map(Value::Array);
        }
        Some("string") => json!(""),
        Some("integer" | "number") => json!(0),
        Some("boolean") => json!(false),
        _ => return None,
    };
    // No text at hand may match a pattern.
    let values = [zero.clone()].into_iter().chain(edges::of_schema(schema));
    Some(edges::among(schema, values).next().unwrap_or(zero))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_required_fields_get_a_value_at_any_depth_and_others_none() {
        let item = json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}});
        let schema = json!({"type": "object", "required": ["spec"], "properties": {"spec": {
            "type": "object",
            "required": ["mode", "size", "tries"],
            "properties": {
                "mode": {"type": "string", "enum": ["fast", "slow"]}, "size": {"type": "integer"},
                "tries": {"type": "integer", "default": 3}, "note": {"type": "string"},
                "list": {"type": "array", "items": item}, "map": {"type": "object", "additionalProperties": item},
            },
        }}});
        let required = Required::of(&schema);
        let spec = json!({"mode": "fast", "size": 0, "tries": 3});
        assert_eq!(required.filled(&json!({})), Some(json!({"spec": spec})));
        let object = json!({"spec": {"mode": "slow", "size": 1, "tries": 0, "list": [{}], "map": {"a": {}}}});
        let named = json!({"name": ""});
        assert_eq!(
            required.filled(&object).unwrap()["spec"],
            json!({"mode": "slow", "size": 1, "tries": 0, "list": [named], "map": {"a": named}})
        );
        assert_eq!(required.filled(&json!({"spec": spec})), None);
    }
}
