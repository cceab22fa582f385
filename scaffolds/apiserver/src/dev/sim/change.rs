//! Changes of values: other values that a schema may accept, for the specs of samples and the fields of children.

use kubewright_schema::json_patch::steps;
use serde_json::{Value, json};

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
