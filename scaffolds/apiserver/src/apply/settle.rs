//! Recognises writes without changes, whose managedFields would differ from the stored ones only in their times.

use serde_json::{Map, Value};

/// Copies the times of `live`'s entries to `new` if nothing else differs. `new` must be exactly the object that would
/// be stored, and `live` the one that is.
pub fn keep_times(live: &Value, new: &mut Value) {
    if !same_but_times(live, new) {
        return;
    }
    let before = live.get("metadata").and_then(|it| it.get("managedFields")).cloned();
    let metadata = new.get_mut("metadata").and_then(Value::as_object_mut);
    if let (Some(before), Some(metadata)) = (before, metadata) {
        metadata.insert("managedFields".to_owned(), before);
    }
}

/// Whether two objects are equal, ignoring the times in their managedFields.
fn same_but_times(live: &Value, new: &Value) -> bool {
    let equal = |live: &Value, new: &Value, field: &str, below: &dyn Fn(&Value, &Value) -> bool| match (live, new) {
        (Value::Object(live), Value::Object(new)) => {
            live.len() == new.len()
                && live.iter().all(|(name, live)| {
                    let new = new.get(name);
                    new.is_some_and(|new| live == new || (name == field && below(live, new)))
                })
        }
        _ => live == new,
    };
    let entries = |live: &Value, new: &Value| match (live, new) {
        (Value::Array(live), Value::Array(new)) => {
            live.len() == new.len() && live.iter().zip(new).all(|(live, new)| same_entry(live, new))
        }
        _ => false,
    };
    equal(live, new, "metadata", &|live, new| {
        equal(live, new, "managedFields", &entries)
    })
}

fn same_entry(live: &Value, new: &Value) -> bool {
    let (Some(live), Some(new)) = (live.as_object(), new.as_object()) else {
        return live == new;
    };
    let timeless = |entry: &Map<String, Value>| entry.len() - usize::from(entry.contains_key("time"));
    let mut rest = live.iter().filter(|(name, _)| *name != "time");
    timeless(live) == timeless(new) && rest.all(|(name, value)| new.get(name) == Some(value))
}
