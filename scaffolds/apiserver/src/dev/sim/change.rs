//! Changes of values: other values that a schema may accept, for the specs of samples and the fields of children.

use std::collections::VecDeque;

use kubewright_schema::json_patch::steps;
use serde_json::{Map, Value, json};

use super::state::{USER, text};

/// The pointers to all values below this one that are no objects or arrays.
pub(super) fn leaves(value: &Value, pointer: &str) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let below = |(name, value): (&String, &Value)| {
                let name = name.replace('~', "~0").replace('/', "~1");
                leaves(value, &format!("{pointer}/{name}"))
            };
            fields.iter().flat_map(below).collect()
        }
        Value::Array(items) => {
            let below = |(n, value): (usize, &Value)| leaves(value, &format!("{pointer}/{n}"));
            items.iter().enumerate().flat_map(below).collect()
        }
        Value::Null => Vec::new(),
        _ => vec![pointer.to_owned()],
    }
}

/// Other values, the likeliest first. `schema` is the schema of the value, or null.
pub(super) fn others(value: &Value, schema: &Value) -> Vec<Value> {
    let mut others: Vec<Value> = schema["enum"].as_array().cloned().unwrap_or_default();
    match value {
        Value::Bool(bool) => others.push(json!(!bool)),
        Value::Number(number) => {
            if let Some(number) = number.as_i64() {
                others.extend([number.saturating_add(1), number.saturating_sub(1)].map(|it| json!(it)));
            } else if let Some(number) = number.as_f64() {
                others.push(json!(number + 1.0));
            }
        }
        Value::String(text) => {
            // A text, a name with a port or tag, base64, a quantity, a duration.
            let texts = [
                format!("{text}x"),
                format!("{text}1"),
                "c2lt".to_owned(),
                format!("1{text}"),
                "1".to_owned(),
            ];
            others.extend(texts.map(|it| json!(it)));
        }
        _ => {}
    }
    others.retain(|other| other != value);
    others
}

/// The pointers and schemas of properties that a value and the objects in it lack, those of the outer objects first.
pub(super) fn lacking<'a>(value: &Value, schema: &'a Value) -> Vec<(String, &'a Value)> {
    let mut lacking = Vec::new();
    let mut present = VecDeque::from([(String::new(), value, schema)]);
    while let Some((place, value, schema)) = present.pop_front() {
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            let pointer = format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
            match &value[name] {
                Value::Null => lacking.push((pointer, schema)),
                Value::Object(_) => present.push_back((pointer, &value[name], schema)),
                _ => {}
            }
        }
    }
    lacking
}

/// Values that a schema may accept, the likeliest first.
pub(super) fn valid(schema: &Value) -> Vec<Value> {
    if let Some(values) = schema["enum"].as_array() {
        return values.clone();
    }
    let least = |otherwise: Value| {
        Some(schema["minimum"].clone())
            .filter(Value::is_number)
            .unwrap_or(otherwise)
    };
    match text(&schema["type"]) {
        "boolean" => vec![json!(true), json!(false)],
        "integer" => vec![least(json!(1)), json!(2)],
        "number" => vec![least(json!(1.5))],
        "string" => ["x", "1", "c2lt", "1s", "2026-01-01T00:00:00Z"]
            .map(|it| json!(it))
            .to_vec(),
        "array" => valid(&schema["items"]).into_iter().map(|item| json!([item])).collect(),
        "object" => {
            let required = schema["required"].as_array().into_iter().flatten().map(text);
            let first = |name: &str| Some((name.to_owned(), valid(&schema["properties"][name]).into_iter().next()?));
            let object: Option<Map<_, _>> = required.map(first).collect();
            let entries = valid(&schema["additionalProperties"]).into_iter();
            let maps = entries.map(|value| json!({"x": value}));
            maps.chain(object.map(Value::Object)).collect()
        }
        _ if schema["x-kubernetes-int-or-string"] == true => vec![json!(1)],
        _ => Vec::new(),
    }
}

/// The schema at this pointer into a value.
pub(super) fn schema_at<'a>(schema: &'a Value, pointer: &str) -> &'a Value {
    let below = |schema: &'a Value, name: &String| match &schema["properties"][name] {
        Value::Null if schema["items"].is_object() => &schema["items"],
        Value::Null => &schema["additionalProperties"],
        property => property,
    };
    steps(pointer).iter().fold(schema, below)
}

/// A merge patch that sets the value at this pointer of an object; `None` if it is in an array, which a merge patch can only
/// replace.
pub(super) fn patch(object: &Value, pointer: &str, value: Value) -> Option<Value> {
    let names = steps(pointer);
    let mut at = object;
    for name in &names {
        if at.is_array() {
            return None;
        }
        at = &at[name];
    }
    Some(names.iter().rev().fold(value, |value, name| json!({name: value})))
}

/// A merge patch that sets the value at this pointer of an object. An array around it is replaced by a copy with that value;
/// `None` if a value in an array would be removed.
pub(super) fn patch_whole(object: &Value, pointer: &str, value: Value) -> Option<Value> {
    let mut whole = String::new();
    for name in pointer.split('/').skip(1) {
        let at = object.pointer(&whole)?;
        if at.is_array() {
            let mut copy = at.clone();
            *copy.pointer_mut(pointer.strip_prefix(&whole)?)? = Some(value).filter(|value| !value.is_null())?;
            return patch(object, &whole, copy);
        }
        whole = format!("{whole}/{name}");
    }
    patch(object, pointer, value)
}

/// Applies a merge patch that removes nothing.
pub(super) fn merge(into: &mut Value, from: Value) {
    match from {
        Value::Object(fields) => {
            for (name, value) in fields {
                merge(&mut into[name], value);
            }
        }
        value => *into = value,
    }
}

/// Whether a boolean of this name pauses an operator. The rest of a paused spec describes no state.
pub(super) fn is_pause(pointer: &str) -> bool {
    let name = pointer.rsplit('/').next().unwrap_or_default();
    matches!(name, "pause" | "paused" | "suspend" | "suspended")
}

/// Whether `metadata.managedFields` names a manager of this field that is no user.
pub(super) fn is_managed(object: &Value, pointer: &str) -> bool {
    let entries = object["metadata"]["managedFields"].as_array();
    entries.into_iter().flatten().any(|entry| {
        let fields = &entry["fieldsV1"];
        let at = steps(pointer).iter().fold(fields, |at, name| &at[format!("f:{name}")]);
        at.is_object() && text(&entry["manager"]) != USER
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_sets_one_value_and_none_in_an_array() {
        let object = json!({"spec": {"a": {"b/c": 1}, "list": [{"d": 1}]}});
        assert_eq!(leaves(&object, ""), ["/spec/a/b~1c", "/spec/list/0/d"]);
        let patched = patch(&object, "/spec/a/b~1c", json!(2));
        assert_eq!(patched, Some(json!({"spec": {"a": {"b/c": 2}}})));
        assert_eq!(patch(&object, "/spec/list/0/d", json!(2)), None);
    }

    #[test]
    fn an_array_around_a_value_is_replaced_by_a_copy() {
        let object = json!({"list": [{"d": 1, "e": [2, 3]}, {}], "a": {"b": 1}});
        let list = json!({"list": [{"d": 1, "e": [2, 4]}, {}]});
        assert_eq!(patch_whole(&object, "/list/0/e/1", json!(4)), Some(list));
        assert_eq!(patch_whole(&object, "/list/0/d", Value::Null), None);
        assert_eq!(
            patch_whole(&object, "/a/b", Value::Null),
            Some(json!({"a": {"b": null}}))
        );
        assert_eq!(patch_whole(&object, "/a/c", json!(1)), Some(json!({"a": {"c": 1}})));
    }

    #[test]
    fn properties_that_a_value_lacks_get_values_of_their_schemas() {
        let strings = json!({"type": "string"});
        let schema = json!({"properties": {
            "a": {"type": "object", "properties": {"inner": {"type": "integer", "minimum": 3}}},
            "list": {"type": "array", "items": {"type": "object", "required": ["n"], "properties": {"n": {"type": "boolean"}}}},
            "map": {"type": "object", "additionalProperties": strings},
            "mode": {"type": "string", "enum": ["On", "Off"]},
        }});
        let lacking = lacking(&json!({"a": {}, "mode": null}), &schema);
        let first = lacking
            .iter()
            .map(|(pointer, schema)| (pointer.as_str(), valid(schema)[0].clone()));
        let expected = [
            ("/list", json!([{"n": true}])),
            ("/map", json!({"x": "x"})),
            ("/mode", json!("On")),
            ("/a/inner", json!(3)),
        ];
        assert_eq!(first.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_boolean_that_stops_an_operator_is_not_changed() {
        assert!(is_pause("/paused") && is_pause("/a/suspend"));
        assert!(!is_pause("/pausedBy") && !is_pause("/target"));
    }

    #[test]
    fn other_values_come_from_the_schema_first() {
        let schema = json!({"properties": {"spec": {"properties": {"list": {"items": {"enum": ["a", "b"]}}}}}});
        let at = schema_at(&schema, "/spec/list/3");
        assert_eq!(others(&json!("a"), at)[0], json!("b"));
        assert_eq!(others(&json!(true), &Value::Null), [json!(false)]);
    }
}
