//! Ratcheting: matches new values with old ones, and compares them.

use crate::schema::Node;
use serde_json::Value;

/// Whether an update left the value unchanged.
#[derive(Clone, Copy, Default)]
pub(super) struct Ratchet {
    /// Whether the value equals its old value, if it has one.
    own: Option<bool>,
    /// Whether the nearest ancestor with an old value equals it.
    around: Option<bool>,
}

impl Ratchet {
    /// For an object with an old one.
    pub(super) const fn root(equal: bool) -> Self {
        Self {
            own: Some(equal),
            around: None,
        }
    }

    pub(super) fn is_unchanged(self) -> bool {
        self.own.or(self.around) == Some(true)
    }

    /// The state of a value below; `equal` is `None` if it has no old value.
    pub(super) fn further(self, equal: Option<bool>) -> Self {
        match self.own {
            None => self,
            around => Self { own: equal, around },
        }
    }

    /// The state of a branch of `allOf`, which is not ratcheted by the value itself, only by its ancestors.
    pub(super) fn branch(self) -> Self {
        Self { own: None, ..self }
    }
}

/// The old item with the keys of this one.
pub(super) fn with_same_keys<'a>(item: &Value, others: &'a [Value], keys: &[String]) -> Option<&'a Value> {
    let scalar = |value: &Value| value.is_boolean() || value.is_number() || value.is_string();
    if keys.is_empty() || !keys.iter().all(|key| item.get(key).is_some_and(scalar)) {
        return None;
    }
    // If several items have the same keys, which only an older schema can have allowed, the first counts.
    others
        .iter()
        .find(|other| keys.iter().all(|key| other.get(key) == item.get(key)))
}

/// Whether two values are equal. The order of lists of type map does not matter. A value with a field that the schema does not specify
/// never equals another, not even itself.
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
