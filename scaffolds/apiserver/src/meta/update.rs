//! The errors in a change of metadata.

use kubewright_machinery::{Cause, cause::Path, object_meta};
use serde_json::Value;

use super::{finalizers, is_deleting, of, text, texts};

/// The immutable fields, in the order of the server's objections.
const IMMUTABLE: [&str; 6] = [
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
];

/// The rules of changes, and once more those of what may be changed.
pub fn update(new: &Value, old: &Value) -> Vec<Cause> {
    let path = Path::new("metadata");
    let mut causes = Vec::new();
    if is_deleting(old) {
        let (new, old) = (texts(new, "finalizers"), texts(old, "finalizers"));
        causes.extend(finalizers::no_new(&new, &old, &path.child("finalizers")));
    }
    if text(new, "resourceVersion").is_empty() {
        let at = path.child("resourceVersion");
        causes.push(at.invalid("", "must be specified for an update"));
    }
    causes.extend(object_meta::generation(of(new), &path));
    for field in IMMUTABLE {
        let (now, before) = (of(new).get(field), of(old).get(field));
        if now != before {
            let shown = now.cloned().unwrap_or(Value::Null);
            causes.push(path.child(field).invalid(shown, "field is immutable"));
        }
    }
    causes.extend(object_meta::changeable(of(new), &path));
    causes
}
