//! The smallest value that is valid under a schema, if it can be derived.

use super::read::requires;
use serde_json::{Map, Value, json};
use std::cmp::Ordering;

/// The length of the longest text of a sample: a longer one is nothing to read.
const LONGEST: usize = 1024;

/// The largest number up to which `f64` has all integers, 2⁵³.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// `None` if a pattern, a format or a rule decides, if the smallest text has more than [`LONGEST`] characters, or if the schema
/// has no value.
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
        "string" => text(schema, least("minLength")?),
        "boolean" => Some(json!(false)),
        "number" => number(schema),
        "integer" => integer_at_least(schema),
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
        "" if integer => Some(json!(1)).filter(|it| is_within(schema, it)),
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

/// One letter, or as many as are required and allowed.
fn text(schema: &Value, least: usize) -> Option<Value> {
    let most = schema["maxLength"].as_u64().unwrap_or(u64::MAX);
    let length = usize::try_from(most).unwrap_or(usize::MAX).min(least.max(1));
    (length >= least && length <= LONGEST).then(|| "x".repeat(length).into())
}

fn number(schema: &Value) -> Option<Value> {
    let least = schema["minimum"].as_f64().unwrap_or_default().ceil();
    let found = json!(least + if is_exclusive(schema) { 1.0 } else { 0.0 });
    is_within(schema, &found).then_some(found)
}

fn integer_at_least(schema: &Value) -> Option<Value> {
    let least = match (schema["minimum"].as_i64(), schema["minimum"].as_f64()) {
        (Some(least), _) => least,
        (None, None) => 0,
        // The cast is exact.
        (None, Some(least)) => Some(least.ceil()).filter(|it| it.abs() <= EXACT)? as i64,
    };
    let found = json!(least.checked_add(i64::from(is_exclusive(schema)))?);
    is_within(schema, &found).then_some(found)
}

fn is_exclusive(schema: &Value) -> bool {
    schema["exclusiveMinimum"] == true
}

/// Whether a number meets the bounds of the schema.
fn is_within(schema: &Value, number: &Value) -> bool {
    let meets = |key: &str, exclusive: &str, above: Ordering| {
        let order = match (number.as_i64(), schema[key].as_i64()) {
            (Some(number), Some(bound)) => Some(number.cmp(&bound)),
            _ => number
                .as_f64()
                .zip(schema[key].as_f64())
                .and_then(|(a, b)| a.partial_cmp(&b)),
        };
        let met = |order: Ordering| order != above && (order != Ordering::Equal || schema[exclusive] != true);
        order.is_none_or(met)
    };
    let parts = schema["multipleOf"].as_f64().zip(number.as_f64());
    meets("minimum", "exclusiveMinimum", Ordering::Less)
        && meets("maximum", "exclusiveMaximum", Ordering::Greater)
        && parts.is_none_or(|(of, number)| number % of == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_within_the_bounds_of_its_schema_or_there_is_none() {
        let text = |least: Value, most: Value| json!({"type": "string", "minLength": least, "maxLength": most});
        let integer = |rest: Value| {
            let mut schema = json!({"type": "integer"});
            schema
                .as_object_mut()
                .unwrap()
                .extend(rest.as_object().unwrap().clone());
            schema
        };
        let table = [
            (text(json!(3), json!(3)), json!("xxx")),
            (text(Value::Null, json!(0)), json!("")),
            (text(json!(4), json!(3)), Value::Null),
            (text(json!(1024), Value::Null), json!("x".repeat(1024))),
            (text(json!(1025), Value::Null), Value::Null),
            (text(json!(10_000_000_000_000_u64), Value::Null), Value::Null),
            (text(json!(1_u64 << 63), Value::Null), Value::Null),
            (integer(json!({})), json!(0)),
            (integer(json!({"minimum": 0.5})), json!(1)),
            (integer(json!({"minimum": i64::MIN})), json!(i64::MIN)),
            (integer(json!({"minimum": i64::MAX})), json!(i64::MAX)),
            (
                integer(json!({"minimum": i64::MAX, "exclusiveMinimum": true})),
                Value::Null,
            ),
            (integer(json!({"minimum": u64::MAX})), Value::Null),
            (integer(json!({"maximum": -1})), Value::Null),
            (
                integer(json!({"minimum": 1, "exclusiveMinimum": true, "maximum": 2})),
                json!(2),
            ),
            (
                integer(json!({"minimum": 1, "exclusiveMinimum": true, "maximum": 2, "exclusiveMaximum": true})),
                Value::Null,
            ),
            (integer(json!({"minimum": 1, "multipleOf": 5})), Value::Null),
            (json!({"type": "number", "minimum": 0.5}), json!(1.0)),
            (json!({"type": "number", "minimum": 0.5, "maximum": 0.75}), Value::Null),
            (json!({"x-kubernetes-int-or-string": true, "minimum": 2}), Value::Null),
        ];
        for (schema, wanted) in table {
            assert_eq!(smallest(&schema).unwrap_or_default(), wanted, "{schema}");
        }
    }
}
