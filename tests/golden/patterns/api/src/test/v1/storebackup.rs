//! The kind `StoreBackup`. `make manifests` writes its CRD from these types; `kubectl explain` prints the `///` comments.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired state, written by users.
#[derive(Clone, Debug, PartialEq, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "StoreBackup",
    singular = "storebackup",
    plural = "storebackups",
    namespaced,
    status = "StoreBackupStatus",
    doc = "A StoreBackup, managed by foobar-operator.",
    derive = "PartialEq",
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
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("self == oldSelf", "the spec cannot be changed: create another object"))]
pub struct StoreBackupSpec {
    /// The name of the Store to back up, in the same namespace.
    #[schemars(length(min = 1))]
    pub target: String,

    /// The kind of backup; an example to replace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
}

/// The observed state, written by the operator.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreBackupStatus {
    /// The generation of the spec that this status describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// When the run ended; it is never repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_time: Option<Time>,

    /// The image of the Job, which deletes the data too. Empty until the Job is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,

    /// `Ready` is true while the cluster matches the spec.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
