//! Tests the kind of the README, from its Rust type to the bytes of the file.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, CustomResourceExt};
use kubewright_schema::files::{self, Mode};
use kubewright_schema::{Crd, CustomType, Options, assemble, finish};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The desired state.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "FooBar",
    namespaced,
    status = "FooBarStatus",
    shortname = "fb",
    printcolumn = r#"{"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type==\"Ready\")].status"}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct FooBarSpec {
    /// The target of the FooBar.
    #[schemars(length(min = 1))]
    pub target: String,
    /// The kind of target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
}

/// The observed state.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FooBarStatus {
    /// The generation of the spec that the rest of the status is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The state, one aspect at a time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

fn crds() -> Vec<CustomType<CustomResourceDefinition>> {
    vec![CustomType::of::<FooBar>(FooBar::crd)]
}

#[test]
fn the_crd_of_foobar_equals_the_committed_file() {
    let finished = finish(&crds(), &Options::default()).unwrap();
    let files: BTreeMap<String, Vec<Value>> = [("test.example.com_foobars.yaml".to_owned(), finished)].into();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let mode = if std::env::var_os("UPDATE_GOLDEN").is_some() {
        Mode::Write
    } else {
        Mode::Check
    };
    let outcome = files::write_manifests(golden.as_ref(), &files, mode).unwrap();
    assert_eq!(outcome.diff, "", "rerun with UPDATE_GOLDEN=1 if this is meant");
}

/// A default that violates its own schema: the CRD can be made, but the linter refuses it.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Wrong", namespaced)]
pub struct WrongSpec {
    /// Too short for its own schema.
    #[schemars(length(min = 1), extend("default" = ""))]
    pub target: String,
}

#[test]
fn assemble_does_not_lint() {
    let options = Options::default();
    assert_eq!(assemble(&crds(), &options).unwrap(), finish(&crds(), &options).unwrap());

    let wrong: Vec<Crd<CustomResourceDefinition>> = vec![("api::Wrong", Wrong::crd)];
    let findings = finish(&wrong, &options).unwrap_err();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    let crd = &assemble(&wrong, &options).unwrap()[0];
    let target = crd.pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/target");
    assert_eq!(target.unwrap()["default"], "");
}
