//! Validates JSON types: `type`, `nullable`, and the `format` that implies a type.

use super::node::Node;
use super::number::{Numeric, is_integral};
use super::verdict::{At, Verdict};
use serde_json::Value;

/// The type of a value, and the format that the server derives from its own representation of it.
fn of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Number(number) => match Numeric::of(number) {
            Numeric::Integer(_) => ("integer", "int64"),
            Numeric::Float(_) => ("number", "float64"),
        },
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    }
}

pub(super) fn check(value: &Value, node: &Node, at: &At) -> Verdict {
    let fine = Verdict {
        checks: 1,
        ..Verdict::default()
    };
    let wanted = || node.types.join(",");
    let (kind, own_format) = of(value);
    if value.is_null() {
        let allowed = node.types.is_empty() || node.nullable;
        return if allowed {
            fine
        } else {
            at.type_invalid(&wanted(), kind).into()
        };
    }
    if node.types.is_empty() && node.format.is_none() {
        return fine;
    }
    let is_float_integer = match value {
        Value::Number(number) => {
            matches!(Numeric::of(number), Numeric::Float(float) if is_integral(float)) && node.has_type("integer")
        }
        _ => false,
    };
    let is_integer_float = kind == "integer" && node.has_type("number");
    let fits = node.has_type(kind) || is_float_integer || is_integer_float;
    let texts = matches!(value, Value::String(_) | Value::Array(_));
    match &node.format {
        Some(format) if !texts && !fits && format.name != own_format => {
            return at.type_invalid(&format.name, own_format).into();
        }
        // The format decides; the type of lists is not checked here.
        Some(_) if texts && !node.has_type("number") && !node.has_type("integer") => return fine,
        _ => {}
    }
    if fits {
        fine
    } else {
        at.type_invalid(&wanted(), kind).into()
    }
}
