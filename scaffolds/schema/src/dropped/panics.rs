//! Finds the field that made kube-derive panic, because the panic's message does not name it.

use serde_json::{Map, Value};

/// The field that caused the panic; empty if it cannot be found in the schema.
pub(crate) fn place(panic: &str, schema: &Value) -> String {
    let mut found = None;
    let property = panic.split('"').nth(1).unwrap_or_default();
    super::walk(schema, String::new(), &mut |node, field| {
        let caused = if panic.starts_with("Property") {
            shares(node, property)
        } else if panic.starts_with("Enum variant set") || panic.starts_with("variant defined type") {
            mixes(node)
        } else {
            false
        };
        if caused && found.is_none() {
            found = Some(field.to_owned());
        }
    });
    found.unwrap_or_default()
}

fn branches(node: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    ["oneOf", "anyOf"]
        .into_iter()
        .flat_map(|key| super::one_or_many(node.get(key)))
}

/// Whether two variants describe a property differently.
fn shares(node: &Map<String, Value>, property: &str) -> bool {
    let mut all = branches(node).filter_map(|branch| branch["properties"].get(property));
    let own = node.get("properties").and_then(|own| own.get(property));
    let Some(first) = own.or_else(|| all.next()) else {
        return false;
    };
    all.any(|other| other != first)
}

/// Whether the variants and the schema that holds them have different types.
fn mixes(node: &Map<String, Value>) -> bool {
    let mut types = branches(node)
        .filter_map(|branch| branch.get("type"))
        .chain(node.get("type"));
    let Some(first) = types.next() else { return false };
    types.any(|other| other != first)
}
