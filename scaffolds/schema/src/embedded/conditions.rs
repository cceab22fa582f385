//! Lists of Kubernetes conditions. k8s-openapi's type lacks the constraints that the Kubernetes API documents for conditions, and the
//! list type map with the key `type`. A type of the author's own stays as it is, whatever its fields are called.

use serde_json::{Map, Value, json};

/// The name of the type of conditions.
pub(super) const CONDITION: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Condition";

/// The constraints of the markers on `metav1.Condition` (k8s.io/apimachinery, pkg/apis/meta/v1/types.go), by field.
fn constraints() -> [(&'static str, Value); 5] {
    [
        ("message", json!({"maxLength": 32768})),
        ("observedGeneration", json!({"minimum": 0})),
        (
            "reason",
            json!({"minLength": 1, "maxLength": 1024, "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"}),
        ),
        ("status", json!({"enum": ["True", "False", "Unknown"]})),
        (
            "type",
            json!({
                "maxLength": 316,
                "pattern": concat!(
                    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?",
                    r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
                ),
            }),
        ),
    ]
}

/// Constrains the schema of a condition.
pub(super) fn constrain(condition: &mut Map<String, Value>) {
    let Some(Value::Object(fields)) = condition.get_mut("properties") else {
        return;
    };
    for (name, constraints) in constraints() {
        if let (Some(Value::Object(field)), Value::Object(constraints)) = (fields.get_mut(name), constraints) {
            for (key, value) in constraints {
                field.entry(key).or_insert(value);
            }
        }
    }
}

/// Gives a list of conditions the list type map with the key `type`, unless the author has set a list type.
pub(super) fn key(list: &mut Map<String, Value>) {
    if !list.contains_key("x-kubernetes-list-type") {
        list.insert("x-kubernetes-list-type".into(), "map".into());
        list.insert("x-kubernetes-list-map-keys".into(), json!(["type"]));
    }
}
