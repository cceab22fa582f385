//! Validates the replicas and the selector of the scale subresource.

use crate::strategy::Scale;
use kubewright_machinery::{Cause, cause::Path, go};
use serde_json::Value;

/// The error in the desired replicas.
pub(super) fn wanted(object: &Value, scale: &Scale) -> Option<Cause> {
    replicas(object, &scale.spec_replicas)
}

/// The errors in the observed replicas and in the selector.
pub(super) fn counted(object: &Value, scale: &Scale) -> Vec<Cause> {
    let selector = scale
        .label_selector
        .as_ref()
        .and_then(|path| match nested(object, path) {
            Ok(None | Some(Value::String(_))) => None,
            Ok(Some(value)) => Some(Path::new(path).invalid("", &accessor(path, value, "string"))),
            Err(message) => Some(Path::new(path).invalid("", &message)),
        });
    replicas(object, &scale.status_replicas)
        .into_iter()
        .chain(selector)
        .collect()
}

fn replicas(object: &Value, path: &str) -> Option<Cause> {
    const MOST: i64 = i32::MAX as i64;
    let at = Path::new(path);
    let replicas = match nested(object, path) {
        Ok(None) => return None,
        Ok(Some(value)) => match value.as_i64() {
            Some(number) if value.is_i64() => number,
            _ => return Some(at.invalid(0, &accessor(path, value, "int64"))),
        },
        Err(message) => return Some(at.invalid(0, &message)),
    };
    match replicas {
        ..0 => Some(at.invalid(replicas, "should be a non-negative integer")),
        0..=MOST => None,
        _ => Some(at.invalid(replicas, &format!("should be less than or equal to {MOST}"))),
    }
}

/// The value at a simple path, or the error when a value on the way is not an object.
fn nested<'a>(object: &'a Value, path: &str) -> Result<Option<&'a Value>, String> {
    let steps: Vec<&str> = path.strip_prefix('.').unwrap_or(path).split('.').collect();
    let mut value = object;
    for (index, step) in steps.iter().enumerate() {
        value = match value {
            Value::Object(fields) => match fields.get(*step) {
                Some(value) => value,
                None => return Ok(None),
            },
            // An absent or null parent is not an error.
            Value::Null => return Ok(None),
            other => {
                let so_far = format!(".{}", steps.get(..=index).unwrap_or_default().join("."));
                return Err(accessor(&so_far, other, "map[string]interface{}"));
            }
        };
    }
    Ok(Some(value))
}

fn accessor(path: &str, value: &Value, expected: &str) -> String {
    let (shown, kind) = match value {
        Value::Null => ("<nil>".to_owned(), "<nil>"),
        Value::Bool(flag) => (flag.to_string(), "bool"),
        Value::Number(number) if number.is_i64() => (go::plain(number), "int64"),
        Value::Number(number) => (go::plain(number), "float64"),
        Value::String(text) => (text.clone(), "string"),
        Value::Array(_) => (go::interface::plain(value), "[]interface {}"),
        Value::Object(_) => (go::interface::plain(value), "map[string]interface {}"),
    };
    let path = if path.starts_with('.') {
        path.to_owned()
    } else {
        format!(".{path}")
    };
    format!("{path} accessor error: {shown} is of the type {kind}, expected {expected}")
}
