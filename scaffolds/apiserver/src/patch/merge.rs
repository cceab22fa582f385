//! JSON merge patch, RFC 7396.

use serde_json::{Map, Value};

use super::{Patched, document};
use crate::{json, status::Status};

/// Applies a JSON merge patch.
///
/// # Errors
/// 400 for a body that is not a JSON merge patch.
pub fn merge(object: &Value, patch: &[u8], checked: bool) -> Result<Patched, Status> {
    let (patch, strict_errors) = document(patch)?;
    let mut object = object.clone();
    match patch {
        Value::Null => return Err(invalid()),
        Value::Object(patch) => match &mut object {
            Value::Object(members) => lay(members, patch),
            other => *other = without_nulls(Value::Object(patch)),
        },
        other if checked => {
            let why = json::mismatch(&other, "value of type map[string]interface {}");
            return Err(Status::bad_request(format!("error decoding patch: {why}")));
        }
        Value::Array(items) => object = without_nulls(Value::Array(items)),
        _ => return Err(invalid()),
    }
    Ok(Patched::as_json(
        object,
        if checked { strict_errors } else { Vec::new() },
    ))
}

fn invalid() -> Status {
    Status::bad_request("Invalid JSON Patch")
}

fn lay(members: &mut Map<String, Value>, patch: Map<String, Value>) {
    for (name, value) in patch {
        match (members.get_mut(&name), value) {
            (_, Value::Null) => drop(members.remove(&name)),
            (Some(Value::Object(below)), Value::Object(patch)) => lay(below, patch),
            // A value that replaces an object keeps its nulls, unlike values elsewhere.
            (Some(object @ Value::Object(_)), value) => *object = value,
            (_, value) => drop(members.insert(name, without_nulls(value))),
        }
    }
}

/// Removes nulls from objects, but not from lists.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(_, it)| !it.is_null());
            Value::Object(kept.map(|(name, it)| (name, without_nulls(it))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}
