//! The kind `Worker`. `make manifests` writes its CRD from these types; `kubectl explain` prints the `///` comments.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired state, written by users.
#[derive(Clone, Debug, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "Worker",
    singular = "worker",
    plural = "workers",
    namespaced,
    status = "WorkerStatus",
    doc = "A Worker, managed by foobar-operator.",
    derive = "PartialEq",
    scale(
        spec_replicas_path = ".spec.replicas",
        status_replicas_path = ".status.replicas",
        label_selector_path = ".status.selector"
    ),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].reason"
    ),
    printcolumn(
        name = "Replicas",
        type_ = "integer",
        json_path = ".status.readyReplicas"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct WorkerSpec {
    /// The name of whatever this object is about; an example to replace.
    #[schemars(length(min = 1))]
    pub target: String,

    /// The kind of target; an example to replace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,

    /// The desired number of replicas. `kubectl scale` and autoscalers change it.
    #[serde(default = "one")]
    #[schemars(range(min = 0))]
    pub replicas: i32,
}

fn one() -> i32 {
    1
}

/// The observed state, written by the operator.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkerStatus {
    /// The generation of the spec that this status describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// The number of replicas.
    #[serde(default)]
    pub replicas: i32,

    /// The number of ready replicas.
    #[serde(default)]
    pub ready_replicas: i32,

    /// The label selector of the replicas, for autoscalers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,

    /// `Ready` is true while the cluster matches the spec.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
