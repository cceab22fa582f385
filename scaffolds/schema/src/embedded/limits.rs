//! The values that the decoders of k8s-openapi accept for Kubernetes types of one value. API servers accept more, because the schemas of
//! these types have fewer constraints.

use serde_json::{Map, Value, json};

use crate::rust_formats::DATE_TIME;

/// Quantities, as controller-gen writes the pattern: from `Quantity` in k8s.io/apimachinery, pkg/api/resource/quantity.go.
pub(crate) const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// Adds to a type with this name what its decoder demands.
pub(super) fn apply(name: &str, node: &mut Map<String, Value>) {
    let limits = match name.strip_prefix("io.k8s.apimachinery.pkg.") {
        Some("apis.meta.v1.Time" | "apis.meta.v1.MicroTime") => json!({"pattern": DATE_TIME}),
        Some("util.intstr.IntOrString") => json!({"minimum": i32::MIN, "maximum": i32::MAX}),
        Some("api.resource.Quantity") => json!({
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "pattern": QUANTITY,
        }),
        _ => return,
    };
    for (key, value) in limits.as_object().into_iter().flatten() {
        node.entry(key.as_str()).or_insert_with(|| value.clone());
    }
}
