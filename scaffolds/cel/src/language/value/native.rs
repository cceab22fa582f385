//! Go values without their CEL types (`Value()`), and the types that a schema gives them.

use super::list::{Items, List};
use super::{Fault, Map, Outcome, Val};
use crate::schema::Node;

impl<'a> Val<'a> {
    /// Its Go type, in the form `%T`.
    pub(in crate::language) fn go_type(&self) -> &'static str {
        match self {
            Self::Null => "structpb.NullValue",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int64",
            Self::Uint(_) => "uint64",
            Self::Double(_) => "float64",
            Self::String(_) | Self::Type(_) => "string",
            Self::Bytes(_) => "[]uint8",
            Self::Duration(_) => "time.Duration",
            Self::Timestamp(_) => "time.Time",
            Self::List(list) if list.is_made() => "[]ref.Val",
            Self::List(_) => "[]interface {}",
            Self::Map(Map::Json(..)) => "map[string]interface {}",
            Self::Map(Map::Own(_)) => "map[ref.Val]ref.Val",
            Self::Built(_) => "map[string]interface {}",
            Self::Optional(Some(value)) => value.go_type(),
            Self::Optional(None) => "<nil>",
            Self::Foreign(value) => value.type_name(),
            Self::Unknown(_) => "interface {}",
        }
    }

    /// The value with the type of a schema. Lists of what rules cannot access do not compile, so `node` has a type.
    ///
    /// # Errors
    /// If the value does not match.
    pub(super) fn retyped(self, node: &'a Node) -> Outcome<Self> {
        if node.int_or_string {
            return match self {
                Self::String(_) | Self::Int(_) => Ok(self),
                other => misfit(node, other.go_type()),
            };
        }
        match (node.kind.as_str(), self) {
            ("object", Self::Map(Map::Json(map, _))) => Ok(Self::Map(Map::json(map, Some(node)))),
            (
                "array",
                Self::List(List {
                    items: Items::Json(items, _),
                    ..
                }),
            ) => Ok(Self::List(List::json(items, Some(node)))),
            ("string", Self::String(text)) => Self::formatted(text, &node.format),
            ("number", Self::Int(number)) => Ok(Self::Double(number as f64)),
            ("number", value @ Self::Double(_))
            | ("integer", value @ Self::Int(_))
            | ("boolean", value @ Self::Bool(_)) => Ok(value),
            (_, other) => misfit(node, other.go_type()),
        }
    }
}

impl List<'_> {
    /// Whether a rule made it from values, so that its items have no Go values.
    pub(in crate::language) fn is_made(&self) -> bool {
        matches!(self.items, Items::Own(_) | Items::Sum(_))
    }
}

/// The server's error for a value of a Go type that does not match the schema.
fn misfit<T>(node: &Node, go_type: &str) -> Outcome<T> {
    let what = match node.kind.as_str() {
        _ if node.int_or_string => "expected XIntOrString value to be either a string or integer".to_owned(),
        "object" => "expected a map for the provided schema with type=object".to_owned(),
        "array" => "expected an array for the provided schema with type=array".to_owned(),
        "string" => format!("expected string, got {go_type}"),
        "number" => format!("expected float, got {go_type}"),
        "integer" => format!("expected int, got {go_type}"),
        "boolean" => format!("expected bool, got {go_type}"),
        kind => {
            return Err(Fault::new(format!(
                "invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got {kind}"
            )));
        }
    };
    Err(Fault::new(format!("invalid data, {what}")))
}
