//! Small edits of objects: sets missing fields, or copies fields from the old object.

use serde_json::{Map, Value, json};

/// The fields of a struct.
pub(in crate::kinds) type Fields = Map<String, Value>;

/// Sets a field that is missing or null.
pub(in crate::kinds) fn set(fields: &mut Fields, name: &str, value: impl Into<Value>) {
    if fields.get(name).is_none_or(Value::is_null) {
        fields.insert(name.to_owned(), value.into());
    }
}

/// Sets a string that is missing or empty.
pub(in crate::kinds) fn set_text(fields: &mut Fields, name: &str, value: &str) {
    if text(fields, name).is_empty() {
        fields.insert(name.to_owned(), json!(value));
    }
}

/// The string in a field; empty if it is missing.
pub(in crate::kinds) fn text<'a>(fields: &'a Fields, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The struct in a field, if it exists.
pub(in crate::kinds) fn within<'a>(fields: &'a mut Fields, name: &str) -> Option<&'a mut Fields> {
    fields.get_mut(name).and_then(Value::as_object_mut)
}

/// The structs of a list.
pub(in crate::kinds) fn each<'a>(fields: &'a mut Fields, name: &str) -> impl Iterator<Item = &'a mut Fields> {
    let items = fields.get_mut(name).and_then(Value::as_array_mut);
    items.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// The struct in a field, which is created if it is missing.
pub(in crate::kinds) fn made<'a>(fields: &'a mut Fields, name: &str) -> Option<&'a mut Fields> {
    set(fields, name, Map::new());
    within(fields, name)
}

/// Brings a field that older clients know in line with the list that replaced it: the field is the first item, or a field `key` of it, and
/// decides if both differ.
pub(in crate::kinds) fn single_from_list(
    object: &mut Value,
    section: &str,
    [single, list]: [&str; 2],
    key: Option<&str>,
) {
    let Some(fields) = object.get_mut(section).and_then(Value::as_object_mut) else {
        return;
    };
    let one = text(fields, single).to_owned();
    let first = fields.get(list).and_then(|all| all.get(0));
    let first = first.and_then(|item| key.map_or(Some(item), |key| item.get(key)));
    let first = first.and_then(Value::as_str).map(str::to_owned);
    let item = |text: &str| key.map_or_else(|| json!(text), |key| json!({key: text}));
    match first {
        Some(first) if one.is_empty() => _ = fields.insert(single.to_owned(), json!(first)),
        first if !one.is_empty() && first.as_ref() != Some(&one) => {
            _ = fields.insert(list.to_owned(), json!([item(&one)]))
        }
        _ => {}
    }
}

/// Sets `status.phase` if it is missing.
pub(in crate::kinds) fn default_phase(object: &mut Fields, value: &str) {
    if let Some(status) = made(object, "status") {
        set_text(status, "phase", value);
    }
}

/// The struct in a field of an object, which is created if it is missing.
pub(in crate::kinds) fn section<'a>(object: &'a mut Value, name: &str) -> Option<&'a mut Fields> {
    object
        .as_object_mut()?
        .entry(name)
        .or_insert_with(|| json!({}))
        .as_object_mut()
}

/// Adds a finalizer by which the server protects objects that Pods may be using.
pub(in crate::kinds) fn add_finalizer(object: &mut Value, name: &str) {
    let Some(metadata) = section(object, "metadata") else {
        return;
    };
    let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
    if let Some(names) = finalizers.as_array_mut()
        && !names.iter().any(|other| other == name)
    {
        names.push(json!(name));
    }
}

/// Copies the field `name` from `old`.
pub(in crate::kinds) fn keep(new: &mut Value, old: &Value, name: &str) {
    let Some(fields) = new.as_object_mut() else { return };
    match old.get(name) {
        Some(value) => _ = fields.insert(name.to_owned(), value.clone()),
        None => _ = fields.remove(name),
    }
}

/// Copies a field of the metadata from `old`.
pub(in crate::kinds) fn keep_metadata(new: &mut Value, old: &Value, name: &str) {
    if let (Some(new), Some(old)) = (new.get_mut("metadata"), old.get("metadata")) {
        keep(new, old, name);
    }
}

/// Copies all fields but those in `free` from `old`.
pub(in crate::kinds) fn keep_all_but(new: &mut Value, old: &Value, free: &[&str]) {
    let names = [&*new, old]
        .into_iter()
        .flat_map(|object| object.as_object().into_iter().flatten());
    let names: Vec<String> = names
        .map(|(name, _)| name.clone())
        .filter(|name| !free.contains(&name.as_str()))
        .collect();
    for name in names {
        keep(new, old, &name);
    }
}
