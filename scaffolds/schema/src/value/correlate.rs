//! Ratcheting: finds the old value that a new value replaces, and whether they are equal. On update, objections to unchanged values are
//! dropped.

use super::node::{ListType, Node};
use super::number::Numeric;
use kubewright_machinery::go;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A value before the update.
#[derive(Clone, Copy)]
pub(super) struct Old<'a>(pub &'a Value);

/// The items of a list before the update, by key. Only items of lists of type map can be matched.
#[derive(Default)]
pub(super) struct OldItems<'a> {
    keys: &'a [String],
    items: BTreeMap<String, &'a Value>,
}

impl<'a> Old<'a> {
    pub fn field(&self, name: &str) -> Option<Self> {
        self.0.as_object()?.get(name).map(Old)
    }

    pub fn items(&self, node: &'a Node) -> OldItems<'a> {
        let (Value::Array(list), ListType::Map, true) = (self.0, node.list_type, node.has_type("array")) else {
            return OldItems::default();
        };
        let mut items = BTreeMap::new();
        for item in list {
            if let Some(key) = key(item, &node.map_keys) {
                items.entry(key).or_insert(item);
            }
        }
        OldItems {
            keys: &node.map_keys,
            items,
        }
    }

    /// Whether `value` is unchanged. The order of lists of type map does not matter.
    pub fn equals(&self, value: &Value, node: &Node) -> bool {
        match (self.0, value) {
            (Value::Array(old), Value::Array(new)) => old.len() == new.len() && self.equals_list(new, node),
            (Value::Object(old), Value::Object(new)) => {
                old.len() == new.len()
                    && new.iter().all(|(name, value)| {
                        // Fields that the schema does not specify count as changed.
                        match (old.get(name), node.property(name)) {
                            (Some(old), Some(node)) => Old(old).equals(value, node),
                            _ => false,
                        }
                    })
            }
            (old, new) => go::equal(old, new),
        }
    }

    fn equals_list(&self, new: &[Value], node: &Node) -> bool {
        match (node.list_type, &node.items) {
            (ListType::Map, Some(items)) => {
                let old = self.items(node);
                let same = |item: &Value| old.matching(item).is_some_and(|old| old.equals(item, items));
                new.iter().all(same)
            }
            _ => self.0.as_array().is_some_and(|old| go::equal_lists(old, new)),
        }
    }
}

impl<'a> OldItems<'a> {
    pub fn matching(&self, item: &Value) -> Option<Old<'a>> {
        let key = key(item, self.keys)?;
        self.items.get(&key).copied().map(Old)
    }
}

/// The values of all keys, if all exist and are scalars. A single key distinguishes an integer from a float; with several keys, floats
/// are compared to six decimals, as on the server.
fn key(item: &Value, keys: &[String]) -> Option<String> {
    let item = item.as_object().filter(|_| !keys.is_empty())?;
    keys.iter().map(|key| part(item, key, keys.len() == 1)).collect()
}

fn part(item: &Map<String, Value>, key: &str, exact: bool) -> Option<String> {
    match item.get(key)? {
        Value::Bool(flag) => Some(format!("\0{flag}")),
        Value::String(text) => Some(format!("\0{}", go::quote(text))),
        Value::Number(number) => match Numeric::of(number) {
            Numeric::Integer(integer) => Some(format!("\0{integer}")),
            Numeric::Float(float) if exact => Some(format!("\0{float:e}")),
            Numeric::Float(float) => Some(format!("\0{float:.6}")),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
