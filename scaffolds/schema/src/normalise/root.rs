//! Normalises the root of a schema: adds the fields of every custom resource that the derive leaves out.

use super::node::{self, Position};
use crate::options::Options;
use serde_json::{Map, Value, json};

/// The start of kube-derive's default description of the root, without `#[kube(doc = "…")]`.
const GENERATED: &str = "Auto-generated derived type for ";

const API_VERSION: &str = "The version of the API that this object is written in, as GROUP/VERSION. Servers convert \
                           between the versions they serve.";
const KIND: &str = "The kind of this object, in CamelCase. It cannot be changed.";

pub(super) fn normalise(schema: &mut Map<String, Value>, kind: &str, options: &Options) {
    if schema.get("title").is_some_and(|title| title == kind) {
        schema.remove("title");
    }
    describe(schema);
    if let Some(properties) = schema.entry("properties").or_insert_with(|| json!({})).as_object_mut() {
        properties
            .entry("apiVersion")
            .or_insert_with(|| json!({"type": "string", "description": API_VERSION}));
        properties
            .entry("kind")
            .or_insert_with(|| json!({"type": "string", "description": KIND}));
        properties
            .entry("metadata")
            .or_insert_with(|| json!({"type": "object"}));
    }
    node::normalise(schema, Position::Root, options);
}

/// Replaces kube-derive's generated description of the root with the description of the spec, where kube-derive puts the author's doc comment.
fn describe(schema: &mut Map<String, Value>) {
    let generated = schema
        .get("description")
        .and_then(Value::as_str)
        .is_some_and(|text| text.starts_with(GENERATED));
    if !generated {
        return;
    }
    let spec = schema
        .get("properties")
        .and_then(|properties| properties.pointer("/spec/description"))
        .cloned();
    match spec {
        Some(words) => schema.insert("description".into(), words),
        None => schema.remove("description"),
    };
}
