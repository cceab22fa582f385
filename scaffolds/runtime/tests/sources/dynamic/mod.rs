//! Kinds without Rust types, wherever a typed kind can stand: reconciled, owned, watched, claimed, indexed and
//! rehearsed; several of them in one manager.

mod owning;
mod reading;
mod reconciling;

use k8s_openapi::{
    api::core::v1::ConfigMap, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    CustomResourceExt,
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use kubewright_runtime::Kind;
use serde_json::{Value, json};

use crate::support::{World, kinds::FooBar};

const GROUP: &str = "/apis/other.example.com";

/// The path of an object of one of these kinds in the namespace `default`.
fn path(version: &str, plural: &str, name: &str) -> String {
    format!("{GROUP}/{version}/namespaces/default/{plural}/{name}")
}

fn resource(version: &str, kind: &str) -> ApiResource {
    let plural = format!("{}s", kind.to_lowercase());
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("other.example.com", version, kind), &plural)
}

fn kind(name: &str) -> Kind<DynamicObject> {
    Kind::namespaced(resource("v1", name))
}

/// A CRD without a schema of its fields, served as `v1` and `v2`.
fn crd(name: &str, scope: &str) -> CustomResourceDefinition {
    let plural = resource("v1", name).plural;
    let version = |name: &str| {
        json!({"name": name, "served": true, "storage": name == "v1", "subresources": {"status": {}}, "schema": {
            "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}})
    };
    let crd = json!({"metadata": {"name": format!("{plural}.other.example.com")}, "spec": {"group": "other.example.com",
        "scope": scope, "names": {"kind": name, "plural": plural}, "versions": [version("v1"), version("v2")]}});
    serde_json::from_value(crd).expect("a CRD")
}

fn world() -> World {
    World::new(&[
        FooBar::crd(),
        crd("Gear", "Namespaced"),
        crd("Wheel", "Namespaced"),
        crd("Track", "Cluster"),
    ])
}

fn object(kind: &str, fields: Value) -> Value {
    let mut object = json!({"apiVersion": "other.example.com/v1", "kind": kind, "metadata": {}});
    object
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    object
}

/// ConfigMaps without their type.
fn maps() -> Kind<DynamicObject> {
    Kind::namespaced(ApiResource::erase::<ConfigMap>(&()))
}
