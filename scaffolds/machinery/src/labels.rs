//! Keys and values of labels and annotations (k8s.io/apimachinery, pkg/api/validate/content/kube.go).

use crate::cause::{Cause, Path};
use crate::names::{self, Unit};
use serde_json::{Map, Value};

const LONGEST: usize = 63;
/// The limit on the size of all annotations of an object, in bytes (k8s.io/apimachinery, pkg/api/validation/objectmeta.go).
pub const MOST_ANNOTATIONS: usize = 256 << 10;
const NAME: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/// The errors in a key of a label or in a finalizer: `example.com/name` or `name`.
pub fn key(key: &str) -> Vec<String> {
    let rule = format!(
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character \
         (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{NAME}')"
    );
    let mut out = Vec::new();
    let name = match key.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name,
        [prefix, name] => {
            out.extend(domain(prefix));
            *name
        }
        _ => {
            let form = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {rule} {form}")];
        }
    };
    if name.is_empty() {
        out.push("name part must be non-empty".to_owned());
    }
    let too_long = Unit::Bytes.too_long(name, LONGEST);
    out.extend(too_long.map(|fault| format!("name part {fault}")));
    if !is_name(name) {
        out.push(format!("name part {rule}"));
    }
    out
}

/// The errors in the part before the slash.
fn domain(prefix: &str) -> Vec<String> {
    if prefix.is_empty() {
        return vec!["prefix part must be non-empty".to_owned()];
    }
    let faults = names::subdomain(prefix, Unit::Bytes).into_iter();
    faults.map(|fault| format!("prefix part {fault}")).collect()
}

/// The errors in the value of a label.
pub fn value(value: &str) -> Vec<String> {
    let mut out = Vec::from_iter(Unit::Bytes.too_long(value, LONGEST));
    if !value.is_empty() && !is_name(value) {
        out.push(format!(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start \
             and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
             validation is '({NAME})?')"
        ));
    }
    out
}

fn is_name(text: &str) -> bool {
    let outer = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(outer) && text.ends_with(outer) && text.chars().all(|c| outer(c) || "-_.".contains(c))
}

/// The errors in the labels of an object.
pub fn labels(labels: &Map<String, Value>, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (label, text) in labels {
        let text = text.as_str().unwrap_or_default();
        causes.extend(key(label).iter().map(|fault| path.invalid(label.as_str(), fault)));
        causes.extend(value(text).iter().map(|fault| path.invalid(text, fault)));
    }
    causes
}

/// The errors in the annotations of an object.
pub fn annotations(annotations: &Map<String, Value>, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut size = 0;
    for (annotation, text) in annotations {
        size += annotation.len() + text.as_str().map_or(0, str::len);
        // The server lowers the case of the whole key first, also of its prefix.
        let faults = key(&annotation.to_lowercase());
        causes.extend(faults.iter().map(|fault| path.invalid(annotation.as_str(), fault)));
    }
    if size > MOST_ANNOTATIONS {
        causes.push(path.too_long(MOST_ANNOTATIONS));
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_size_of_annotations_is_limited() {
        // Too long for a recording; the message is the server's.
        let causes = |length: usize| {
            let one = Map::from_iter([("a".to_owned(), "x".repeat(length).into())]);
            annotations(&one, &Path::new("metadata").child("annotations"))
        };
        assert_eq!(causes(262_143), []);
        assert_eq!(
            causes(262_144)[0].to_string(),
            "metadata.annotations: Too long: may not be more than 262144 bytes"
        );
    }
}
