//! What an ObjectMeta must be, wherever it stands. The resource may be of any kind, so that its name is only asked to fit
//! into a path, and its namespace may be missing.

use crate::cause::{Cause, Path};
use crate::go;
use crate::lint::{metadata, names};
use serde_json::{Map, Value};

/// (k8s.io/apimachinery, pkg/apis/meta/v1/validation/validation.go.)
const LONGEST_MANAGER: usize = 128;
const LONGEST_SUBRESOURCE: usize = 256;

type Object = Map<String, Value>;

pub(in crate::value) fn check(metadata: &Value, path: &Path, causes: &mut Vec<Cause>) {
    let Value::Object(meta) = metadata else { return };
    let empty = Map::new();
    let map = |key: &str| meta.get(key).and_then(Value::as_object).unwrap_or(&empty);
    for key in ["generateName", "name"] {
        let name = text(meta, key);
        let errors = segment(name, key == "generateName");
        causes.extend(errors.iter().map(|error| path.child(key).invalid(name, error)));
    }
    let namespace = text(meta, "namespace");
    if !namespace.is_empty() {
        let at = path.child("namespace");
        causes.extend(
            names::label_1123(namespace)
                .iter()
                .map(|error| at.invalid(namespace, error)),
        );
    }
    if let Some(generation) = meta.get("generation").and_then(Value::as_i64).filter(|it| *it < 0) {
        let at = path.child("generation");
        causes.push(at.invalid(generation, "must be greater than or equal to 0"));
    }
    causes.extend(metadata::labels(map("labels"), &path.child("labels")));
    causes.extend(metadata::annotations(map("annotations"), &path.child("annotations")));
    owners(list(meta, "ownerReferences"), &path.child("ownerReferences"), causes);
    finalizers(list(meta, "finalizers"), &path.child("finalizers"), causes);
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

/// What keeps a name, or the beginning of one, from being a part of a path.
fn segment(name: &str, prefix: bool) -> Vec<String> {
    if !prefix && (name == "." || name == "..") {
        return vec![format!("may not be '{name}'")];
    }
    let found = ["/", "%"].into_iter().filter(|mark| name.contains(mark));
    found.map(|mark| format!("may not contain '{mark}'")).collect()
}

fn owners(owners: &[Value], path: &Path, causes: &mut Vec<Cause>) {
    let mut controller: Option<String> = None;
    for owner in owners.iter().filter_map(Value::as_object) {
        let (api_version, kind, name) = (text(owner, "apiVersion"), text(owner, "kind"), text(owner, "name"));
        let version = match api_version.matches('/').count() {
            0 => api_version,
            1 => api_version.split_once('/').map_or("", |(_, version)| version),
            _ => "",
        };
        if version.is_empty() {
            causes.push(
                path.child("apiVersion")
                    .invalid(api_version, "version must not be empty"),
            );
        }
        for key in ["kind", "name", "uid"] {
            if text(owner, key).is_empty() {
                causes.push(path.child(key).invalid("", "must not be empty"));
            }
        }
        if (api_version, kind) == ("v1", "Event") {
            let detail = "/v1, Kind=Event is disallowed from being an owner";
            causes.push(path.invalid_shown(&shown(owner), detail));
        }
        if owner.get("controller") != Some(&Value::Bool(true)) {
            continue;
        }
        let this = format!("{kind}/{name}");
        if let Some(first) = &controller {
            let all: Vec<String> = owners.iter().filter_map(Value::as_object).map(shown).collect();
            let detail = format!(
                "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
            );
            causes.push(path.invalid_shown(&format!("[{}]", all.join(",")), &detail));
        } else {
            controller = Some(this);
        }
    }
}

/// An owner as Go writes it, in the order of its fields.
fn shown(owner: &Object) -> String {
    let fields = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
    let field = |key: &&str| Some(format!("{}:{}", go::quote(key), go::json(owner.get(*key)?)));
    format!("{{{}}}", fields.iter().filter_map(field).collect::<Vec<_>>().join(","))
}

fn finalizers(finalizers: &[Value], path: &Path, causes: &mut Vec<Cause>) {
    for finalizer in finalizers.iter().filter_map(Value::as_str) {
        let errors = metadata::key_errors(finalizer);
        causes.extend(errors.iter().map(|error| path.invalid(finalizer, error)));
    }
    let has = |name: &str| finalizers.iter().any(|it| it == name);
    if has("orphan") && has("foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        causes.push(path.invalid(finalizers.to_vec(), detail));
    }
}

fn manager(entry: &Object, path: &Path, causes: &mut Vec<Cause>) {
    let (operation, kind) = (text(entry, "operation"), text(entry, "fieldsType"));
    if !["Apply", "Update"].contains(&operation) {
        causes.push(
            path.child("operation")
                .invalid(operation, "must be `Apply` or `Update`"),
        );
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
