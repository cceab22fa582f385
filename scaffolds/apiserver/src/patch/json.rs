//! JSON patches (RFC 6902) as clients and webhooks send them: reads and applies them.

use kubewright_schema::json_patch::{Operation, apply};
use serde_json::{Map, Value};

use super::{Document, Patched, document, read, rejected};
use crate::{json, status::Status};

/// The server's limit for the operations in a patch.
const MAX_OPERATIONS: usize = 10_000;

/// Applies a JSON patch.
///
/// # Errors
/// 400 for a body that is not a JSON patch, 413 for more than 10,000 operations, 422 when an operation cannot be
/// carried out or a test fails.
pub fn json(object: &Value, patch: &[u8], checked: bool) -> Result<Patched, Status> {
    let (operations, strict_errors) = operations(document(patch)?, checked)?;
    if operations.len() > MAX_OPERATIONS {
        let count = operations.len();
        let why = format!("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {count}");
        return Err(Status::new(
            413,
            "RequestEntityTooLarge",
            format!("Request entity too large: {why}"),
        ));
    }
    let patched = apply(object, &operations).map_err(|_| rejected())?;
    Ok(Patched::as_json(patched, strict_errors))
}

/// Applies the JSON patch of a webhook; `None` if it is empty.
///
/// # Errors
/// The reason that it is not a patch, or that an operation cannot be carried out, in the words of the library.
pub fn by_webhook(object: Option<&Value>, patch: &[u8]) -> Result<Option<Value>, Unpatched> {
    let patch = read(patch).map_err(Unpatched::Undecodable)?;
    let (operations, _) = operations(patch, false).map_err(|status| Unpatched::Undecodable(status.message))?;
    if operations.is_empty() {
        return Ok(None);
    }
    let patched = apply(object.ok_or(Unpatched::Nothing)?, &operations);
    patched.map(Some).map_err(|failed| Unpatched::Failed(failed.why))
}

/// The reason that the patch of a webhook is not applied.
#[derive(Debug)]
pub enum Unpatched {
    /// It is not a JSON patch.
    Undecodable(String),
    /// There is no object.
    Nothing,
    /// An operation failed.
    Failed(String),
}

fn operations(document: Document, checked: bool) -> Result<(Vec<Operation>, Vec<String>), Status> {
    let (patch, duplicates) = document;
    let prefix = if checked { "error decoding patch: " } else { "" };
    let fail = |why: String| Status::bad_request(format!("{prefix}{why}"));
    let (list, one) = if checked {
        ("[]handlers.jsonPatchOp", "handlers.jsonPatchOp")
    } else {
        ("jsonpatch.Patch", "jsonpatch.Operation")
    };
    let items = match patch {
        Value::Null => Vec::new(),
        Value::Array(items) => items,
        other => return Err(fail(json::mismatch(&other, &format!("value of type {list}")))),
    };
    let mut strict_errors: Vec<String> = duplicates.into_iter().map(|it| format!("json patch {it}")).collect();
    let mut out = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let operation = match item {
            Value::Null => Map::new(),
            Value::Object(operation) => operation,
            other => return Err(fail(json::mismatch(&other, &format!("value of type {one}")))),
        };
        if checked {
            check(&operation, index, &mut strict_errors).map_err(fail)?;
        }
        out.push(operation);
    }
    Ok((out, if checked { strict_errors } else { Vec::new() }))
}

fn check(operation: &Operation, index: usize, strict_errors: &mut Vec<String>) -> Result<(), String> {
    for (name, value) in operation {
        match name.as_str() {
            "op" | "path" | "from" if !value.is_string() && !value.is_null() => {
                return Err(json::mismatch(
                    value,
                    &format!("struct field jsonPatchOp.{name} of type string"),
                ));
            }
            "op" | "path" | "from" | "value" => {}
            other => strict_errors.push(format!("json patch unknown field \"[{index}].{other}\"")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_patch_of_a_webhook_meets_whole_floats_as_integers() {
        let patch = json!([{"op": "test", "path": "/a", "value": 3}, {"op": "add", "path": "/b", "value": 1}]);
        let patched = by_webhook(Some(&json!({"a": 3.0})), patch.to_string().as_bytes());
        assert_eq!(patched.unwrap(), Some(json!({"a": 3, "b": 1})));
    }
}
