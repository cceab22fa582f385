//! Inputs that consist of several documents, so that they can be read and written by people.

use serde_json::Value;

/// The separator of two parts. JSON has line breaks only where they mean nothing, so it cannot be inside of one.
const BETWEEN: &[u8] = b"\n---\n";

/// The parts of an input, `most` of them at most.
pub fn split(bytes: &[u8], most: usize) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while parts.len() + 1 < most {
        let Some(at) = rest.windows(BETWEEN.len()).position(|it| it == BETWEEN) else {
            break;
        };
        parts.push(&rest[..at]);
        rest = &rest[at + BETWEEN.len()..];
    }
    parts.push(rest);
    parts
}

/// The parts of an input that all are JSON, as the server reads it; `None` when one is not.
pub fn values(bytes: &[u8], most: usize) -> Option<Vec<Value>> {
    let parts = split(bytes, most).into_iter();
    parts
        .map(|part| {
            kubewright_apiserver::testing::json::read(part)
                .ok()
                .map(|(value, _)| value)
        })
        .collect()
}
