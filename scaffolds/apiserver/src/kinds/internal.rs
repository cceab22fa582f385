//! Values as Go's errors quote them if the internal type has no names for JSON: all fields in their order, under Go's names.

use serde_json::Value;

use crate::kinds::{
    faults::shown,
    located::Located,
    shapes::{self, ShapeField, Type},
};

/// A value of the definition `name`, for example `core.v1.ObjectReference`.
pub(in crate::kinds) fn in_go(name: &str, value: &Value) -> String {
    // Types of `apis.meta.v1` have names for JSON.
    let Some(shape) = shapes::shape(name).filter(|_| !name.starts_with('~')) else {
        return shown(value);
    };
    let fields = shape
        .numbered
        .iter()
        .filter_map(|numbered| shape.fields.get(numbered.index));
    let fields = fields.map(|field| {
        let inner = value.get(field.name).unwrap_or(&Value::Null);
        format!("\"{}\":{}", go_name(field.name), of_field(field, inner))
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

/// Some fields of a struct of the definition `name`, by the names in JSON.
pub(in crate::kinds) fn fields_in_go(name: &str, at: &Located<'_>, fields: &[&str]) -> String {
    let shape = shapes::shape(name);
    let fields = fields.iter().filter_map(|name| shape?.field(name));
    let shown = fields.map(|field| {
        let value = of_field(field, at.get(field.name).value);
        format!("\"{}\":{value}", go_name(field.name))
    });
    shown.collect::<Vec<_>>().join(",")
}

/// The value of a field that can be absent.
pub(in crate::kinds) fn in_go_or_null(name: &str, at: &Located<'_>) -> String {
    match at.is_set() {
        true => in_go(name, at.value),
        false => "null".to_owned(),
    }
}

fn of_field(field: &ShapeField, value: &Value) -> String {
    if !value.is_null() {
        return of_type(&field.kind, value);
    }
    match &field.kind {
        _ if field.pointer => "null".to_owned(),
        Type::Str => "\"\"".to_owned(),
        Type::I32 | Type::I64 | Type::F64 => "0".to_owned(),
        Type::Bool => "false".to_owned(),
        Type::Ref(name, _) => in_go(name, value),
        Type::List(_) | Type::Map(_) | Type::Bytes => "null".to_owned(),
    }
}

fn of_type(kind: &Type, value: &Value) -> String {
    match (kind, value) {
        (Type::Ref(name, _), Value::Object(_)) => in_go(name, value),
        (Type::List(item), Value::Array(items)) => {
            let items: Vec<String> = items.iter().map(|value| of_type(item, value)).collect();
            format!("[{}]", items.join(","))
        }
        _ => shown(value),
    }
}

fn go_name(name: &str) -> String {
    match name {
        "uid" => "UID".to_owned(),
        "apiVersion" => "APIVersion".to_owned(),
        "apiGroup" => "APIGroup".to_owned(),
        _ => {
            let mut letters = name.chars();
            letters
                .next()
                .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        }
    }
}
