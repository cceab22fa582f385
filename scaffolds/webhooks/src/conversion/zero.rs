//! Fills in required fields that are missing, so that an incomplete object fits its type.
//!
//! To find out which fields a field manager owns in another version, API servers convert objects without the fields of
//! other managers (structured-merge-diff, `merge/update.go`, `prune`), required or not. Go's types take such objects.

use serde_json::{Map, Value, json};

/// The object with a value for each required field of its schema that is missing; `None` if none is.
pub(super) fn filled(object: &Value, schema: &Value) -> Option<Value> {
    let mut filled = object.clone();
    fill(&mut filled, schema);
    (filled != *object).then_some(filled)
}

/// Adds values for required fields that are missing, and nothing in them.
pub(super) fn fill_root(object: &mut Value, schema: &Value) {
    let required = schema["required"].as_array().into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if object.get(name).is_none()
            && let Some(value) = zero(&schema["properties"][name])
        {
            object[name] = value;
        }
    }
}

fn fill(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(fields) => fill_fields(fields, schema),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, &schema["items"])),
        _ => {}
    }
}

fn fill_fields(fields: &mut Map<String, Value>, schema: &Value) {
    let properties = &schema["properties"];
    let required = schema["required"].as_array().into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        let missing = fields.get(name).is_none_or(Value::is_null);
        if missing && let Some(value) = zero(&properties[name]) {
            fields.insert(name.to_owned(), value);
        }
    }
    for (name, value) in fields {
        let known = properties.get(name);
        if let Some(schema) = known.or_else(|| schema.get("additionalProperties")) {
            fill(value, schema);
        }
    }
}

/// The default of a schema, or its first constant, or the zero value of its type; `None` if it has no type.
fn zero(schema: &Value) -> Option<Value> {
    if let Some(default) = schema.get("default") {
        return Some(default.clone());
    }
    if let Some(first) = schema.pointer("/enum/0") {
        return Some(first.clone());
    }
    match schema["type"].as_str()? {
        "string" => Some(json!("")),
        "integer" | "number" => Some(json!(0)),
        "boolean" => Some(json!(false)),
        "array" => Some(json!([])),
        "object" => Some(json!({})),
        _ => None,
    }
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
        let spec = json!({"mode": "fast", "size": 0, "tries": 3});
        assert_eq!(filled(&json!({}), &schema), Some(json!({"spec": spec})));
        let object = json!({"spec": {"mode": "slow", "size": 1, "tries": 0, "list": [{}], "map": {"a": {}}}});
        let named = json!({"name": ""});
        assert_eq!(
            filled(&object, &schema).unwrap()["spec"],
            json!({"mode": "slow", "size": 1, "tries": 0, "list": [named], "map": {"a": named}})
        );
        assert_eq!(filled(&json!({"spec": spec}), &schema), None);
    }
}
