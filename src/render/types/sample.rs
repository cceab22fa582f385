//! The smallest value that is valid under a schema, if it can be derived.

use super::read::requires;
use serde_json::{Map, Value, json};

/// `None` if a pattern, a format or a rule decides.
pub fn smallest(schema: &Value) -> Option<Value> {
    if !schema["default"].is_null() {
        return Some(schema["default"].clone());
    }
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return Some(first.clone());
    }
    let decided = [
        "pattern",
        "format",
        "x-kubernetes-validations",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
    ];
    let integer = schema["type"] == "integer" || schema["x-kubernetes-int-or-string"] == true;
    if decided.iter().any(|key| !schema[*key].is_null()) && !integer {
        return None;
    }
    let least = |key: &str| usize::try_from(schema[key].as_u64().unwrap_or_default()).ok();
    match schema["type"].as_str().unwrap_or_default() {
        "string" => Some("x".repeat(least("minLength")?.max(1)).into()),
        "boolean" => Some(json!(false)),
        "number" => Some(json!(
            schema["minimum"].as_f64().unwrap_or_default().ceil() + exclusive(schema)
        )),
        "integer" => Some(json!(
            schema["minimum"].as_f64().unwrap_or_default().ceil() as i64 + exclusive(schema) as i64
        )),
        "array" => Some(Value::Array(vec![
            match least("minItems")? {
                0 => return Some(json!([])),
                1 => smallest(&schema["items"])?,
                _ => return None,
            };
            1
        ])),
        "object" if least("minProperties")? == 0 => object(schema),
        "" if integer => Some(json!(1)),
        "" => Some(json!({})),
        _ => None,
    }
}

fn object(schema: &Value) -> Option<Value> {
    let mut found = Map::new();
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        if requires(schema, key) {
            found.insert(key.clone(), smallest(property)?);
        }
    }
    Some(Value::Object(found))
}

fn exclusive(schema: &Value) -> f64 {
    if schema["exclusiveMinimum"] == true { 1.0 } else { 0.0 }
}
