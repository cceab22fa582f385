//! Embedded resources: checks of their `apiVersion`, `kind` and `metadata` that the schema does not contain.

use super::metadata;
use super::node::Node;
use kubewright_machinery::cause::{Cause, Path};
use kubewright_machinery::names::{self, Unit};
use kubewright_machinery::object_meta;
use serde_json::{Map, Value};

/// Decodes the metadata of every resource in `value` as ObjectMeta, and encodes it again. Drops unknown fields and returns their paths.
///
/// # Errors
/// The first value of a wrong type.
pub(super) fn coerce(value: &mut Value, node: &Node, path: &Path) -> Result<Vec<String>, Cause> {
    let mut unknown = Vec::new();
    walk(value, node, path, &mut |resource, path| {
        unknown.extend(read(resource, path)?);
        Ok(())
    })?;
    unknown.sort();
    Ok(unknown)
}

/// As [`coerce`], but drops what is of a wrong type.
pub(super) fn repair(value: &mut Value, node: &Node) {
    // The function that repairs one resource does not fail.
    let _ = walk(value, node, &Path::root(), &mut |resource, _| {
        mend(resource);
        Ok(())
    });
}

fn mend(resource: &mut Map<String, Value>) {
    resource.retain(|name, value| value.is_string() || !["apiVersion", "kind"].contains(&name.as_str()));
    let Some(metadata) = resource.get_mut("metadata") else {
        return;
    };
    let is_readable =
        |name: &String, value: &Value| object_meta::decode(&serde_json::json!({ name: value }), "").is_ok();
    match object_meta::decode(metadata, "") {
        Ok(decoded) => *metadata = decoded.metadata,
        Err(_) => {
            if let Value::Object(fields) = metadata {
                fields.retain(|name, value| is_readable(name, value));
            }
            if let Ok(decoded) = object_meta::decode(metadata, "") {
                *metadata = decoded.metadata;
            }
        }
    }
}

/// Decodes a resource at a path.
type Each<'e> = dyn FnMut(&mut Map<String, Value>, &Path) -> Result<(), Cause> + 'e;

fn walk(value: &mut Value, node: &Node, path: &Path, each: &mut Each<'_>) -> Result<(), Cause> {
    if !node.has_resources {
        return Ok(());
    }
    match value {
        Value::Object(object) => {
            if node.embedded {
                each(object, path)?;
            }
            for (name, value) in object {
                if let Some(property) = node.properties.get(name) {
                    walk(value, property, &path.child(name), each)?;
                } else if let Some(values) = node.additional.schema() {
                    walk(value, values, &path.key(name), each)?;
                }
            }
        }
        Value::Array(list) => {
            if let Some(items) = &node.items {
                for (index, item) in list.iter_mut().enumerate() {
                    walk(item, items, &path.index(index), each)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn read(resource: &mut Map<String, Value>, path: &Path) -> Result<Vec<String>, Cause> {
    for name in ["apiVersion", "kind"] {
        if let Some(value) = resource.get(name).filter(|value| !value.is_string()) {
            return Err(path.child(name).invalid(value.clone(), "must be a string"));
        }
    }
    let Some(metadata) = resource.get_mut("metadata") else {
        return Ok(Vec::new());
    };
    let path = path.child("metadata");
    match object_meta::decode(metadata, "") {
        Ok(decoded) => {
            *metadata = decoded.metadata;
            Ok(decoded
                .unknown
                .iter()
                .map(|field| path.child(field).to_string())
                .collect())
        }
        Err(error) => Err(path.invalid(metadata.clone(), &error)),
    }
}

/// Validates the resources in `value`, after [`coerce`].
pub(super) fn check(value: &Value, node: &Node, path: &Path, causes: &mut Vec<Cause>) {
    if !node.has_resources {
        return;
    }
    match value {
        Value::Object(object) => {
            if node.embedded {
                resource(object, path, causes);
            }
            for (name, value) in object {
                if let Some(property) = node.properties.get(name) {
                    check(value, property, &path.child(name), causes);
                } else if let Some(values) = node.additional.schema() {
                    check(value, values, &path.key(name), causes);
                }
            }
        }
        Value::Array(list) => {
            if let Some(items) = &node.items {
                for (index, item) in list.iter().enumerate() {
                    check(item, items, &path.index(index), causes);
                }
            }
        }
        _ => {}
    }
}

fn resource(object: &Map<String, Value>, path: &Path, causes: &mut Vec<Cause>) {
    for name in ["apiVersion", "kind"] {
        let at = path.child(name);
        match object.get(name) {
            None => causes.push(at.required("")),
            Some(Value::String(text)) if text.is_empty() => causes.push(at.invalid("", "must not be empty")),
            Some(Value::String(text)) if name == "kind" => {
                let errors = names::label_1035(&text.to_lowercase(), Unit::Characters);
                if !errors.is_empty() {
                    let detail = format!("may have mixed case, but should otherwise match: {}", errors.join(","));
                    causes.push(at.invalid(text.as_str(), &detail));
                }
            }
            Some(Value::String(text)) => {
                if names::is_malformed_group_version(text) {
                    causes.push(at.invalid(text.as_str(), &format!("unexpected GroupVersion string: {text}")));
                }
            }
            Some(other) => causes.push(at.invalid(other.clone(), "must be a string")),
        }
    }
    if let Some(found) = object.get("metadata") {
        metadata::check(found, &path.child("metadata"), causes);
    }
}
