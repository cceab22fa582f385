//! The kind `Report`. `make manifests` writes its CRD from these types; `kubectl explain` prints the `///` comments.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired state, written by users.
#[derive(Clone, Debug, PartialEq, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "Report",
    singular = "report",
    plural = "reports",
    namespaced,
    status = "ReportStatus",
    doc = "A Report, managed by foobar-operator.",
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
    printcolumn(name = "Result", type_ = "string", json_path = ".status.result"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("self == oldSelf", "the spec cannot be changed: create another object"))]
pub struct ReportSpec {
    /// The name of whatever this object is about; an example to replace.
    #[schemars(length(min = 1))]
    pub target: String,

    /// The kind of target; an example to replace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,

    /// The number of retries after a failure.
    #[serde(default = "two")]
    #[schemars(range(min = 0, max = 100))]
    pub retries: i32,

    /// The number of seconds from the end of the run to the deletion of this object. Without it, the object stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub ttl_seconds_after_finished: Option<i32>,
}

fn two() -> i32 {
    2
}

/// The observed state, written by the operator.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportStatus {
    /// The generation of the spec that this status describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// When the run ended; it is never repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_time: Option<Time>,

    /// The text that a successful run wrote to `/dev/termination-log`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,

    /// `Ready` is true while the cluster matches the spec.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
