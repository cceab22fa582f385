//! The kind `Tick`. `make manifests` writes its CRD from these types; `kubectl explain` prints the `///` comments.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired state, written by users.
#[derive(Clone, Debug, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "Tick",
    singular = "tick",
    plural = "ticks",
    namespaced,
    status = "TickStatus",
    doc = "A Tick, managed by foobar-operator.",
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
    printcolumn(name = "Schedule", type_ = "string", json_path = ".spec.schedule"),
    printcolumn(name = "Last", type_ = "date", json_path = ".status.lastScheduleTime"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct TickSpec {
    /// The name of whatever this object is about; an example to replace.
    #[schemars(length(min = 1))]
    pub target: String,

    /// The kind of target; an example to replace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,

    /// The schedule in cron format, such as `30 2 * * *` or `@hourly`.
    #[schemars(length(min = 1, max = 100))]
    pub schedule: String,

    /// The time zone of the schedule, such as `Europe/Berlin`. Without it, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub time_zone: Option<String>,

    /// The policy for a scheduled time at which an earlier Job is still running.
    #[serde(default)]
    pub concurrency_policy: ConcurrencyPolicy,

    /// The number of seconds that a Job may start late. Without it, a Job always starts for the last missed time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub starting_deadline_seconds: Option<i32>,

    /// Whether the schedule is suspended: while this is true, no Job is created.
    #[serde(default)]
    pub suspend: bool,

    /// The number of succeeded Jobs that are kept.
    #[serde(default = "three")]
    #[schemars(range(min = 0))]
    pub successful_jobs_history_limit: i32,

    /// The number of failed Jobs that are kept.
    #[serde(default = "one")]
    #[schemars(range(min = 0))]
    pub failed_jobs_history_limit: i32,

    /// The number of retries after a failure.
    #[serde(default = "two")]
    #[schemars(range(min = 0, max = 100))]
    pub retries: i32,
}

/// The policy for a scheduled time at which an earlier Job is still running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub enum ConcurrencyPolicy {
    /// Both run.
    #[default]
    Allow,
    /// The next one waits until the earlier one has ended.
    Forbid,
    /// The earlier one is deleted.
    Replace,
}

fn three() -> i32 {
    3
}

fn two() -> i32 {
    2
}

fn one() -> i32 {
    1
}

/// The observed state, written by the operator.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TickStatus {
    /// The generation of the spec that this status describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// The last scheduled time for which a Job was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_schedule_time: Option<Time>,

    /// The last scheduled time whose Job has succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_successful_time: Option<Time>,

    /// The names of the running Jobs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active: Vec<String>,

    /// `Ready` is true while the cluster matches the spec.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
