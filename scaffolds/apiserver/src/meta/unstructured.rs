//! The metadata of a custom object that a policy or webhook has changed: its types are checked only now, as upstream's converter of
//! unstructured objects (`fromUnstructured` of apimachinery) does, with its messages.

use kubewright_machinery::{Cause, cause::Path, object_meta};
use serde_json::{Value, json};

/// The type of a field in Go.
enum Type {
    Simple(&'static str),
    Texts,
    Words,
    Structs(&'static [(&'static str, Type)]),
    /// A type with a decoder of its own.
    Decoded,
}

/// The fields in Go's order: the first malformed one is reported.
const OBJECT_META: &[(&str, Type)] = &[
    ("name", Type::Simple("string")),
    ("generateName", Type::Simple("string")),
    ("namespace", Type::Simple("string")),
    ("selfLink", Type::Simple("string")),
    ("uid", Type::Simple("types.UID")),
    ("resourceVersion", Type::Simple("string")),
    ("generation", Type::Simple("int64")),
    ("creationTimestamp", Type::Decoded),
    ("deletionTimestamp", Type::Decoded),
    ("deletionGracePeriodSeconds", Type::Simple("int64")),
    ("labels", Type::Texts),
    ("annotations", Type::Texts),
    ("ownerReferences", Type::Structs(OWNER_REFERENCE)),
    ("finalizers", Type::Words),
    ("managedFields", Type::Decoded),
];

const OWNER_REFERENCE: &[(&str, Type)] = &[
    ("apiVersion", Type::Simple("string")),
    ("kind", Type::Simple("string")),
    ("name", Type::Simple("string")),
    ("uid", Type::Simple("types.UID")),
    ("controller", Type::Simple("bool")),
    ("blockOwnerDeletion", Type::Simple("bool")),
];

/// The error for metadata with a value of a wrong type.
pub fn malformed(object: &Value) -> Option<Cause> {
    let metadata = &object["metadata"];
    let why = structure(metadata, OBJECT_META).err()?;
    Some(Path::new("metadata").invalid(metadata.clone(), &why))
}

fn structure(value: &Value, fields: &[(&str, Type)]) -> Result<(), String> {
    if value.is_null() {
        return Ok(());
    }
    if !value.is_object() {
        return Err(format!("cannot restore struct from: {}", kind(value)));
    }
    fields
        .iter()
        .try_for_each(|(name, wanted)| match (&value[*name], wanted) {
            (Value::Null, _) => Ok(()),
            (found, Type::Decoded) => object_meta::decode(&json!({*name: found}), "").map(drop),
            (found, wanted) => of_type(found, wanted),
        })
}

fn of_type(value: &Value, wanted: &Type) -> Result<(), String> {
    match wanted {
        Type::Simple(name) => simple(value, name),
        Type::Texts => match value {
            Value::Object(texts) => texts.values().try_for_each(|text| simple(text, "string")),
            other => Err(format!("cannot restore map from {}", kind(other))),
        },
        Type::Words => items(value)?.iter().try_for_each(|word| simple(word, "string")),
        Type::Structs(fields) => items(value)?.iter().try_for_each(|item| structure(item, fields)),
        Type::Decoded => Ok(()),
    }
}

fn items(value: &Value) -> Result<&[Value], String> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(format!("cannot restore slice from {}", kind(other))),
    }
}

/// A null is the zero value. Go converts numbers to texts, which its converter refuses, and no other types to each other.
fn simple(value: &Value, wanted: &str) -> Result<(), String> {
    let found = kind(value);
    let text = !matches!(wanted, "int64" | "bool");
    match (found, wanted) {
        ("nil", _) | ("bool", "bool") | ("int64", "int64") => Ok(()),
        ("string", _) if text => Ok(()),
        ("float64", "int64") if value.as_f64().is_some_and(|number| number == number.trunc()) => Ok(()),
        ("int64", _) if text => Err(format!("cannot convert int64 to {wanted}")),
        ("float64", "int64") => Err(format!("cannot convert float64 to {wanted}")),
        _ => Err(format!("unrecognized type: {}", if text { "string" } else { wanted })),
    }
}

/// The kind of a value in Go.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nil",
        Value::Bool(_) => "bool",
        Value::Number(number) if !number.is_i64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}
