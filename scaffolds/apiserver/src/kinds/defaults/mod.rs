//! What the server fills in: a walk over an object's shape that applies to every struct the rule of its definition, the
//! outer one first, and then the defaults that the recorded shapes name.

mod autoscaling;
mod objects;
mod pod;
mod service;
mod workloads;

use serde_json::{Map, Value, json};

use super::{
    quantity::Quantity,
    shapes::{self, Field, Shape, Type},
};

/// The fields of a struct.
type Fields = Map<String, Value>;

/// Fills in the defaults of `object`, which has the shape `name`.
pub(super) fn fill(name: &str, object: &mut Value) {
    if let (Some(shape), Some(fields)) = (shapes::shape(name), object.as_object_mut()) {
        structure(name, shape, fields);
    }
}

fn structure(name: &str, shape: &Shape, fields: &mut Fields) {
    if let Some(rule) = rule(name) {
        rule(fields);
    }
    for field in &shape.fields {
        match fields.get_mut(field.name) {
            Some(value) if field.attribute("g") == Some("v1.ResourceList") => round(value),
            Some(value) if !value.is_null() => inside(&field.kind, value),
            _ => {
                if let Some(value) = recorded(field) {
                    fields.insert(field.name.to_owned(), value);
                }
            }
        }
    }
}

fn inside(kind: &Type, value: &mut Value) {
    match (kind, value) {
        (Type::Ref(name, _), Value::Object(fields)) => {
            if let Some(shape) = shapes::shape(name) {
                structure(name, shape, fields);
            }
        }
        (Type::List(item), Value::Array(items)) if is_structured(item) => {
            items.iter_mut().for_each(|value| inside(item, value));
        }
        (Type::Map(item), Value::Object(entries)) if is_structured(item) => {
            entries.values_mut().for_each(|value| inside(item, value));
        }
        _ => {}
    }
}

fn is_structured(kind: &Type) -> bool {
    matches!(kind, Type::Ref(..) | Type::List(_) | Type::Map(_))
}

/// The default of a recorded field, unless it is the zero value, which decoding knows of.
fn recorded(field: &Field) -> Option<Value> {
    let text = field
        .attribute("d")
        .filter(|text| !matches!(*text, "{}" | "\"\"" | "0" | "false"))?;
    serde_json::from_str(text).ok()
}

/// Amounts of resources are kept to thousandths.
fn round(value: &mut Value) {
    for amount in value.as_object_mut().into_iter().flat_map(Map::values_mut) {
        if let Some(Ok(quantity)) = amount.as_str().map(Quantity::parse) {
            *amount = Value::String(quantity.rounded_to_milli().canonical());
        }
    }
}

fn rule(definition: &str) -> Option<fn(&mut Fields)> {
    let (package, kind) = definition.rsplit_once('.')?;
    match package {
        "core.v1" => pod::rule(kind)
            .or_else(|| service::rule(kind))
            .or_else(|| objects::core(kind)),
        "apps.v1" | "batch.v1" => workloads::rule(kind),
        "autoscaling.v2" => autoscaling::rule(kind),
        _ => objects::rule(kind),
    }
}

/// Sets a field that is not there or null.
fn set(fields: &mut Fields, name: &str, value: impl Into<Value>) {
    if fields.get(name).is_none_or(Value::is_null) {
        fields.insert(name.to_owned(), value.into());
    }
}

/// Sets a text that is not there or empty.
fn set_text(fields: &mut Fields, name: &str, value: &str) {
    if text(fields, name).is_empty() {
        fields.insert(name.to_owned(), json!(value));
    }
}

fn text<'a>(fields: &'a Fields, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The struct in a field, if it is there.
fn within<'a>(fields: &'a mut Fields, name: &str) -> Option<&'a mut Fields> {
    fields.get_mut(name).and_then(Value::as_object_mut)
}

/// The structs of a list.
fn each<'a>(fields: &'a mut Fields, name: &str) -> impl Iterator<Item = &'a mut Fields> {
    let items = fields.get_mut(name).and_then(Value::as_array_mut);
    items.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// The struct in a field, made where it is not.
fn made<'a>(fields: &'a mut Fields, name: &str) -> Option<&'a mut Fields> {
    set(fields, name, Map::new());
    within(fields, name)
}
