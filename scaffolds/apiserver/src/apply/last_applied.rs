//! `kubectl.kubernetes.io/last-applied-configuration`, for objects to which kubectl applies on the server after
//! applying on the client: fields that still have the annotation's values may be taken over without force, and the
//! annotation is updated.

use kubewright_machinery::go;
use kubewright_schema::typed::{Duplicates, Schema, validate};
use serde_json::Value;

use super::{compare::compare, conflict::Conflict, error::Error, owned::fields, set::Set};

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The manager name of `kubectl apply --server-side`.
pub(super) const KUBECTL: &str = "kubectl";
/// The server's limit for all annotations of an object, in bytes.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// The conflicts that remain when kubectl applies; `None` if the apply may be forced.
pub(super) fn without_allowed(schema: &Schema, live: &Value, conflicts: Vec<Conflict>) -> Option<Error> {
    let Some(allowed) = allowed(schema, live) else {
        return Some(Error::Conflict(conflicts));
    };
    let left: Vec<_> = conflicts.into_iter().filter(|it| !allowed.has(&it.path)).collect();
    (!left.is_empty()).then_some(Error::Conflict(left))
}

/// The fields of the annotation that have the same values in `live`.
fn allowed(schema: &Schema, live: &Value) -> Option<Set> {
    let last: Value = serde_json::from_str(annotation(live)?).ok()?;
    if last.get("apiVersion")? != live.get("apiVersion")? || last.get("kind")? != live.get("kind")? {
        return None;
    }
    let fits = |it: &Value| validate(schema, it, Duplicates::Refused).is_empty();
    if !fits(live) || !fits(&last) {
        return None;
    }
    let difference = compare(schema, &last, live).ok()?;
    Some(
        fields(schema, &last)
            .difference(&difference.changed())
            .difference(&difference.removed),
    )
}

/// Updates the annotation, if the object has it.
pub(super) fn follow(object: &mut Value, applied: &Value) {
    if annotation(object).is_none() {
        return;
    }
    let mut applied = applied.clone();
    if let Some(annotations) = annotations(&mut applied) {
        annotations.remove(ANNOTATION);
    }
    let text = go::json(&applied) + "\n";
    let Some(annotations) = annotations(object) else { return };
    annotations.insert(ANNOTATION.to_owned(), text.into());
    let size: usize = annotations
        .iter()
        .map(|(key, it)| key.len() + it.as_str().map_or(0, str::len))
        .sum();
    if size > MAX_ANNOTATIONS {
        annotations.remove(ANNOTATION);
    }
}

fn annotation(object: &Value) -> Option<&str> {
    let text = object.get("metadata")?.get("annotations")?.get(ANNOTATION)?.as_str()?;
    (!text.is_empty()).then_some(text)
}

fn annotations(object: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    object.get_mut("metadata")?.get_mut("annotations")?.as_object_mut()
}
