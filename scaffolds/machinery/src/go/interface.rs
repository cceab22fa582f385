//! Formats values as Go formats an `interface{}`, for messages that quote values of objects.

use serde_json::Value;

use super::{plain as number, quote};

/// `%v`: `map[a:1 b:[x y]]`.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(it) => it.to_string(),
        Value::Number(it) => number(it),
        Value::String(it) => it.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(" ")),
        Value::Object(members) => {
            let members: Vec<_> = members.iter().map(|(key, it)| format!("{key}:{}", plain(it))).collect();
            format!("map[{}]", members.join(" "))
        }
    }
}

/// `%#v`: `map[string]interface {}{"a":1}`.
pub fn source(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Bool(it) => it.to_string(),
        Value::Number(it) => number(it),
        Value::String(it) => quote(it),
        Value::Array(items) => {
            format!(
                "[]interface {{}}{{{}}}",
                items.iter().map(source).collect::<Vec<_>>().join(", ")
            )
        }
        Value::Object(members) => {
            let members: Vec<_> = members
                .iter()
                .map(|(key, it)| format!("{}:{}", quote(key), source(it)))
                .collect();
            format!("map[string]interface {{}}{{{}}}", members.join(", "))
        }
    }
}

/// `%T`.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(it) if it.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
