//! Pruning: drops unknown fields, and nulls that the schema does not allow.

use super::node::Node;
use serde_json::{Map, Value};
use std::fmt::Write;

const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Drops unknown fields of a resource, and returns their paths, sorted.
pub(super) fn unknown_fields(object: &mut Value, root: &Node) -> Vec<String> {
    let mut pruner = Pruner::default();
    if let Value::Object(object) = object {
        pruner.fields(
            object,
            root,
            Within {
                resource: true,
                keeps: root.preserve,
            },
        );
    }
    pruner.unknown.sort();
    pruner.unknown
}

/// Drops unknown fields from any value.
pub(super) fn unknown_in(value: &mut Value, node: &Node) {
    Pruner::default().value(value, Some(node));
}

#[derive(Default)]
struct Pruner {
    /// The path of the current value.
    path: String,
    unknown: Vec<String>,
}

/// The object that contains a field.
#[derive(Clone, Copy)]
struct Within {
    /// Whether it is a resource, with `metadata`.
    resource: bool,
    /// Whether unknown fields are preserved.
    keeps: bool,
}

impl Pruner {
    fn value(&mut self, value: &mut Value, node: Option<&Node>) {
        match (value, node) {
            (value, Some(node)) if node.preserve => self.preserved(value, node),
            (Value::Object(object), Some(node)) => self.fields(
                object,
                node,
                Within {
                    resource: node.embedded,
                    keeps: false,
                },
            ),
            (Value::Object(object), None) => {
                for name in std::mem::take(object).keys() {
                    self.at_key(name, |this| this.unknown.push(this.path.clone()));
                }
            }
            (Value::Array(list), node) => {
                let items = node.and_then(|node| node.items.as_deref());
                for (index, item) in list.iter_mut().enumerate() {
                    self.at_index(index, |this| this.value(item, items));
                }
            }
            _ => {}
        }
    }

    fn fields(&mut self, object: &mut Map<String, Value>, node: &Node, within: Within) {
        object.retain(|name, value| {
            if within.resource && META.contains(&name.as_str()) {
                return true;
            }
            let known = self.known(name, value, node) || within.keeps;
            if !known {
                self.at_key(name, |this| this.unknown.push(this.path.clone()));
            }
            known
        });
    }

    /// Prunes the value of a known field. With `additionalProperties: true`, every field is known, but has no schema by which its value
    /// could be pruned.
    fn known(&mut self, name: &str, value: &mut Value, node: &Node) -> bool {
        let known = node.properties.contains_key(name) || node.additional.is_specified();
        if known {
            self.at_key(name, |this| this.value(value, node.property(name)));
        }
        known
    }

    /// Prunes inside a value whose unknown fields are preserved: only the values of known fields are pruned, also in the items of a list.
    fn preserved(&mut self, value: &mut Value, node: &Node) {
        match (value, &node.items) {
            (Value::Object(object), _) => self.fields(
                object,
                node,
                Within {
                    resource: node.embedded,
                    keeps: true,
                },
            ),
            (Value::Array(list), Some(items)) => {
                for (index, item) in list.iter_mut().enumerate() {
                    self.at_index(index, |this| this.preserved(item, items));
                }
            }
            _ => {}
        }
    }

    fn at_key(&mut self, name: &str, then: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        then(self);
        self.path.truncate(length);
    }

    fn at_index(&mut self, index: usize, then: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        // Writing to a string cannot fail.
        _ = write!(self.path, "[{index}]");
        then(self);
        self.path.truncate(length);
    }
}

/// Drops nulls from objects where the schema neither allows them nor has a default.
pub(super) fn nulls(value: &mut Value, node: &Node) {
    match value {
        Value::Object(object) => object.retain(|name, value| match node.property(name) {
            Some(node) if value.is_null() => node.nullable || node.default.is_some(),
            Some(node) => {
                nulls(value, node);
                true
            }
            None => true,
        }),
        Value::Array(list) => {
            if let Some(items) = &node.items {
                list.iter_mut().for_each(|item| nulls(item, items));
            }
        }
        _ => {}
    }
}
