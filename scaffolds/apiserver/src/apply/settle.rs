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

/// Whether two objects are equal, ignoring their managedFields.
pub fn have_equal_fields(one: &Value, other: &Value) -> bool {
    equal_but_managed(one, other, &|_, _| true)
}

/// Whether two objects are equal, ignoring the times in their managedFields.
fn same_but_times(live: &Value, new: &Value) -> bool {
    equal_but_managed(live, new, &|live, new| match (live, new) {
        (Some(Value::Array(live)), Some(Value::Array(new))) => {
            live.len() == new.len() && live.iter().zip(new).all(|(live, new)| same_entry(live, new))
        }
        (live, new) => live == new,
    })
}

/// Whether two values of a field are equal; `None` if it is absent.
type Equal<'a> = &'a dyn Fn(Option<&Value>, Option<&Value>) -> bool;

/// Whether two objects are equal, if `entries` compares their managedFields.
fn equal_but_managed(one: &Value, other: &Value, entries: Equal<'_>) -> bool {
    equal_but(Some(one), Some(other), "metadata", &|one, other| {
        equal_but(one, other, "managedFields", entries)
    })
}

/// Whether two objects are equal, if `below` compares this field.
fn equal_but(one: Option<&Value>, other: Option<&Value>, field: &str, below: Equal<'_>) -> bool {
    let (Some(Value::Object(one)), Some(Value::Object(other))) = (one, other) else {
        return one == other;
    };
    let rest = |map| Map::iter(map).filter(|(name, _)| *name != field);
    rest(one).count() == rest(other).count()
        && rest(one).all(|(name, value)| other.get(name) == Some(value))
        && below(one.get(field), other.get(field))
}

fn same_entry(live: &Value, new: &Value) -> bool {
    let (Some(live), Some(new)) = (live.as_object(), new.as_object()) else {
        return live == new;
    };
    let timeless = |entry: &Map<String, Value>| entry.len() - usize::from(entry.contains_key("time"));
    let mut rest = live.iter().filter(|(name, _)| *name != "time");
    timeless(live) == timeless(new) && rest.all(|(name, value)| new.get(name) == Some(value))
}
