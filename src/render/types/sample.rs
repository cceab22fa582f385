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
    if let Some(text) = schema["format"].as_str().and_then(formatted) {
        return (schema["type"] == "string" && is_free(schema)).then(|| json!(text));
    }
    let integer = schema["type"] == "integer" || schema["x-kubernetes-int-or-string"] == true;
    let formats = schema["format"].is_null() || schema["type"] != "string";
    if !(is_free(schema) && formats || integer) {
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
        "object" => {
            object(schema).filter(|found| found.as_object().map_or(0, Map::len) >= least("minProperties").unwrap_or(1))
        }
        "" if integer => Some(json!(1)),
        "" => Some(json!({})),
        _ => None,
    }
}

/// A text of a format.
fn formatted(format: &str) -> Option<&'static str> {
    Some(match format {
        "date-time" => "2026-01-01T00:00:00Z",
        "date" => "2026-01-01",
        "duration" => "1h",
        "byte" => "eA==",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "cidr" => "192.0.2.0/24",
        "uuid" => "8d1c1fa0-5bd4-4f5c-8f1e-5f6d2a1b0c3d",
        "email" => "somebody@example.com",
        "uri" => "https://example.com/",
        "hostname" => "example.com",
        _ => return None,
    })
}

/// Whether no pattern, rule or branch decides.
fn is_free(schema: &Value) -> bool {
    let decided = ["pattern", "x-kubernetes-validations", "allOf", "oneOf", "not"];
    let any = schema["anyOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    let met = |branch: &Value| {
        let names = branch["required"].as_array().into_iter().flatten();
        let only = branch.as_object().is_some_and(|keys| keys.len() == 1);
        only && names.filter_map(Value::as_str).all(|name| requires(schema, name))
    };
    decided.iter().all(|key| schema[*key].is_null()) && (any.is_empty() || any.iter().any(met))
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
