//! The fields of objects that several workload controllers read, and their conditions.

use kubewright_machinery::time;
use serde_json::{Value, json};

use crate::meta;
pub(super) use crate::meta::owners::controller;

/// The integer at a JSON pointer; 0 if there is none.
pub(super) fn int(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

/// The text at a JSON pointer; empty if there is none.
pub(super) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The items at a JSON pointer.
pub(super) fn items<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    let list = object.pointer(pointer).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

/// A number, or a percentage of all, rounded up.
pub(super) fn part(amount: &Value, all: i64) -> i64 {
    let percent = amount.as_str().and_then(|it| it.strip_suffix('%')?.parse::<i64>().ok());
    percent.map_or_else(
        || amount.as_i64().unwrap_or_default(),
        |percent| percent.saturating_mul(all).saturating_add(99) / 100,
    )
}

/// Seconds as a `time.Duration` of Go holds them, in which more than 292 years wrap.
pub(super) fn go_seconds(seconds: i64) -> i64 {
    const NANOS: i64 = 1_000_000_000;
    seconds.wrapping_mul(NANOS) / NANOS
}

/// An annotation, if the object has it.
pub(super) fn annotation<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    meta::of(object).get("annotations")?.get(name)?.as_str()
}

/// When the object was created, in seconds since 1970.
pub(super) fn created(object: &Value) -> i64 {
    time::seconds(meta::text(object, "creationTimestamp")).unwrap_or_default()
}

/// The owner reference that makes `owner` the controller.
pub(super) fn reference(owner: &Value) -> Value {
    json!({
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": meta::text(owner, "name"),
        "uid": meta::text(owner, "uid"), "controller": true, "blockOwnerDeletion": true,
    })
}

/// The condition of this type.
pub(super) fn condition<'a>(status: &'a Value, name: &str) -> Option<&'a Value> {
    items(status, "/conditions").iter().find(|it| it["type"] == name)
}

/// Adds a condition, unless one with the same status and reason is there. The time of the last transition changes with
/// the status alone.
pub(super) fn set_condition(status: &mut Value, mut new: Value) {
    if let Some(old) = condition(status, text(&new, "/type")) {
        if old["status"] == new["status"] && old["reason"] == new["reason"] {
            return;
        }
        if old["status"] == new["status"] {
            new["lastTransitionTime"] = old["lastTransitionTime"].clone();
        }
    }
    remove_condition(status, text(&new, "/type"));
    match status["conditions"].as_array_mut() {
        Some(conditions) => conditions.push(new),
        None => status["conditions"] = json!([new]),
    }
}

/// Replaces the condition of the same type in its place, or adds it.
pub(super) fn put_condition(status: &mut Value, new: Value) {
    let mut conditions = items(status, "/conditions").to_vec();
    match conditions.iter_mut().find(|it| it["type"] == new["type"]) {
        Some(present) => *present = new,
        None => conditions.push(new),
    }
    status["conditions"] = json!(conditions);
}

/// Removes a condition.
pub(super) fn remove_condition(status: &mut Value, name: &str) {
    let Some(conditions) = status.get_mut("conditions").and_then(Value::as_array_mut) else {
        return;
    };
    conditions.retain(|it| it["type"] != name);
    if conditions.is_empty()
        && let Some(status) = status.as_object_mut()
    {
        status.remove("conditions");
    }
}

/// Sets a field of the status to a count; 0 removes it, as Go's encoder omits it.
pub(super) fn set_count(status: &mut Value, field: &str, count: i64) {
    let Some(status) = status.as_object_mut() else { return };
    match count {
        0 => _ = status.remove(field),
        _ => _ = status.insert(field.to_owned(), count.into()),
    }
}
