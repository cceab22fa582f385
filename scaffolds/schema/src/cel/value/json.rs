//! Converts JSON to CEL values, by the schema.

use super::{Fault, List, Map, Moment, Outcome, Val};
use crate::cel::schema::Node;
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
        "duration" => crate::go::loose_duration(text)
            .map(Val::Duration)
            .ok_or_else(|| failed("duration")),
        "date" => Moment::date(text)
            .map(Val::Timestamp)
            .ok_or_else(|| failed("date formatted string")),
        "date-time" => Moment::loose(text)
            .map(Val::Timestamp)
            .ok_or_else(|| failed("date-time formatted string")),
        "byte" => bytes(text).map(|it| Val::Bytes(Rc::from(it))).map_err(|at| {
            Fault::new(format!(
                "Invalid byte formatted string {text}: illegal base64 data at input byte {at}"
            ))
        }),
        _ => Ok(Val::String(Cow::Borrowed(text))),
    }
}

/// Base64 in the alphabet of URLs, padded; line breaks do not count. Where it is none, the place that Go names.
fn bytes(text: &str) -> Result<Vec<u8>, usize> {
    let text = text.as_bytes();
    let (mut at, mut out) = (0, Vec::new());
    loop {
        let (mut bits, mut taken) = (0u32, 0);
        while taken < 4 {
            let Some(c) = text.get(at) else {
                return if taken == 0 { Ok(out) } else { Err(at - taken) };
            };
            at += 1;
            let sextet = match c {
                b'A'..=b'Z' => c - b'A',
                b'a'..=b'z' => c - b'a' + 26,
                b'0'..=b'9' => c - b'0' + 52,
                b'-' => 62,
                b'_' => 63,
                b'\r' | b'\n' => continue,
                b'=' if taken >= 2 => {
                    padded(text, at, taken)?;
                    // Of 12 bits 8 count, of 18 there are 16.
                    let bytes = (bits << (32 - 6 * taken)).to_be_bytes();
                    out.extend(&bytes[..taken - 1]);
                    return Ok(out);
                }
                _ => return Err(at - 1),
            };
            bits = bits << 6 | u32::from(sextet);
            taken += 1;
        }
        out.extend(&bits.to_be_bytes()[1..]);
    }
}

/// What has to follow the first `=`, after which `at` stands: a second one where two characters are missing, and no more.
fn padded(text: &[u8], mut at: usize, taken: usize) -> Result<(), usize> {
    let next = |at: usize| {
        let breaks = text[at..].iter().take_while(|c| matches!(c, b'\r' | b'\n'));
        at + breaks.count()
    };
    if taken == 2 {
        at = next(at);
        match text.get(at) {
            None => return Err(text.len()),
            Some(b'=') => at += 1,
            Some(_) => return Err(at - 1),
        }
    }
    at = next(at);
    if at < text.len() { Err(at) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_go_reads_it() {
        for (text, read) in [
            ("", Ok("")),
            ("YQ==", Ok("a")),
            ("YWI=", Ok("ab")),
            ("YW\nJj", Ok("abc")),
            ("YQ=\n=\n", Ok("a")),
            ("ab", Err(0)),
            ("YWJjY", Err(4)),
            ("Y=", Err(1)),
            ("YQ=", Err(3)),
            ("YQ=a", Err(2)),
            ("YQ==YQ==", Err(4)),
            ("a+bc", Err(1)),
            ("é", Err(0)),
        ] {
            assert_eq!(bytes(text), read.map(|it| it.as_bytes().to_vec()), "{text:?}");
        }
    }
}
