//! Sorts the Rust sets in defaults and examples. A `HashSet` is written in another order by each process, and would change the CRD each time.

use std::cmp::Ordering;

use serde_json::Value;

use super::close::values;
use crate::embedded::Types;

/// Sorts the sets in the defaults of a schema. `written` is the schema of its Rust type, which alone has sets also where the author wants
/// another kind of list.
pub(super) fn sort(schema: &mut Value, types: Types<'_>, written: &Value) {
    for keyword in ["default", "example"] {
        if let Some(value) = schema.get_mut(keyword) {
            sort_sets(value, types, written);
        }
    }
    let (name, written) = types.resolve(written);
    if name.is_some_and(Types::is_of_kubernetes) {
        return;
    }
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, field) in fields.into_iter().flatten() {
        if let Some(written) = types.property(written, name) {
            sort(field, types, written);
        }
    }
    for (key, written) in [("items", &written["items"]), ("additionalProperties", values(written))] {
        if let Some(below) = schema.get_mut(key) {
            sort(below, types, written);
        }
    }
}

fn sort_sets(value: &mut Value, types: Types<'_>, written: &Value) {
    let own = written;
    let (_, written) = types.resolve(written);
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let field = types.property(written, name);
                sort_sets(value, types, field.unwrap_or_else(|| values(written)));
            }
        }
        Value::Array(items) => {
            for item in &mut *items {
                sort_sets(item, types, &written["items"]);
            }
            if [own, written].iter().any(|it| it["uniqueItems"] == true) {
                items.sort_by(compare);
            }
        }
        _ => {}
    }
}

/// In the order in which a `BTreeSet` has numbers and texts.
fn compare(one: &Value, other: &Value) -> Ordering {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let by_text = || text(one).cmp(&text(other));
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other).then_with(by_text),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => by_text(),
    }
}
