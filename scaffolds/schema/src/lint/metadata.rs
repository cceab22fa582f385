//! The metadata of a CustomResourceDefinition: its name, labels and annotations.

use super::names;
use crate::cause::{Cause, Path};
use serde_json::{Map, Value};

const KEY: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric \
    character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
    start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation \
    is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// Names and values of labels (k8s.io/apimachinery, pkg/api/validate/content/kube.go).
const LONGEST: usize = 63;
/// All annotations of an object together, in bytes (k8s.io/apimachinery, pkg/api/validation/objectmeta.go).
const MOST_ANNOTATIONS: usize = 256 * 1024;

pub(super) fn check(crd: &Value) -> Vec<Cause> {
    let path = Path::new("metadata");
    let mut causes = name(crd, &path.child("name"));
    let entries = |key: &str| crd["metadata"][key].as_object().cloned().unwrap_or_default();
    causes.extend(labels(&entries("labels"), &path.child("labels")));
    causes.extend(annotations(&entries("annotations"), &path.child("annotations")));
    causes
}

fn name(crd: &Value, path: &Path) -> Vec<Cause> {
    let text = |pointer: &str| crd.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let name = text("/metadata/name");
    if name.is_empty() {
        return vec![path.required("name or generateName is required")];
    }
    let mut errors = names::subdomain(name);
    if name != format!("{}.{}", text("/spec/names/plural"), text("/spec/group")) {
        errors.push("must be spec.names.plural+\".\"+spec.group".to_owned());
    }
    errors.iter().map(|error| path.invalid(name, error)).collect()
}

pub(crate) fn labels(labels: &Map<String, Value>, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (key, value) in labels {
        causes.extend(key_errors(key).iter().map(|error| path.invalid(key.as_str(), error)));
        let value = value.as_str().unwrap_or_default();
        if value.len() > LONGEST {
            causes.push(path.invalid(value, &format!("must be no more than {LONGEST} bytes")));
        }
        if !value.is_empty() && !is_word(value) {
            causes.push(path.invalid(value, VALUE));
        }
    }
    causes
}

pub(crate) fn annotations(annotations: &Map<String, Value>, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut size = 0;
    for (key, value) in annotations {
        // The case of an annotation's key does not matter, not even in its prefix.
        causes.extend(
            key_errors(&key.to_lowercase())
                .iter()
                .map(|error| path.invalid(key.as_str(), error)),
        );
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > MOST_ANNOTATIONS {
        causes.push(path.too_long(MOST_ANNOTATIONS));
    }
    causes
}

/// What keeps `key` from being a name with an optional domain before it.
pub(crate) fn key_errors(key: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let name = match key.split_once('/') {
        Some((_, name)) if name.contains('/') => {
            let form = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {KEY} {form}")];
        }
        Some(("", name)) => {
            errors.push("prefix part must be non-empty".to_owned());
            name
        }
        Some((prefix, name)) => {
            errors.extend(
                names::subdomain(prefix)
                    .iter()
                    .map(|error| format!("prefix part {error}")),
            );
            name
        }
        None => key,
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > LONGEST {
        errors.push(format!("name part must be no more than {LONGEST} bytes"));
    }
    if !is_word(name) {
        errors.push(format!("name part {KEY}"));
    }
    errors
}

fn is_word(text: &str) -> bool {
    let outer = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(outer) && text.ends_with(outer) && text.chars().all(|c| outer(c) || "-_.".contains(c))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn annotations_have_a_limit_together() {
        // Too long for the recorded set; said by the server in these words all the same.
        let crd = |length: usize| json!({"metadata": {"name": "a.b", "annotations": {"a": "x".repeat(length)}}, "spec": {"names": {"plural": "a"}, "group": "b"}});
        assert_eq!(super::check(&crd(262_143)), []);
        let causes = super::check(&crd(262_144));
        assert_eq!(
            causes[0].to_string(),
            "metadata.annotations: Too long: may not be more than 262144 bytes"
        );
    }
}
