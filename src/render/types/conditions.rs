//! The type of Kubernetes' conditions in the place of a generated type.

use super::read::{keeps, requires};
use serde_json::{Value, json};

/// The fields of a Condition, and whether each is required.
const CONDITION: [(&str, bool); 6] = [
    ("lastTransitionTime", true),
    ("message", true),
    ("observedGeneration", false),
    ("reason", true),
    ("status", true),
    ("type", true),
];

/// Whether these are exactly the fields of Kubernetes' conditions, so that its type can hold them.
pub fn fits(schema: &Value) -> bool {
    let Some(properties) = schema["properties"].as_object() else {
        return false;
    };
    let fits = |(name, required): &(&str, bool)| {
        let property = &properties.get(*name).unwrap_or(&Value::Null);
        let wanted = if *name == "observedGeneration" {
            "integer"
        } else {
            "string"
        };
        property["type"] == wanted && property["nullable"] != true && requires(schema, name) == *required
    };
    let extends = schema["additionalProperties"].is_null() && !keeps(schema);
    properties.len() == CONDITION.len()
        && CONDITION.iter().all(fits)
        && properties["lastTransitionTime"]["format"] == "date-time"
        && extends
        && schema["nullable"] != true
}

/// Whether `make manifests` writes this schema for Kubernetes' type, with the limits that Kubernetes documents.
pub fn is_exact(schema: &Value) -> bool {
    let mut bare = schema.clone();
    strip(&mut bare);
    if let Some(required) = bare["required"].as_array_mut() {
        required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    }
    let text = |most: u64, pattern: &str| json!({"type": "string", "maxLength": most, "pattern": pattern});
    let mut reason = text(1024, "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$");
    reason["minLength"] = json!(1);
    let name = concat!(
        r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?",
        r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
    );
    bare == json!({
        "type": "object",
        "required": ["lastTransitionTime", "message", "reason", "status", "type"],
        "properties": {
            "lastTransitionTime": {"type": "string", "format": "date-time"},
            "message": {"type": "string", "maxLength": 32768},
            "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
            "reason": reason,
            "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
            "type": text(316, name),
        },
    })
}

/// Removes the descriptions of an object and its fields.
fn strip(schema: &mut Value) {
    let fields = schema["properties"].as_object_mut();
    for field in fields.into_iter().flat_map(|fields| fields.values_mut()) {
        drop(field.as_object_mut().and_then(|field| field.remove("description")));
    }
    drop(schema.as_object_mut().and_then(|schema| schema.remove("description")));
}

/// Whether this is a list of Kubernetes' conditions that may be empty.
pub fn in_list(schema: &Value) -> bool {
    let plain = schema["type"] == "array" && schema["nullable"] != true && schema["default"].is_null();
    plain && schema["minItems"].is_null() && is_exact(&schema["items"])
}
