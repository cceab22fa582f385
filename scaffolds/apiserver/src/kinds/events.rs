//! Events of `events.k8s.io/v1` are those of the core group under other names; the core ones are what is stored.

use serde_json::{Value, json};

/// Names in events.k8s.io and in the core group.
const NAMES: [(&str, &str); 7] = [
    ("regarding", "involvedObject"),
    ("note", "message"),
    ("reportingController", "reportingComponent"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
];

/// What may be selected by, with the names of this group.
pub(super) const FIELDS: &[(&str, &str, &str)] = &[
    ("reason", "/reason", ""),
    ("type", "/type", ""),
    ("regarding.kind", "/regarding/kind", ""),
    ("regarding.namespace", "/regarding/namespace", ""),
    ("regarding.name", "/regarding/name", ""),
    ("regarding.uid", "/regarding/uid", ""),
    ("regarding.apiVersion", "/regarding/apiVersion", ""),
    ("regarding.resourceVersion", "/regarding/resourceVersion", ""),
    ("regarding.fieldPath", "/regarding/fieldPath", ""),
    ("reportingController", "/reportingController", ""),
];

pub(super) fn to_core(object: &mut Value) {
    rename(object, "v1", |(new, old)| (new, old));
    // The core kind always writes these two.
    if let Some(fields) = object.as_object_mut() {
        for name in ["reportingComponent", "reportingInstance"] {
            fields.entry(name).or_insert_with(|| json!(""));
        }
    }
}

pub(super) fn from_core(object: &mut Value) {
    rename(object, "events.k8s.io/v1", |(new, old)| (old, new));
    if let Some(fields) = object.as_object_mut() {
        for name in ["reportingController", "reportingInstance"] {
            if fields.get(name).and_then(Value::as_str) == Some("") {
                fields.remove(name);
            }
        }
    }
}

fn rename(
    object: &mut Value,
    version: &str,
    direction: fn((&'static str, &'static str)) -> (&'static str, &'static str),
) {
    let Some(fields) = object.as_object_mut() else { return };
    fields.insert("apiVersion".to_owned(), json!(version));
    for (from, to) in NAMES.map(direction) {
        if let Some(value) = fields.remove(from) {
            fields.insert(to.to_owned(), value);
        }
    }
}
