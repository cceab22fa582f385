//! Checks that lists of type set or map have no duplicates.

use super::node::{ListType, Node};
use kubewright_machinery::cause::{Cause, Path};
use kubewright_machinery::go;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// One cause for each duplicate in the lists of `value`, at its second occurrence.
pub(super) fn check(value: &Value, node: &Node, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk(value, node, path, &mut causes);
    causes
}

fn walk(value: &Value, node: &Node, path: &Path, causes: &mut Vec<Cause>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                // A schema must not have both `properties` and `additionalProperties`; if it does, the server checks both.
                if let Some(values) = node.additional.schema().filter(|it| it.has_lists) {
                    walk(value, values, &path.key(name), causes);
                }
                if let Some(property) = node.properties.get(name).filter(|it| it.has_lists) {
                    walk(value, property, &path.child(name), causes);
                }
            }
        }
        Value::Array(list) => {
            match node.list_type {
                ListType::Atomic => {}
                ListType::Set => set(list, path, causes),
                ListType::Map => map(list, &node.map_keys, path, causes),
            }
            if let Some(items) = node.items.as_ref().filter(|it| it.has_lists) {
                for (index, item) in list.iter().enumerate() {
                    walk(item, items, &path.index(index), causes);
                }
            }
        }
        _ => {}
    }
}

fn set(list: &[Value], path: &Path, causes: &mut Vec<Cause>) {
    for index in second(list.iter().map(identity)) {
        if let Some(item) = list.get(index) {
            causes.push(path.index(index).duplicate(item.clone()));
        }
    }
}

fn map(list: &[Value], keys: &[String], path: &Path, causes: &mut Vec<Cause>) {
    if let Some(index) = list.iter().position(|item| !item.is_object() && !item.is_null()) {
        let detail = "must be an object for an array of list-type map";
        causes.push(path.index(index).invalid(list[index].clone(), detail));
        return;
    }
    let key_of = |item: &Value| -> Map<String, Value> {
        let value = |key: &String| Some((key.clone(), item.get(key)?.clone()));
        keys.iter().filter_map(value).collect()
    };
    let all: Vec<Value> = list.iter().map(|item| key_of(item).into()).collect();
    let identities = all.iter().map(|key| match keys {
        // A single key is compared with its type, so a float never equals an integer.
        [one] => key.get(one).map_or(String::new(), identity),
        _ => go::json(key),
    });
    for index in second(identities) {
        causes.push(
            path.index(index)
                .duplicate(all.get(index).cloned().unwrap_or(json!({}))),
        );
    }
}

/// The index of each item that occurred before.
fn second(all: impl Iterator<Item = String>) -> Vec<usize> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut places = Vec::new();
    for (index, identity) in all.enumerate() {
        let times = seen.entry(identity).or_default();
        *times += 1;
        if *times == 2 {
            places.push(index);
        }
    }
    places
}

/// A text that is the same only for equal values. An integer differs from a float, except inside a list or an object, which are compared
/// by their text.
fn identity(value: &Value) -> String {
    match value {
        Value::Number(number) if number.as_i64().is_none() => format!("float {}", go::json(value)),
        _ => go::json(value),
    }
}
