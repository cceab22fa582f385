//! The declarations of a schema for its rules: types, and how large their values can be in one request.

use super::schema::Node;
use super::types::{Object, Type};
use kubewright_machinery::rule_names::escape;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The largest request that the server's cost estimate assumes: 3 MiB (celconfig.MaxRequestSizeBytes).
pub(super) const LARGEST_REQUEST: i64 = 3 * 1024 * 1024;

/// A type with sizes.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) shape: Shape,
    /// The maximum number of characters, bytes, items or entries.
    pub(super) most: u64,
    /// The minimum size as JSON, in bytes.
    least_bytes: i64,
}

#[derive(Debug)]
pub(super) enum Shape {
    Scalar(Type),
    List(Arc<Declared>),
    Map(Arc<Declared>),
    /// Fields by their escaped names.
    Object(BTreeMap<String, Arc<Declared>>),
}

impl Declared {
    /// `None` if rules cannot access the value, because the schema only preserves it.
    pub(super) fn of(node: &Node, root: bool) -> Option<Self> {
        if node.int_or_string {
            return Some(scalar(
                Type::Dyn,
                1,
                node.max_length.map_or(LARGEST_REQUEST - 2, by_characters),
            ));
        }
        if root {
            return Self::by_kind(&node.with_meta());
        }
        Self::by_kind(node)
    }

    fn by_kind(node: &Node) -> Option<Self> {
        Some(match node.kind.as_str() {
            "array" => {
                let item = Self::below(node.items.as_deref()?)?;
                let fit = (LARGEST_REQUEST - 2) / (item.least_bytes + 1);
                let most = unsigned(node.max_items.unwrap_or(fit));
                Self {
                    shape: Shape::List(Arc::new(item)),
                    most,
                    least_bytes: 2,
                }
            }
            "object" => match node.additional.as_deref() {
                Some(values) => {
                    let value = Self::below(values)?;
                    // Two quotes, a colon, a comma and the shortest key.
                    let fit = (LARGEST_REQUEST - 2) / (value.least_bytes + 6);
                    let most = unsigned(node.max_properties.unwrap_or(fit));
                    Self {
                        shape: Shape::Map(Arc::new(value)),
                        most,
                        least_bytes: 2,
                    }
                }
                None => Self::object(node),
            },
            "string" => text(node),
            "boolean" => scalar(Type::Bool, 4, 0),
            "number" => scalar(Type::Double, 1, 0),
            "integer" => scalar(Type::Int, 1, 0),
            _ => return None,
        })
    }

    fn below(node: &Node) -> Option<Self> {
        Self::of(node, node.embedded)
    }

    fn object(node: &Node) -> Self {
        let mut fields = BTreeMap::new();
        let mut least_bytes = 2;
        for (name, property) in node.properties.iter().flatten() {
            let Some(declared) = Self::below(property) else {
                continue;
            };
            // A field with a default may be missing from the request.
            if node.required.contains(name) && !property.defaulted {
                least_bytes += i64::try_from(name.len()).unwrap_or(0) + declared.least_bytes + 4;
            }
            if let Some(escaped) = escape(name) {
                fields.insert(escaped, Arc::new(declared));
            }
        }
        Self {
            shape: Shape::Object(fields),
            most: 0,
            least_bytes,
        }
    }

    /// A value of any size that fits into a request.
    pub(super) fn any_size(r#type: Type) -> Self {
        scalar(r#type, 1, LARGEST_REQUEST - 2)
    }

    /// A list of any length that fits into a request.
    pub(super) fn list(item: Self) -> Self {
        let most = (LARGEST_REQUEST - 2) / (item.least_bytes + 1);
        Self {
            shape: Shape::List(Arc::new(item)),
            most: unsigned(most),
            least_bytes: 2,
        }
    }

    /// A map with as many entries as fit into a request.
    pub(super) fn map(value: Self) -> Self {
        let most = (LARGEST_REQUEST - 2) / (value.least_bytes + 6);
        Self {
            shape: Shape::Map(Arc::new(value)),
            most: unsigned(most),
            least_bytes: 2,
        }
    }

    /// An object with these optional fields.
    pub(super) fn fields(fields: BTreeMap<String, Arc<Self>>) -> Self {
        Self {
            shape: Shape::Object(fields),
            most: 0,
            least_bytes: 2,
        }
    }

    /// The maximum of such values in one request.
    pub(super) fn most_in_a_request(&self) -> u64 {
        unsigned(LARGEST_REQUEST / (self.least_bytes + 1))
    }

    /// The type; objects are named by their path below `name`.
    pub(super) fn r#type(&self, name: &str) -> Type {
        match &self.shape {
            Shape::Scalar(r#type) => r#type.clone(),
            Shape::List(item) => Type::list(item.r#type(&format!("{name}.@idx"))),
            Shape::Map(value) => Type::map(Type::String, value.r#type(&format!("{name}.@elem"))),
            Shape::Object(fields) => Type::Object(Arc::new(Object {
                name: name.to_owned(),
                fields: fields
                    .iter()
                    .map(|(field, declared)| (field.clone(), declared.r#type(&format!("{name}.{field}"))))
                    .collect(),
            })),
        }
    }
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn scalar(r#type: Type, least_bytes: i64, most: i64) -> Declared {
    Declared {
        shape: Shape::Scalar(r#type),
        most: unsigned(most),
        least_bytes,
    }
}

/// Converts a limit in characters to bytes: the server counts four bytes per character.
fn by_characters(max_length: i64) -> i64 {
    max_length.max(0).saturating_mul(4)
}

/// Declares a string by its format; the sizes are from apiserver's `pkg/cel/limits.go`.
fn text(node: &Node) -> Declared {
    let unlimited = LARGEST_REQUEST - 2;
    match node.format.as_str() {
        "byte" => scalar(Type::Bytes, 2, node.max_length.unwrap_or(unlimited)),
        "duration" => scalar(Type::Duration, 3, 32),
        "date" => scalar(Type::Timestamp, 12, 12),
        "date-time" => scalar(Type::Timestamp, 21, 32),
        _ => {
            let longest = node.longest_enum.map(|it| i64::try_from(it).unwrap_or(unlimited));
            let most = node.max_length.map(by_characters).or(longest).unwrap_or(unlimited);
            scalar(Type::String, 2, most)
        }
    }
}
