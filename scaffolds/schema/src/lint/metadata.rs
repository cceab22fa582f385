//! The rules of a CustomResourceDefinition's metadata: name, labels and annotations.

use kubewright_machinery::cause::{Cause, Path};
use kubewright_machinery::{
    labels,
    names::{self, Unit},
};
use serde_json::Value;

pub(super) fn check(crd: &Value) -> Vec<Cause> {
    let path = Path::new("metadata");
    let mut causes = names_of(crd, &path);
    let entries = |key: &str| crd["metadata"][key].as_object().cloned().unwrap_or_default();
    causes.extend(labels::labels(&entries("labels"), &path.child("labels")));
    causes.extend(labels::annotations(&entries("annotations"), &path.child("annotations")));
    causes
}

/// Checks the name, and the prefix of a generated one.
fn names_of(crd: &Value, path: &Path) -> Vec<Cause> {
    let text = |pointer: &str| crd.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let wanted = format!("{}.{}", text("/spec/names/plural"), text("/spec/group"));
    let other = |name: &str| (name != wanted).then(|| "must be spec.names.plural+\".\"+spec.group".to_owned());
    let (name, prefix) = (text("/metadata/name"), text("/metadata/generateName"));
    let mut causes = Vec::new();
    if !prefix.is_empty() {
        let errors = names::subdomain(&names::as_prefix(prefix), Unit::Characters).into_iter();
        let invalid = errors.chain(other(prefix));
        causes.extend(invalid.map(|error| path.child("generateName").invalid(prefix, &error)));
    }
    let path = path.child("name");
    if name.is_empty() {
        causes.push(path.required("name or generateName is required"));
        return causes;
    }
    let errors = names::subdomain(name, Unit::Characters).into_iter();
    causes.extend(errors.chain(other(name)).map(|error| path.invalid(name, &error)));
    causes
}
