//! Keys and values of labels and annotations, and their lists in an object.

use kubewright_schema::{Cause, cause::Path};
use serde_json::{Map, Value};

use super::dns;

const LONGEST: usize = 63;
/// All keys and values of an object's annotations together, in bytes.
const LARGEST: usize = 256 << 10;
const NAME: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/// What is wrong with a qualified name, `example.com/name` or `name`: the key of a label, or a finalizer.
pub fn qualified(key: &str) -> Vec<String> {
    let rule = format!(
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character \
         (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{NAME}')"
    );
    let parts: Vec<&str> = key.split('/').collect();
    let (mut faults, name) = match parts.as_slice() {
        [name] => (Vec::new(), *name),
        ["", name] => (vec!["prefix part must be non-empty".to_owned()], *name),
        [prefix, name] => {
            let faults = dns::subdomain(prefix, "bytes")
                .into_iter()
                .map(|it| format!("prefix part {it}"));
            (faults.collect(), *name)
        }
        _ => {
            let hint = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {rule} {hint}")];
        }
    };
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    }
    faults.extend(
        dns::too_long(name, LONGEST, "bytes")
            .into_iter()
            .map(|it| format!("name part {it}")),
    );
    if !is_name(name) {
        faults.push(format!("name part {rule}"));
    }
    faults
}

/// What is wrong with the value of a label.
pub fn label_value(value: &str) -> Vec<String> {
    let mut faults = dns::too_long(value, LONGEST, "bytes");
    if !value.is_empty() && !is_name(value) {
        faults.push(format!(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start \
             and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
             validation is '({NAME})?')"
        ));
    }
    faults
}

/// What is wrong with labels.
pub fn labels(labels: &Map<String, Value>, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (key, value) in labels {
        let value = value.as_str().unwrap_or_default();
        causes.extend(qualified(key).iter().map(|it| path.invalid(key.as_str(), it)));
        causes.extend(label_value(value).iter().map(|it| path.invalid(value, it)));
    }
    causes
}

/// What is wrong with annotations.
pub fn annotations(annotations: &Map<String, Value>, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut size = 0;
    for (key, value) in annotations {
        size += key.len() + value.as_str().map_or(0, str::len);
        causes.extend(
            qualified(&key.to_lowercase())
                .iter()
                .map(|it| path.invalid(key.as_str(), it)),
        );
    }
    if size > LARGEST {
        causes.push(path.too_long(LARGEST));
    }
    causes
}

fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    bytes
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
        && end(bytes.first())
        && end(bytes.last())
}
