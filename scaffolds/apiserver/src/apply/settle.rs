//! A write that changes nothing must not be seen as one only because managedFields say that it was now.

use serde_json::Value;

/// Takes the times of `live`'s entries over into `new` when nothing else differs between the two. Meant for the very
/// object that would be stored, beside the one that is.
pub fn keep_times(live: &Value, new: &mut Value) {
    if timeless(live) != timeless(new) {
        return;
    }
    let before = live.get("metadata").and_then(|it| it.get("managedFields")).cloned();
    let metadata = new.get_mut("metadata").and_then(Value::as_object_mut);
    if let (Some(before), Some(metadata)) = (before, metadata) {
        metadata.insert("managedFields".to_owned(), before);
    }
}

fn timeless(object: &Value) -> Value {
    let mut object = object.clone();
    let entries = object
        .get_mut("metadata")
        .and_then(|it| it.get_mut("managedFields"))
        .and_then(Value::as_array_mut);
    for entry in entries.into_iter().flatten().filter_map(Value::as_object_mut) {
        entry.remove("time");
    }
    object
}
