//! The rules of a CustomResourceDefinition's metadata: name, labels and annotations.

use kubewright_machinery::cause::{Cause, Path};
use kubewright_machinery::{
    labels,
    names::{self, Unit},
};
use serde_json::Value;

pub(super) fn check(crd: &Value) -> Vec<Cause> {
    let path = Path::new("metadata");
    let mut causes = name(crd, &path.child("name"));
    let entries = |key: &str| crd["metadata"][key].as_object().cloned().unwrap_or_default();
    causes.extend(labels::labels(&entries("labels"), &path.child("labels")));
    causes.extend(labels::annotations(&entries("annotations"), &path.child("annotations")));
    causes
}

fn name(crd: &Value, path: &Path) -> Vec<Cause> {
    let text = |pointer: &str| crd.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let name = text("/metadata/name");
    if name.is_empty() {
        return vec![path.required("name or generateName is required")];
    }
    let mut errors = names::subdomain(name, Unit::Characters);
    if name != format!("{}.{}", text("/spec/names/plural"), text("/spec/group")) {
        errors.push("must be spec.names.plural+\".\"+spec.group".to_owned());
    }
    errors.iter().map(|error| path.invalid(name, error)).collect()
}
