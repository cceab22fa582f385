//! JSON patch, RFC 6902. Not the crate `json-patch`: the library of kube-apiserver differs from the RFC in nulls, negative indices and
//! limits, and its sentences reach clients.

mod pointer;

use kubewright_machinery::go;
use serde_json::{Map, Value};

pub use self::pointer::steps;
use self::pointer::{Container, Nowhere};

/// The maximum depth of arrays and objects in a document. Upstream allows 10,000, but no stored object comes near. Below serde's
/// 128, because managedFields add levels, and low enough for recursive code on any thread's stack.
pub const DEEPEST: usize = 120;
/// The server's limit for what all copies in a patch may add, in bytes of JSON.
const MAX_COPIED: usize = 3 * 1024 * 1024;

/// An operation of a patch.
pub type Operation = Map<String, Value>;

/// An operation that cannot be carried out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Failed {
    /// The reason, in the words of the library.
    pub why: String,
    /// Whether it is a test of a value that has another value.
    pub is_test: bool,
}

/// Applies the operations of a patch to an object.
///
/// # Errors
/// The first operation that cannot be carried out.
pub fn apply(object: &Value, operations: &[Operation]) -> Result<Value, Failed> {
    // Upstream patches the text of the object, in which a whole float has no fraction.
    let mut document = object.clone();
    go::store(&mut document);
    let mut run = Run { document, copied: 0 };
    for operation in operations {
        run.apply(operation).map_err(|why| Failed {
            is_test: operation.get("op").is_some_and(|op| op == "test")
                && matches!(&why, Nowhere::Value(why) if why.is_empty()),
            why: words(operation, why),
        })?;
    }
    Ok(run.document)
}

/// Applies the operations of a policy; `None` if a test among them fails, so that nothing is changed.
///
/// # Errors
/// The reason that another operation fails, in the words of the library.
pub fn by_policy(object: &Value, operations: &[Operation]) -> Result<Option<Value>, String> {
    match apply(object, operations) {
        Ok(object) => Ok(Some(object)),
        Err(Failed { is_test: true, .. }) => Ok(None),
        Err(Failed { why, .. }) => Err(why),
    }
}

/// The reason that an operation failed, in the words of the library.
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

/// A patch at work.
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

    fn at(&mut self, path: &str) -> Result<Container<'_>, Nowhere> {
        Container::find(&mut self.document, path)
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
            return if go::equal(&self.document, value) {
                Ok(())
            } else {
                Err(unequal())
            };
        }
        let there = self.at(path)?;
        if go::equal(there.get()?.unwrap_or(&Value::Null), value) {
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
    if steps(path).len() + depth(value) > DEEPEST {
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
