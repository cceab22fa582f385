//! The measured kind: small, with a status.

use anyhow::Result;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, GroupVersionKind, PostParams},
};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

/// The path of its objects.
pub const PATH: &str = "/apis/speed.example.com/v1/namespaces/default/things";

/// The body of an object.
pub fn body(name: &str) -> Value {
    json!({"apiVersion": "speed.example.com/v1", "kind": "Thing", "metadata": {"name": name, "namespace": "default"},
        "spec": {"target": "world", "type": "plain"}})
}

/// Creates the kind, and returns its API.
pub async fn prepared(client: &Client) -> Result<Api<DynamicObject>> {
    let crds = ApiResource::from_gvk(&GroupVersionKind::gvk(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
    ));
    let spec = json!({"type": "object", "required": ["target"], "properties": {
        "target": {"type": "string", "minLength": 1}, "type": {"type": "string"}}});
    let schema = json!({"type": "object", "properties": {"spec": spec, "status": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true}}});
    let crd = DynamicObject::new("things.speed.example.com", &crds).data(json!({"spec": {
        "group": "speed.example.com", "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things"},
        "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": schema}}]}}));
    let made = Api::all_with(client.clone(), &crds)
        .create(&PostParams::default(), &crd)
        .await;
    match made {
        Err(kube::Error::Api(status)) if status.code == 409 => {}
        other => _ = other?,
    }
    let things =
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("speed.example.com", "v1", "Thing"), "things");
    let api = Api::namespaced_with(client.clone(), "default", &things);
    while api.list(&Default::default()).await.is_err() {
        sleep(Duration::from_millis(50)).await;
    }
    Ok(api)
}
