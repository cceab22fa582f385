//! Warnings about finalizers whose names other writers may use as well.

use kubewright_machinery::go;
use serde_json::Value;

/// Kubernetes' own finalizers, which have no domain.
const STANDARD: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];

/// A warning, by name, for each finalizer of `new` that `old` does not have and that is not of the form `domain/name`.
pub(super) fn warnings(new: &Value, old: &Value) -> Vec<String> {
    let had = finalizers(old);
    let mut added: Vec<&str> = finalizers(new).into_iter().filter(|it| !had.contains(it)).collect();
    added.sort_unstable();
    added.dedup();
    added.into_iter().filter_map(warning).collect()
}

fn finalizers(object: &Value) -> Vec<&str> {
    let list = object["metadata"]["finalizers"].as_array();
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn warning(finalizer: &str) -> Option<String> {
    if finalizer.contains('/') || STANDARD.contains(&finalizer) {
        return None;
    }
    let path = if finalizer.contains('.') {
        " including a path (/)"
    } else {
        ""
    };
    Some(format!(
        "metadata.finalizers: {}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other \
         finalizer writers",
        go::quote(finalizer)
    ))
}
