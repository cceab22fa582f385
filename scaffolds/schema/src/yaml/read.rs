//! Reads YAML into JSON values.

use serde_json::Value;

/// The text is not YAML, or JSON cannot express it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct YamlError(String);

/// The documents of a text, in order; empty ones are left out.
///
/// # Errors
/// A message with the line.
///
/// ```
/// let documents = kubewright_schema::yaml::documents("a: 1\n---\n---\nb: [x]\n").expect("YAML");
/// assert_eq!(documents, [serde_json::json!({"a": 1}), serde_json::json!({"b": ["x"]})]);
/// ```
pub fn documents(text: &str) -> Result<Vec<Value>, YamlError> {
    let read: Vec<Value> = serde_saphyr::from_multiple(text).map_err(|error| YamlError(error.to_string()))?;
    Ok(read.into_iter().filter(|document| !document.is_null()).collect())
}
