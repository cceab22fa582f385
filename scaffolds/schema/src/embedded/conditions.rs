//! Normalises lists of Kubernetes conditions. k8s-openapi's type lacks the constraints that the Kubernetes API
//! documents for conditions, and the list type map with the key `type`.

use serde_json::{Map, Value, json};

/// All fields of `metav1.Condition`.
const FIELDS: [&str; 6] = [
    "lastTransitionTime",
    "message",
    "observedGeneration",
    "reason",
    "status",
    "type",
];

/// The constraints of the markers on `metav1.Condition` (k8s.io/apimachinery, pkg/apis/meta/v1/types.go), by field.
fn constraints() -> Value {
    json!({
        "message": {"maxLength": 32768},
        "observedGeneration": {"minimum": 0},
        "reason": {"minLength": 1, "maxLength": 1024, "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"},
        "status": {"enum": ["True", "False", "Unknown"]},
        "type": {
            "maxLength": 316,
            "pattern": concat!(
                r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?",
                r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
            ),
        },
    })
}

/// Gives a list of conditions the list type map with the key `type`, unless the author has set a list type.
pub(super) fn normalise(schema: &mut Map<String, Value>) {
    let Some(Value::Object(items)) = schema.get_mut("items") else {
        return;
    };
    if !is_condition(items) {
        return;
    }
    if let (Some(Value::Object(properties)), Value::Object(constraints)) = (items.get_mut("properties"), constraints())
    {
        for (name, constraints) in constraints {
            let Some(Value::Object(property)) = properties.get_mut(&name) else {
                continue;
            };
            let Value::Object(constraints) = constraints else {
                continue;
            };
            for (key, value) in constraints {
                property.entry(key).or_insert(value);
            }
        }
    }
    if !schema.contains_key("x-kubernetes-list-type") {
        schema.insert("x-kubernetes-list-type".into(), "map".into());
        schema.insert("x-kubernetes-list-map-keys".into(), json!(["type"]));
    }
}

fn is_condition(items: &Map<String, Value>) -> bool {
    let required = |name: &str| {
        items
            .get("required")
            .and_then(Value::as_array)
            .is_some_and(|required| required.iter().any(|it| it == name))
    };
    let properties = items.get("properties").and_then(Value::as_object);
    properties.is_some_and(|it| it.len() == FIELDS.len() && FIELDS.iter().all(|field| it.contains_key(*field)))
        && required("type")
        && required("status")
        && !items.contains_key("nullable")
}
