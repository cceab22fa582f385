//! `ownerReferences` of any object.

use crate::cause::{Cause, Path};
use crate::{go, names::group_version};
use serde_json::Value;

/// The errors in the owner references of an object.
pub fn check(references: &[Value], path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut controller: Option<String> = None;
    for (index, reference) in references.iter().enumerate() {
        causes.extend(one(reference, &path.index(index)));
        if reference.get("controller") != Some(&Value::Bool(true)) {
            continue;
        }
        let this = format!("{}/{}", text(reference, "kind"), text(reference, "name"));
        match &controller {
            None => controller = Some(this),
            Some(first) => {
                let shown: Vec<String> = references.iter().map(show).collect();
                let rule = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
                );
                causes.push(path.invalid_shown(&format!("[{}]", shown.join(",")), &rule));
            }
        }
    }
    causes
}

fn one(reference: &Value, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    let api_version = text(reference, "apiVersion");
    let (group, version) = group_version(api_version);
    if !api_version.is_empty() && version.is_empty() {
        let at = path.child("apiVersion");
        causes.push(at.invalid(api_version, "must be <group>/<version> or <version>"));
    }
    for field in ["apiVersion", "kind", "name", "uid"] {
        if text(reference, field).is_empty() {
            causes.push(path.child(field).required("must not be empty"));
        }
    }
    if (group, version, text(reference, "kind")) == ("", "v1", "Event") {
        let rule = "/v1, Kind=Event is disallowed from being an owner";
        causes.push(path.invalid_shown(&show(reference), rule));
    }
    causes
}

/// As Go writes one: its fields in the order of the struct.
fn show(reference: &Value) -> String {
    const FIELDS: [&str; 6] = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
    let field = |key: &&str| Some(format!("\"{key}\":{}", go::json(reference.get(*key)?)));
    format!("{{{}}}", FIELDS.iter().filter_map(field).collect::<Vec<_>>().join(","))
}

fn text<'a>(reference: &'a Value, field: &str) -> &'a str {
    reference.get(field).and_then(Value::as_str).unwrap_or_default()
}
