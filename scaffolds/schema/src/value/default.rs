//! Defaulting: sets defaults, also inside values that were just set by a default.

use super::node::Node;
use serde_json::Value;

pub(super) fn fill(value: &mut Value, node: &Node) {
    match value {
        Value::Object(object) => {
            for (name, property) in &node.properties {
                let Some(default) = &property.default else { continue };
                if object
                    .get(name)
                    .is_none_or(|value| value.is_null() && !property.nullable)
                {
                    object.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in object.iter_mut() {
                if let Some(property) = node.properties.get(name) {
                    fill(value, property);
                } else if let Some(values) = node.additional.schema() {
                    entry(value, values);
                }
            }
        }
        Value::Array(list) => {
            if let Some(items) = &node.items {
                list.iter_mut().for_each(|item| entry(item, items));
            }
        }
        _ => {}
    }
}

/// Sets the default of a list item or a map value that is null.
fn entry(value: &mut Value, node: &Node) {
    if value.is_null()
        && !node.nullable
        && let Some(default) = &node.default
    {
        *value = default.clone();
    }
    fill(value, node);
}
