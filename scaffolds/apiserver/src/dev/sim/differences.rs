//! Differences between two states, in words.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::state::{CREATED_ONCE, State, created_once};

/// The keys of objects that exist in both states and differ.
pub(super) fn different<'a>(one: &'a State, other: &'a State) -> impl Iterator<Item = &'a String> {
    let is_different = |(key, object): &(&String, &Value)| other.get(*key).is_some_and(|other| other != *object);
    one.iter().filter(is_different).map(|(key, _)| key)
}

/// The differences, one in each line.
pub(super) fn differences(expected: &State, found: &State) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, object) in expected {
        match found.get(name) {
            None => lines.push(format!("{name} is missing")),
            Some(other) => {
                let once = (object[CREATED_ONCE] == true).then(|| created_once(other));
                let place = ComparedField { name, pointer: "" };
                compare(&mut lines, &place, object, once.as_ref().unwrap_or(other));
            }
        }
    }
    let strange = found.keys().filter(|name| !expected.contains_key(*name));
    lines.extend(strange.map(|name| format!("{name} exists, and should not")));
    lines
}

struct ComparedField<'a> {
    name: &'a str,
    pointer: &'a str,
}

fn compare(lines: &mut Vec<String>, place: &ComparedField<'_>, expected: &Value, found: &Value) {
    let ComparedField { name, pointer } = place;
    if expected == found {
        return;
    }
    match (expected, found) {
        (Value::Object(one), Value::Object(other)) => {
            let fields: BTreeSet<_> = one.keys().chain(other.keys()).collect();
            for field in fields {
                let get = |fields: &Map<String, Value>| fields.get(field).cloned().unwrap_or_default();
                let pointer = format!("{pointer}/{field}");
                compare(
                    lines,
                    &ComparedField {
                        name,
                        pointer: &pointer,
                    },
                    &get(one),
                    &get(other),
                );
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (n, (one, other)) in one.iter().zip(other).enumerate() {
                let pointer = format!("{pointer}/{n}");
                compare(
                    lines,
                    &ComparedField {
                        name,
                        pointer: &pointer,
                    },
                    one,
                    other,
                );
            }
        }
        (_, Value::Null) => lines.push(format!("{name}: `{pointer}` is missing, and should be {expected}")),
        (Value::Null, _) => lines.push(format!("{name}: `{pointer}` is {found}, and should not exist")),
        _ => lines.push(format!("{name}: `{pointer}` is {found}, and should be {expected}")),
    }
}
