//! Removes fields and items from a value.

use kubewright_schema::typed::{Element, Form, Id, List, ListType, Map, Schema, item};
use serde_json::Value;

use super::set::Set;

/// `value` without the members of `fields`. Maps and lists that lose all members become null, and so do atomic ones
/// that would lose a part.
pub(super) fn remove(schema: &Schema, value: &Value, fields: &Set) -> Value {
    visit(schema, schema.root, value, fields)
}

fn visit(schema: &Schema, id: Id, value: &Value, fields: &Set) -> Value {
    match (schema.get(id).deduce(Some(value)).form, value) {
        (Form::Scalar(_), value) => value.clone(),
        (Form::List(it), Value::Array(items)) if it.kind != ListType::Atomic => list(schema, it, items, fields),
        (Form::Map(it), Value::Object(members)) if !it.atomic => map(schema, it, members, fields),
        _ => Value::Null,
    }
}

fn list(schema: &Schema, list: &List, items: &[Value], fields: &Set) -> Value {
    let kept = items.iter().filter_map(|it| {
        let Ok(element) = item(schema, list, it) else {
            return Some(it.clone());
        };
        if fields.member(&element) {
            return None;
        }
        Some(match fields.child(&element) {
            Some(below) => visit(schema, list.element, it, below),
            None => it.clone(),
        })
    });
    let kept: Vec<_> = kept.collect();
    if kept.is_empty() {
        Value::Null
    } else {
        Value::Array(kept)
    }
}

fn map(schema: &Schema, map: &Map, members: &serde_json::Map<String, Value>, fields: &Set) -> Value {
    let kept = members.iter().filter_map(|(name, it)| {
        let element = Element::field(name);
        if fields.member(&element) {
            return None;
        }
        let it = match (fields.child(&element), map.at(name)) {
            (Some(below), Some(id)) => visit(schema, id, it, below),
            _ => it.clone(),
        };
        Some((name.clone(), it))
    });
    let kept: serde_json::Map<_, _> = kept.collect();
    if kept.is_empty() {
        Value::Null
    } else {
        Value::Object(kept)
    }
}
