//! JSON patch, RFC 6902. Not the crate `json-patch`: the library of kube-apiserver differs from the RFC in nulls, negative indices and
//! limits, and its sentences reach clients.

use serde_json::{Map, Value};

use super::{
    Patched, document,
    pointer::{Nowhere, Place, steps},
    rejected, unmarshal,
};
use crate::{request::json::DEPTH, status::Status};

/// The server's limit for the operations in a patch.
const MAX_OPERATIONS: usize = 10_000;
/// The server's limit for what all copies in a patch may add, in bytes of JSON.
const MAX_COPIED: usize = 3 * 1024 * 1024;

/// Applies a JSON patch.
///
/// # Errors
/// 400 for a body that is not a JSON patch, 413 for more than 10,000 operations, 422 when an operation cannot be
/// carried out or a test fails.
pub fn json(object: &Value, patch: &[u8], checked: bool) -> Result<Patched, Status> {
    let (operations, strict_errors) = operations(patch, checked)?;
    if operations.len() > MAX_OPERATIONS {
        let count = operations.len();
        let why = format!("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {count}");
        return Err(Status::new(
            413,
            "RequestEntityTooLarge",
            format!("Request entity too large: {why}"),
        ));
    }
    let mut run = Run {
        document: object.clone(),
        copied: 0,
    };
    for operation in &operations {
        run.apply(operation).map_err(|_| rejected())?;
    }
    Ok(Patched::as_json(run.document, strict_errors))
}

/// Applies the JSON patch of a webhook; `None` if it is empty.
///
/// # Errors
/// Why it is not a patch, or why an operation cannot be carried out, in the words of the library.
pub fn by_webhook(object: Option<&Value>, patch: &[u8]) -> Result<Option<Value>, Unpatched> {
    let (operations, _) = operations(patch, false).map_err(|status| Unpatched::Undecodable(status.message))?;
    if operations.is_empty() {
        return Ok(None);
    }
    let mut run = Run {
        document: object.ok_or(Unpatched::Nothing)?.clone(),
        copied: 0,
    };
    for operation in &operations {
        run.apply(operation)
            .map_err(|why| Unpatched::Failed(words(operation, why)))?;
    }
    Ok(Some(run.document))
}

/// Applies the operations of a policy; `None` if a test among them fails, so that nothing is changed.
///
/// # Errors
/// Why another operation cannot be carried out, in the words of the library.
pub fn by_policy(object: &Value, operations: &[Map<String, Value>]) -> Result<Option<Value>, String> {
    let mut run = Run {
        document: object.clone(),
        copied: 0,
    };
    for operation in operations {
        match run.apply(operation) {
            Ok(()) => {}
            Err(Nowhere::Value(why)) if why.is_empty() && operation.get("op").is_some_and(|op| op == "test") => {
                return Ok(None);
            }
            Err(why) => return Err(words(operation, why)),
        }
    }
    Ok(Some(run.document))
}

/// Why the patch of a webhook is not applied.
#[derive(Debug)]
pub enum Unpatched {
    /// It is not a JSON patch.
    Undecodable(String),
    /// There is no object.
    Nothing,
    /// An operation failed.
    Failed(String),
}

/// Why an operation failed, as the library says it.
fn words(operation: &Operation, why: Nowhere) -> String {
    let text = |name: &str| operation.get(name).and_then(Value::as_str).unwrap_or("unknown");
    let (op, path, from) = (text("op"), text("path"), text("from"));
    match (op, why) {
        (_, Nowhere::Told(sentence)) => sentence,
        ("add" | "remove", Nowhere::Path) => {
            format!("{op} operation does not apply: doc is missing path: \"{path}\": missing value")
        }
        ("replace", Nowhere::Path) => {
            format!("replace operation does not apply: doc is missing path: {path}: missing value")
        }
        ("replace", Nowhere::Value(_)) => {
            format!("replace operation does not apply: doc is missing key: {path}: missing value")
        }
        ("test", Nowhere::Path) => format!("test operation does not apply: is missing path: {path}: missing value"),
        ("move" | "copy", Nowhere::Path) => {
            format!("{op} operation does not apply: doc is missing from path: {from}: missing value")
        }
        ("test", Nowhere::Value(why)) if why.is_empty() => format!("testing value {path} failed: test failed"),
        ("add" | "remove" | "test", Nowhere::Value(why)) => format!("error in {op} for path: '{path}': {why}"),
        ("copy", Nowhere::Value(why)) => format!("error in copy for from: '{from}': {why}"),
        _ => format!("Unexpected kind: {op}"),
    }
}

type Operation = Map<String, Value>;

fn operations(patch: &[u8], checked: bool) -> Result<(Vec<Operation>, Vec<String>), Status> {
    let prefix = if checked { "error decoding patch: " } else { "" };
    let fail = |why: String| Status::bad_request(format!("{prefix}{why}"));
    let (list, one) = if checked {
        ("[]handlers.jsonPatchOp", "handlers.jsonPatchOp")
    } else {
        ("jsonpatch.Patch", "jsonpatch.Operation")
    };
    let (patch, duplicates) = document(patch, prefix)?;
    let items = match patch {
        Value::Null => Vec::new(),
        Value::Array(items) => items,
        other => return Err(fail(unmarshal(&other, &format!("value of type {list}")))),
    };
    let mut strict_errors: Vec<String> = duplicates.into_iter().map(|it| format!("json patch {it}")).collect();
    let mut out = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let operation = match item {
            Value::Null => Map::new(),
            Value::Object(operation) => operation,
            other => return Err(fail(unmarshal(&other, &format!("value of type {one}")))),
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
                return Err(unmarshal(
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

struct Run {
    document: Value,
    copied: usize,
}

impl Run {
    fn apply(&mut self, operation: &Operation) -> Result<(), Nowhere> {
        let text = |name: &str| operation.get(name).and_then(Value::as_str).ok_or(Nowhere::Path);
        let value = || operation.get("value").cloned().unwrap_or_default();
        let path = text("path");
        match text("op")? {
            "add" => self.add(path?, value()),
            "remove" => self.at(path?)?.remove().map(drop),
            "replace" => self.replace(path?, value()),
            "move" => {
                let from = text("from")?;
                let key = from.rsplit('/').next().unwrap_or_default();
                let removed = self.at(from)?.remove();
                let value = removed.map_err(|why| why.after(&format!("error in move for path: '{key}'")))?;
                self.put("move", path?, value)
            }
            "copy" => {
                let value = self.at(text("from")?)?.get()?.cloned().unwrap_or_default();
                self.copied += value.to_string().len();
                if self.copied > MAX_COPIED {
                    let why = "Unable to complete the copy, the accumulated size increase of copy is too large";
                    return Err(Nowhere::Value(why.to_owned()));
                }
                self.put("copy", path?, value)
            }
            "test" => self.test(path?, &value()),
            _ => Err(Nowhere::Path),
        }
    }

    fn at(&mut self, path: &str) -> Result<Place<'_>, Nowhere> {
        Place::find(&mut self.document, path)
    }

    /// Adds what was moved or copied.
    fn put(&mut self, op: &str, path: &str, value: Value) -> Result<(), Nowhere> {
        self.add(path, value).map_err(|why| match (op, why) {
            (op, Nowhere::Path) => Nowhere::Told(format!(
                "{op} operation does not apply: doc is missing destination path: {path}: missing value"
            )),
            ("copy", why) => why.after("error while adding value during copy"),
            (_, why) => why.after(&format!("error in move for path: '{path}'")),
        })
    }

    fn add(&mut self, path: &str, value: Value) -> Result<(), Nowhere> {
        shallow(path, &value)?;
        self.at(path)?.add(value)
    }

    fn replace(&mut self, path: &str, value: Value) -> Result<(), Nowhere> {
        shallow(path, &value)?;
        if !path.is_empty() {
            return self.at(path)?.replace(value);
        }
        if !value.is_object() && !value.is_array() {
            const WHY: &str = "replace operation value must be object or array: %!w(<nil>)";
            return Err(Nowhere::Told(WHY.to_owned()));
        }
        self.document = value;
        Ok(())
    }

    fn test(&mut self, path: &str, value: &Value) -> Result<(), Nowhere> {
        if path.is_empty() {
            return if self.document == *value {
                Ok(())
            } else {
                Err(unequal())
            };
        }
        let there = self.at(path)?;
        if there.get()?.unwrap_or(&Value::Null) == value {
            Ok(())
        } else {
            Err(unequal())
        }
    }
}

/// A test fails without further words.
fn unequal() -> Nowhere {
    Nowhere::Value(String::new())
}

/// Operations can nest values ever deeper, but the result must not be deeper than a request may be.
fn shallow(path: &str, value: &Value) -> Result<(), Nowhere> {
    if steps(path).len() + depth(value) > DEPTH {
        Err(Nowhere::Path)
    } else {
        Ok(())
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
