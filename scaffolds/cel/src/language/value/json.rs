//! Converts JSON to CEL values, by the schema.

use super::{Fault, List, Map, Outcome, Val, moment};
use crate::schema::Node;
use kubewright_machinery::base64::{self, Encoding};
use kubewright_machinery::go;
use serde_json::Value;
use std::borrow::Cow;
use std::rc::Rc;

impl<'a> Val<'a> {
    /// A value of an object with the type from `node`, or, without a schema, with its JSON type.
    pub(in crate::language) fn of(value: &'a Value, node: Option<&'a Node>) -> Outcome<Self> {
        let Some(node) = node else {
            return Ok(raw(value));
        };
        if value.is_null() {
            return if node.nullable {
                Ok(Self::Null)
            } else {
                Err(Fault::new("invalid data, got null for schema with nullable=false"))
            };
        }
        if !node.int_or_string && node.kind.is_empty() && node.preserve {
            return Ok(Self::Unknown(value));
        }
        raw(value).retyped(node)
    }

    /// A text of an object, which the schema's format gives another type.
    pub(super) fn formatted(text: Cow<'a, str>, format: &str) -> Outcome<Self> {
        let failed = |what: &str| Fault::new(format!("Invalid {what} {text}"));
        match format {
            "duration" => go::loose_duration(&text)
                .map(Val::Duration)
                .ok_or_else(|| failed("duration")),
            "date" => moment::date(&text)
                .map(Val::Timestamp)
                .ok_or_else(|| failed("date formatted string")),
            "date-time" => moment::loose(&text)
                .map(Val::Timestamp)
                .ok_or_else(|| failed("date-time formatted string")),
            "byte" => base64::decode(&text, Encoding::Url)
                .map(|it| Val::Bytes(Rc::from(it)))
                .map_err(|at| {
                    Fault::new(format!(
                        "Invalid byte formatted string {text}: illegal base64 data at input byte {at}"
                    ))
                }),
            _ => Ok(Val::String(text)),
        }
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
