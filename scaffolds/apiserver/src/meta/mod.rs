//! `metadata`, the same for every kind: what it must be, what the server fills in and what nobody may change. Objects
//! that come here have a metadata of the right types, see [`object_meta::decode`](kubewright_machinery::object_meta::decode).

#[cfg(feature = "sim")]
pub(crate) mod chance;
pub mod finalizers;
pub mod generate;
pub mod owners;
pub mod system;
mod unstructured;
mod update;
mod validate;
pub mod validation_passes;

pub use update::update;
pub use validate::{finalizer_names, validate};

use serde_json::{Map, Value};

/// The metadata of an object; empty where there is none.
pub fn of(object: &Value) -> &Map<String, Value> {
    static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    object.get("metadata").and_then(Value::as_object).unwrap_or(&NONE)
}

/// The metadata of an object, made if there is none.
pub fn of_mut(object: &mut Value) -> &mut Map<String, Value> {
    map(map(object).entry("metadata").or_insert(Value::Null))
}

/// `value` as a map; another value becomes an empty map.
fn map(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("made an object above"),
    }
}

/// A text of the metadata, `name` for example; empty where there is none.
pub fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    of(object).get(field).and_then(Value::as_str).unwrap_or_default()
}

/// A number of the metadata, `generation` for example.
pub fn number(object: &Value, field: &str) -> Option<i64> {
    of(object).get(field).and_then(Value::as_i64)
}

/// The texts of a list, `finalizers` for example.
pub fn texts<'a>(object: &'a Value, field: &str) -> Vec<&'a str> {
    let list = of(object).get(field).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Whether the deletion of the object has begun.
pub fn is_deleting(object: &Value) -> bool {
    of(object).get("deletionTimestamp").is_some()
}

/// Writes a text; an empty one takes the field away.
pub fn set_text(object: &mut Value, field: &str, text: &str) {
    set(object, field, (!text.is_empty()).then(|| Value::from(text)));
}

/// Writes a field or takes it away.
pub fn set(object: &mut Value, field: &str, value: Option<Value>) {
    let metadata = of_mut(object);
    match value {
        Some(value) => _ = metadata.insert(field.to_owned(), value),
        None => _ = metadata.remove(field),
    }
}
