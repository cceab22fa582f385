//! The kind of the informer's tests, and the names of its objects.

use std::cell::Cell;

use kube::CustomResource;
use kubewright_runtime::{ObjectKey, Scope};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

#[derive(CustomResource, Clone, Debug, PartialEq, Deserialize, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "FooBar",
    namespaced,
    schema = "disabled"
)]
pub struct FooBarSpec {
    #[serde(deserialize_with = "counted")]
    pub target: String,
}

thread_local! {
    static DECODED: Cell<usize> = const { Cell::new(0) };
}

fn counted<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    DECODED.set(DECODED.get() + 1);
    String::deserialize(deserializer)
}

/// The number of FooBars that this test has decoded, on one thread.
pub fn decoded() -> usize {
    DECODED.get()
}

/// A definition of FooBar without validation, so that the server accepts undecodable objects.
pub fn lenient_crd() -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = json!({
        "name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}},
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "foobars.test.example.com"},
        "spec": {
            "group": "test.example.com", "scope": "Namespaced", "versions": [version],
            "names": {"kind": "FooBar", "plural": "foobars", "singular": "foobar", "listKind": "FooBarList"},
        },
    })
}

pub fn typed(object: Value) -> FooBar {
    serde_json::from_value(object).expect("a FooBar")
}

pub fn key(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey::new(Some(namespace), name)
}

pub fn namespaces(names: &[&str]) -> Scope {
    Scope::Namespaces(names.iter().map(|name| (*name).to_owned()).collect())
}
