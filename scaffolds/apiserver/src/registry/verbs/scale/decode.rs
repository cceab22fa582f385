//! Decodes a Scale that a client sent.

use kubewright_machinery::{
    go,
    object_meta::{self, Decoded},
};
use serde_json::{Map, Value, json};

use super::API_VERSION;
use crate::meta;

/// Converts a body to a Scale, and returns its unknown fields.
pub fn decode(scale: &mut Value) -> Result<Vec<String>, String> {
    let text = |field: &str, default: &str| match scale.get(field).and_then(Value::as_str) {
        None | Some("") => default.to_owned(),
        Some(text) => text.to_owned(),
    };
    let (version, kind) = (text("apiVersion", API_VERSION), text("kind", "Scale"));
    if (version.as_str(), kind.as_str()) != (API_VERSION, "Scale") {
        let (kind, version) = (
            kubewright_machinery::go::quote(&kind),
            kubewright_machinery::go::quote(&version),
        );
        return Err(format!(
            "no kind {kind} is registered for version {version} in scheme \"pkg/runtime/scheme.go:111\""
        ));
    }
    let mut strict_errors = Vec::new();
    let metadata = meta::of_mut(scale);
    let metadata = Value::Object(std::mem::take(metadata));
    let Decoded { metadata, unknown } = object_meta::decode(&metadata, "metadata")?;
    strict_errors.extend(unknown.iter().map(|path| format!("metadata.{path}")));
    let mut spec = scale.get("spec").cloned().unwrap_or_default();
    strict_errors.extend(replicas_only(&mut spec, "spec")?);
    let known = ["apiVersion", "kind", "metadata", "spec", "status"];
    let others = scale
        .as_object()
        .into_iter()
        .flat_map(Map::keys)
        .filter(|field| !known.contains(&field.as_str()));
    strict_errors.extend(others.cloned());
    // The status that a client sends is ignored, so it is not checked any further.
    let status = scale.get("status").cloned().unwrap_or_else(|| json!({"replicas": 0}));
    *scale = json!({"kind": "Scale", "apiVersion": API_VERSION, "metadata": metadata, "spec": spec, "status": status});
    Ok(strict_errors
        .iter()
        .map(|path| format!("unknown field {}", kubewright_machinery::go::quote(path)))
        .collect())
}

fn replicas_only(spec: &mut Value, path: &str) -> Result<Vec<String>, String> {
    let Some(fields) = spec.as_object_mut() else {
        *spec = json!({});
        return Ok(Vec::new());
    };
    let strict_errors = fields
        .keys()
        .filter(|field| *field != "replicas")
        .map(|field| format!("{path}.{field}"))
        .collect();
    fields.retain(|field, value| {
        go::store(value);
        field == "replicas" && !value.is_null() && *value != json!(0)
    });
    match fields.get("replicas") {
        Some(value) if value.as_i64().is_none_or(|wanted| i32::try_from(wanted).is_err()) => {
            let found = match value {
                Value::String(_) => "string".to_owned(),
                Value::Bool(_) => "bool".to_owned(),
                Value::Array(_) => "array".to_owned(),
                Value::Object(_) => "object".to_owned(),
                other => format!("number {other}"),
            };
            let field = "ScaleSpec.spec.replicas";
            Err(format!(
                "json: cannot unmarshal {found} into Go struct field {field} of type int32"
            ))
        }
        _ => Ok(strict_errors),
    }
}

/// The beginning of sentences about a body.
pub fn cannot(scale: &Value) -> String {
    let kind = scale
        .get("kind")
        .and_then(Value::as_str)
        .filter(|kind| !kind.is_empty())
        .unwrap_or("Scale");
    format!("{kind} in version \"v1\" cannot be handled as a Scale")
}
