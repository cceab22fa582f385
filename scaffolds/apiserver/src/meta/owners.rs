//! `ownerReferences`: what they must be, and their duplicates.

use kubewright_schema::{Cause, cause::Path};
use serde_json::Value;

/// What is wrong with a list of owner references.
pub fn validate(references: &[Value], path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut controller: Option<String> = None;
    for reference in references {
        causes.extend(one(reference, path));
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
                causes.push(invalid(path, &format!("[{}]", shown.join(",")), &rule));
            }
        }
    }
    causes
}

fn one(reference: &Value, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    let api_version = text(reference, "apiVersion");
    let (group, version) = group_version(api_version);
    if version.is_empty() {
        causes.push(
            path.child("apiVersion")
                .invalid(api_version, "version must not be empty"),
        );
    }
    for field in ["kind", "name", "uid"] {
        if text(reference, field).is_empty() {
            causes.push(path.child(field).invalid("", "must not be empty"));
        }
    }
    if (group, version, text(reference, "kind")) == ("", "v1", "Event") {
        let rule = "/v1, Kind=Event is disallowed from being an owner";
        causes.push(invalid(path, &show(reference), rule));
    }
    causes
}

/// The group and version of an `apiVersion`; both empty when it is none.
pub fn group_version(api_version: &str) -> (&str, &str) {
    match api_version.split('/').collect::<Vec<_>>().as_slice() {
        [version] => ("", version),
        [group, version] => (group, version),
        _ => ("", ""),
    }
}

/// Takes away references that stand twice, and returns the uids of these.
pub fn dedupe(object: &mut Value) -> Vec<String> {
    let list = object.get_mut("metadata").and_then(|it| it.get_mut("ownerReferences"));
    let Some(list) = list.and_then(Value::as_array_mut) else {
        return Vec::new();
    };
    let mut twice = Vec::new();
    let mut kept: Vec<Value> = Vec::with_capacity(list.len());
    for reference in list.drain(..) {
        if kept.contains(&reference) {
            twice.push(text(&reference, "uid").to_owned());
        } else {
            kept.push(reference);
        }
    }
    *list = kept;
    twice
}

/// As Go writes one: its fields in the order of the struct.
fn show(reference: &Value) -> String {
    const FIELDS: [&str; 6] = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
    let fields = FIELDS
        .iter()
        .filter_map(|field| Some(format!("\"{field}\":{}", reference.get(field)?)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn invalid(path: &Path, shown: &str, rule: &str) -> Cause {
    Cause {
        reason: "FieldValueInvalid",
        field: path.to_string(),
        message: format!("Invalid value: {shown}: {rule}"),
    }
}

fn text<'a>(reference: &'a Value, field: &str) -> &'a str {
    reference.get(field).and_then(Value::as_str).unwrap_or_default()
}
