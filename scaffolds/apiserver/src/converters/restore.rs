//! Restores the parts of an object that a converter may not change: its identity, and its metadata except labels and annotations.

use kubewright_machinery::{Cause, cause::Path, labels};
use serde_json::{Map, Value};

use crate::json;

/// The converted object of an answer.
///
/// # Errors
/// It is not an object, or has no kind.
pub(super) fn read(object: Value) -> Result<Value, String> {
    match &object {
        Value::Null => Err("unexpected end of JSON input".to_owned()),
        Value::Object(_) if super::text(&object, "kind").is_empty() => {
            Err(format!("Object 'Kind' is missing in '{object}'"))
        }
        Value::Object(_) => Ok(object),
        other => Err(json::mismatch(other, "value of type map[string]interface {}")),
    }
}

/// Checks that the converted object is still the same.
///
/// # Errors
/// The changes, in the server's words.
pub(super) fn same(original: &Value, converted: &Value) -> Result<(), String> {
    let fields = [("name", "name"), ("namespace", "namespace"), ("UID", "uid")];
    for (shown, field) in fields {
        let of = |object: &Value| {
            let value = object.pointer(&format!("/metadata/{field}"));
            value.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let (wanted, found) = (of(original), of(converted));
        if wanted != found {
            return Err(format!("must have the same {shown}: {wanted} != {found}"));
        }
    }
    Ok(())
}

/// Gives the converted object the metadata of the original, with its own labels and annotations.
///
/// # Errors
/// The errors in the labels or annotations, in the server's words.
pub(super) fn metadata(original: &Value, converted: &mut Value) -> Result<(), String> {
    let said = match converted.get("metadata") {
        None => return Err("missing metadata in converted object".to_owned()),
        Some(Value::Object(metadata)) => metadata.clone(),
        Some(other) => {
            return Err(format!(
                "invalid metadata of type {} in converted object",
                r#type(other)
            ));
        }
    };
    let mut metadata = match original.get("metadata") {
        None => Map::new(),
        Some(Value::Object(metadata)) => metadata.clone(),
        Some(other) => return Err(format!("invalid metadata of type {} in input object", r#type(other))),
    };
    for field in ["labels", "annotations"] {
        let found = match said.get(field) {
            None | Some(Value::Null) => {
                metadata.remove(field);
                continue;
            }
            Some(Value::Object(found)) => found,
            Some(other) => {
                let found = r#type(other);
                return Err(format!("invalid metadata.{field} of type {found} in converted object"));
            }
        };
        if let Some((key, value)) = found.iter().find(|(_, value)| !value.is_string()) {
            let found = r#type(value);
            return Err(format!(
                "metadata.{field}[{key}] must be a string, but is {found} in converted object"
            ));
        }
        if metadata.get(field).and_then(Value::as_object) != Some(found) {
            valid(field, found)?;
        }
        metadata.insert(field.to_owned(), Value::Object(found.clone()));
    }
    converted["metadata"] = Value::Object(metadata);
    Ok(())
}

/// Checks labels or annotations that the converter has changed.
fn valid(field: &str, found: &Map<String, Value>) -> Result<(), String> {
    let at = Path::new("metadata");
    let causes = match field {
        "labels" => labels::labels(found, &at.child("labels")),
        // Upstream has it in the singular.
        _ => labels::annotations(found, &at.child("annotation")),
    };
    let said: Vec<String> = causes.iter().map(Cause::to_string).collect();
    match said.as_slice() {
        [] => Ok(()),
        [one] => Err(one.clone()),
        many => Err(format!("[{}]", many.join(", "))),
    }
}

/// Go's name of the type of a decoded value.
fn r#type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if !number.is_i64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
