//! Equality and order of JSON values. Numbers are compared by value, not by notation. Types are ordered: float and
//! integer, string, boolean, list, map, null.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

/// Whether two values are equal; 1 and 1.0 are.
pub fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => numbers(left, right).is_eq(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, it)| right.get(key).is_some_and(|other| same(it, other)))
        }
        _ => left == right,
    }
}

/// A total order of values.
pub(super) fn order(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => numbers(left, right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => lists(left, right),
        (Value::Object(left), Value::Object(right)) => maps(left, right),
        _ => rank(left).cmp(&rank(right)),
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

fn numbers(left: &Number, right: &Number) -> Ordering {
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) => left.cmp(&right),
        // JSON has no NaN, so floats are always comparable.
        _ => left.as_f64().partial_cmp(&right.as_f64()).unwrap_or(Ordering::Equal),
    }
}

fn lists(left: &[Value], right: &[Value]) -> Ordering {
    let different = left
        .iter()
        .zip(right)
        .map(|(left, right)| order(left, right))
        .find(|it| it.is_ne());
    different.unwrap_or_else(|| left.len().cmp(&right.len()))
}

fn maps(left: &Map<String, Value>, right: &Map<String, Value>) -> Ordering {
    let pairs = left.iter().zip(right);
    let different = pairs
        .map(|(left, right)| left.0.cmp(right.0).then_with(|| order(left.1, right.1)))
        .find(|it| it.is_ne());
    different.unwrap_or_else(|| left.len().cmp(&right.len()))
}

/// Whether a value is empty: null, or a list or map without items.
pub fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Object(members)) => members.is_empty(),
        Some(_) => false,
    }
}
