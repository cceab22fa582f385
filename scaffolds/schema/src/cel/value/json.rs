//! Converts JSON to CEL values, by the schema.

use super::{Fault, List, Map, Outcome, Val, moment};
use crate::cel::schema::Node;
use kubewright_machinery::base64::{self, Encoding};
use kubewright_machinery::go;
use serde_json::Value;
use std::borrow::Cow;
use std::rc::Rc;

impl<'a> Val<'a> {
    /// A value of an object with the type from `node`, or, without a schema, with its JSON type.
    pub(in crate::cel) fn of(value: &'a Value, node: Option<&'a Node>) -> Outcome<Self> {
        let Some(node) = node else {
            return Ok(raw(value));
        };
        if value.is_null() {
            return if node.nullable {
                Ok(Self::Null)
            } else {
                invalid("got null for schema with nullable=false")
            };
        }
        if node.int_or_string {
            return match value {
                Value::String(text) => Ok(Self::String(Cow::Borrowed(text))),
                Value::Number(number) if number.is_i64() => Ok(raw(value)),
                _ => invalid("expected XIntOrString value to be either a string or integer"),
            };
        }
        match (node.kind.as_str(), value) {
            ("object", Value::Object(map)) => Ok(Self::Map(Map::json(map, Some(node)))),
            ("object", _) => invalid("expected a map for the provided schema with type=object"),
            ("array", Value::Array(items)) => Ok(Self::List(List::json(items, Some(node)))),
            ("array", _) => invalid("expected an array for the provided schema with type=array"),
            ("string", Value::String(text)) => formatted(text, &node.format),
            ("number", Value::Number(number)) => Ok(Self::Double(number.as_f64().unwrap_or(f64::NAN))),
            ("integer", Value::Number(number)) if number.is_i64() => Ok(raw(value)),
            ("boolean", Value::Bool(flag)) => Ok(Self::Bool(*flag)),
            ("string", _) => invalid(&format!("expected string, got {}", go_type(value))),
            ("number", _) => invalid(&format!("expected float, got {}", go_type(value))),
            ("integer", _) => invalid(&format!("expected int, got {}", go_type(value))),
            ("boolean", _) => invalid(&format!("expected bool, got {}", go_type(value))),
            _ if node.preserve => Ok(Self::Unknown(value)),
            (kind, _) => Err(Fault::new(format!(
                "invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got {kind}"
            ))),
        }
    }
}

fn invalid<T>(what: &str) -> Outcome<T> {
    Err(Fault::new(format!("invalid data, {what}")))
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

fn raw(value: &Value) -> Val<'_> {
    match value {
        Value::Null => Val::Null,
        Value::Bool(flag) => Val::Bool(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Val::Int(number),
            None => Val::Double(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Val::String(Cow::Borrowed(text)),
        Value::Array(items) => Val::List(List::json(items, None)),
        Value::Object(map) => Val::Map(Map::json(map, None)),
    }
}

fn formatted<'a>(text: &'a str, format: &str) -> Outcome<Val<'a>> {
    let failed = |what: &str| Fault::new(format!("Invalid {what} {text}"));
    match format {
        "duration" => go::loose_duration(text)
            .map(Val::Duration)
            .ok_or_else(|| failed("duration")),
        "date" => moment::date(text)
            .map(Val::Timestamp)
            .ok_or_else(|| failed("date formatted string")),
        "date-time" => moment::loose(text)
            .map(Val::Timestamp)
            .ok_or_else(|| failed("date-time formatted string")),
        "byte" => base64::decode(text, Encoding::Url)
            .map(|it| Val::Bytes(Rc::from(it)))
            .map_err(|at| {
                Fault::new(format!(
                    "Invalid byte formatted string {text}: illegal base64 data at input byte {at}"
                ))
            }),
        _ => Ok(Val::String(Cow::Borrowed(text))),
    }
}
