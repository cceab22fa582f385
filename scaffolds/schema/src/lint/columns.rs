//! The rules of printer columns and of the scale subresource, which both contain JSON paths.

use kubewright_machinery::cause::{Cause, Path};
use serde_json::Value;

const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const FORMATS: [&str; 8] = [
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
];

/// Checks one of `additionalPrinterColumns`.
pub(super) fn check(column: &Value, path: &Path) -> Vec<Cause> {
    let text = |key: &str| column[key].as_str().unwrap_or_default();
    let mut causes = Vec::new();
    if text("name").is_empty() {
        causes.push(path.child("name").required(""));
    }
    let types = format!("must be one of {}", TYPES.join(","));
    match text("type") {
        "" => causes.push(path.child("type").required(&types)),
        known if TYPES.contains(&known) => {}
        other => causes.push(path.child("type").invalid(other, &types)),
    }
    match text("format") {
        "" => {}
        known if FORMATS.contains(&known) => {}
        other => {
            let formats = format!("must be one of {}", FORMATS.join(","));
            causes.push(path.child("format").invalid(other, &formats));
        }
    }
    // The server's name of the field; in the manifest it is `jsonPath`.
    let at = path.child("JSONPath");
    match text("jsonPath") {
        "" => causes.push(at.required("")),
        json_path => causes.extend(simple_path(json_path, &at)),
    }
    causes
}

/// Checks `subresources.scale`.
pub(super) fn scale(scale: &Value, path: &Path) -> Vec<Cause> {
    if !scale.is_object() {
        return Vec::new();
    }
    let mut causes = Vec::new();
    for (key, parent) in [("specReplicasPath", ".spec"), ("statusReplicasPath", ".status")] {
        let at = path.child("scale").child(key);
        match scale[key].as_str().unwrap_or_default() {
            "" => causes.push(at.required("")),
            json_path => causes.extend(simple_path(json_path, &at).or_else(|| {
                let below = json_path.strip_prefix(parent).is_some_and(|rest| rest.starts_with('.'));
                (!below).then(|| at.invalid(json_path, &format!("should be a json path under {parent}")))
            })),
        }
    }
    let at = path.child("scale").child("labelSelectorPath");
    if let Some(json_path) = scale["labelSelectorPath"].as_str().filter(|it| !it.is_empty()) {
        let below = json_path.starts_with(".spec.") || json_path.starts_with(".status.");
        causes.extend(simple_path(json_path, &at).or_else(|| {
            (!below).then(|| at.invalid(json_path, "should be a json path under either .spec or .status"))
        }));
    }
    causes
}

fn simple_path(json_path: &str, path: &Path) -> Option<Cause> {
    (!json_path.starts_with('.')).then(|| path.invalid(json_path, "must be a simple json path starting with ."))
}
