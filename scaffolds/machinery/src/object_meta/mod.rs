//! The metadata of any object: decoded as in Go, and the rules for all of them.

mod decode;
pub mod finalizers;
pub mod owners;

pub use decode::{Decoded, decode};

use crate::cause::{Cause, Path};
use crate::labels;
use serde_json::{Map, Value};

/// The error in `generation`.
pub fn generation(metadata: &Map<String, Value>, path: &Path) -> Option<Cause> {
    let generation = metadata.get("generation")?.as_i64().filter(|it| *it < 0)?;
    let at = path.child("generation");
    Some(at.invalid(generation, "must be greater than or equal to 0"))
}

/// The errors in labels, annotations and owners, which clients may change at any time.
pub fn changeable(metadata: &Map<String, Value>, path: &Path) -> Vec<Cause> {
    let empty = Map::new();
    let entries = |field: &str| metadata.get(field).and_then(Value::as_object).unwrap_or(&empty);
    let mut causes = labels::labels(entries("labels"), &path.child("labels"));
    causes.extend(labels::annotations(entries("annotations"), &path.child("annotations")));
    let references = metadata.get("ownerReferences").and_then(Value::as_array);
    let references = references.map(Vec::as_slice).unwrap_or_default();
    causes.extend(owners::check(references, &path.child("ownerReferences")));
    causes
}
