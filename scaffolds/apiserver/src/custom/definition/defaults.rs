//! The defaults that the server sets in a CustomResourceDefinition.

use serde_json::{Value, json};

/// The names that follow from the kind, the conversion, the port of its webhook, and the first stored version.
pub(super) fn fill(crd: &mut Value) {
    let spec = &mut crd["spec"];
    let kind = spec["names"]["kind"].as_str().unwrap_or_default().to_owned();
    if is_empty(&spec["names"]["singular"]) && !kind.is_empty() {
        spec["names"]["singular"] = json!(kind.to_lowercase());
    }
    if is_empty(&spec["names"]["listKind"]) && !kind.is_empty() {
        spec["names"]["listKind"] = json!(format!("{kind}List"));
    }
    if spec["conversion"].is_null() {
        spec["conversion"] = json!({"strategy": "None"});
    }
    if let Some(service) = spec.pointer_mut("/conversion/webhook/clientConfig/service")
        && service.is_object()
        && service["port"].is_null()
    {
        service["port"] = json!(443);
    }
    if crd["status"]["storedVersions"].as_array().is_none_or(Vec::is_empty) {
        store(crd);
    }
}

/// Puts the storage version among the stored ones.
pub(super) fn store(crd: &mut Value) {
    let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
    let Some(storage) = versions
        .clone()
        .find(|it| it["storage"] == true)
        .map(|it| it["name"].clone())
    else {
        return;
    };
    let stored = &mut crd["status"]["storedVersions"];
    match stored.as_array_mut() {
        Some(stored) if stored.contains(&storage) => {}
        Some(stored) => stored.push(storage),
        None => *stored = json!([storage]),
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_str().is_none_or(str::is_empty)
}
