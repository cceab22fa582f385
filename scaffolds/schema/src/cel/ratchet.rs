//! What an update left alone: which old value a new one has, and whether the two are equal.

use super::schema::Node;
use serde_json::Value;

/// Whether an update left the value alone.
#[derive(Clone, Copy)]
pub(super) enum Ratchet {
    /// The value has an old one; were they equal?
    Known(bool),
    /// It has none, but something around it has.
    Around(bool),
    /// There is no old object.
    None,
}

impl Ratchet {
    pub(super) fn is_unchanged(self) -> bool {
        matches!(self, Self::Known(true) | Self::Around(true))
    }

    /// How a value below relates to its old one.
    pub(super) fn further(self, equal: Option<bool>) -> Self {
        match (self, equal) {
            (Self::None, _) => Self::None,
            (Self::Known(_), Some(equal)) => Self::Known(equal),
            (Self::Known(unchanged) | Self::Around(unchanged), _) => Self::Around(unchanged),
        }
    }
}

/// The old item with the keys of this one.
pub(super) fn with_same_keys<'a>(item: &Value, others: &'a [Value], keys: &[String]) -> Option<&'a Value> {
    let scalar = |value: &Value| value.is_boolean() || value.is_number() || value.is_string();
    if keys.is_empty() || !keys.iter().all(|key| item.get(key).is_some_and(scalar)) {
        return None;
    }
    // With several items of the same keys, which only an older schema can have let in, the first counts.
    others
        .iter()
        .find(|other| keys.iter().all(|key| other.get(key) == item.get(key)))
}

/// Equality for which the order of keyed lists does not count, and which what has a field that the schema does not know
/// never has, not even with itself.
pub(super) fn same(one: &Value, other: &Value, node: &Node) -> bool {
    match (one, other) {
        (Value::Array(items), Value::Array(others)) => {
            if items.len() != others.len() {
                return false;
            }
            match (&node.items, node.list_type.as_deref()) {
                (Some(inner), Some("map")) => items.iter().all(|item| {
                    with_same_keys(item, others, &node.list_keys).is_some_and(|old| same(item, old, inner))
                }),
                _ => items == others,
            }
        }
        (Value::Object(map), Value::Object(others)) => {
            map.len() == others.len()
                && map.iter().all(|(name, value)| {
                    let inner = node
                        .properties
                        .as_ref()
                        .and_then(|it| it.get(name))
                        .or(node.additional.as_ref())
                        .filter(|inner| !inner.given);
                    others
                        .get(name)
                        .is_some_and(|old| inner.is_some_and(|inner| same(value, old, inner)))
                })
        }
        _ => one == other,
    }
}
