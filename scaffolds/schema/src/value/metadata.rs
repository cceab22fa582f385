//! Rules for the ObjectMeta of a resource inside of another. The resource may be of any kind, so its name only has to fit
//! into a path, and its namespace may be missing.

use kubewright_machinery::cause::{Cause, Path};
use kubewright_machinery::{
    go,
    names::{self, Unit},
    object_meta::{self, finalizers},
};
use serde_json::{Map, Value};

/// (k8s.io/apimachinery, pkg/apis/meta/v1/validation/validation.go.)
const LONGEST_MANAGER: usize = 128;
const LONGEST_SUBRESOURCE: usize = 256;

type Object = Map<String, Value>;

pub(super) fn check(metadata: &Value, path: &Path, causes: &mut Vec<Cause>) {
    let Value::Object(meta) = metadata else { return };
    for key in ["generateName", "name"] {
        let name = text(meta, key);
        let errors = names::path_segment(name, key == "generateName");
        causes.extend(errors.iter().map(|error| path.child(key).invalid(name, error)));
    }
    let namespace = text(meta, "namespace");
    if !namespace.is_empty() {
        let at = path.child("namespace");
        causes.extend(
            names::label(namespace, Unit::Characters)
                .iter()
                .map(|error| at.invalid(namespace, error)),
        );
    }
    causes.extend(object_meta::generation(meta, path));
    causes.extend(object_meta::changeable(meta, path));
    let names: Vec<&str> = list(meta, "finalizers").iter().filter_map(Value::as_str).collect();
    causes.extend(finalizers::check(&names, &path.child("finalizers")));
    for (index, entry) in list(meta, "managedFields").iter().enumerate() {
        if let Value::Object(entry) = entry {
            manager(entry, &path.child("managedFields").index(index), causes);
        }
    }
}

fn text<'a>(object: &'a Object, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(object: &'a Object, key: &str) -> &'a [Value] {
    object.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn manager(entry: &Object, path: &Path, causes: &mut Vec<Cause>) {
    let (operation, kind) = (text(entry, "operation"), text(entry, "fieldsType"));
    let at = path.child("operation");
    match operation {
        "Apply" | "Update" => {}
        "" => causes.push(at.required("must not be empty")),
        other => causes.push(at.unsupported(other, &["Apply", "Update"])),
    }
    if !["", "FieldsV1"].contains(&kind) {
        causes.push(path.child("fieldsType").invalid(kind, "must be `FieldsV1`"));
    }
    let (at, manager) = (path.child("manager"), text(entry, "manager"));
    if manager.len() > LONGEST_MANAGER {
        causes.push(at.too_long(LONGEST_MANAGER));
    }
    for (position, c) in manager.char_indices().filter(|(_, c)| !go::printable(*c)) {
        let detail = format!("invalid character U+{:04X} (at position {position})", u32::from(c));
        causes.push(at.invalid(manager, &detail));
    }
    if text(entry, "subresource").len() > LONGEST_SUBRESOURCE {
        causes.push(path.child("subresource").too_long(LONGEST_SUBRESOURCE));
    }
}
