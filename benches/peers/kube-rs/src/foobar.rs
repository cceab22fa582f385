//! FooBar as a user of kube-rs would write it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The spec of a FooBar.
#[derive(CustomResource, Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "FooBar",
    namespaced,
    status = "FooBarStatus",
    shortname = "fb"
)]
pub struct FooBarSpec {
    #[schemars(length(min = 1))]
    pub target: String,
    pub r#type: Option<String>,
}

/// The status of a FooBar.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FooBarStatus {
    pub observed_generation: Option<i64>,
    #[serde(default)]
    pub conditions: Vec<Condition>,
}
