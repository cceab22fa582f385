//! The values that the decoders of k8s-openapi accept for Kubernetes types of one value, and that of `std::time::Duration`. API servers accept more, because the schemas of
//! these types have fewer constraints.

use serde_json::{Map, Value, json};

use crate::rust_formats::DATE_TIME;

/// Quantities, as controller-gen writes the pattern: from `Quantity` in k8s.io/apimachinery, pkg/api/resource/quantity.go.
pub(crate) const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// Adds to a type with this name what its decoder demands.
pub(super) fn apply(name: &str, node: &mut Map<String, Value>) {
    if name == "Duration" {
        return nanoseconds(node);
    }
    if let Some((api_version, kind)) = named(name) {
        return whole(node, &api_version, kind);
    }
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

/// Limits the nanoseconds of `std::time::Duration`, whose decoder adds each second of them to the seconds.
fn nanoseconds(node: &mut Map<String, Value>) {
    let fields = node.get_mut("properties").and_then(Value::as_object_mut);
    if let Some(fields) = fields.filter(|it| it.len() == 2 && it.contains_key("secs"))
        && let Some(Value::Object(nanos)) = fields.get_mut("nanos")
    {
        nanos.entry("maximum").or_insert_with(|| 999_999_999.into());
    }
}

/// The API version and the kind in the name of a type: `io.k8s.api.core.v1.Pod`.
fn named(name: &str) -> Option<(String, &str)> {
    let mut words = name.strip_prefix("io.k8s.api.")?.split('.');
    let (package, version, kind) = (words.next()?, words.next()?, words.next()?);
    let group = match package {
        "core" => return Some((version.to_owned(), kind)),
        "apps" | "autoscaling" | "batch" | "policy" => package,
        "flowcontrol" => "flowcontrol.apiserver.k8s.io",
        "rbac" => "rbac.authorization.k8s.io",
        _ => return Some((format!("{package}.k8s.io/{version}"), kind)),
    };
    Some((format!("{group}/{version}"), kind))
}

/// Limits API version and kind of a whole object, such as a claim inside a list, whose decoder accepts only its own.
fn whole(node: &mut Map<String, Value>, api_version: &str, kind: &str) {
    let Some(Value::Object(fields)) = node.get_mut("properties") else {
        return;
    };
    if !fields.contains_key("metadata") {
        return;
    }
    for (field, own) in [("apiVersion", api_version), ("kind", kind)] {
        if let Some(Value::Object(field)) = fields.get_mut(field) {
            field.entry("enum").or_insert_with(|| json!([own]));
        }
    }
}
