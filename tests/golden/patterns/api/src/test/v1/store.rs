//! The kind `Store`. `make manifests` writes its CRD from these types; `kubectl explain` prints the `///` comments.

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired state, written by users.
#[derive(Clone, Debug, PartialEq, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "Store",
    singular = "store",
    plural = "stores",
    namespaced,
    status = "StoreStatus",
    doc = "A Store, managed by foobar-operator.",
    derive = "PartialEq",
    scale(
        spec_replicas_path = ".spec.members",
        status_replicas_path = ".status.members",
        label_selector_path = ".status.selector"
    ),
    // Names of Services and labels of Pods contain it, and are limited to 63 characters.
    validation = ("self.metadata.name.size() <= 30", "the name is longer than 30 characters"),
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
    printcolumn(name = "Version", type_ = "string", json_path = ".status.version"),
    printcolumn(name = "Members", type_ = "integer", json_path = ".status.readyMembers"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct StoreSpec {
    /// The name of whatever this object is about; an example to replace.
    #[schemars(length(min = 1))]
    pub target: String,

    /// The kind of target; an example to replace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,

    /// The tag of the image, such as `1.2.3`. It can only increase.
    #[schemars(
        length(max = 11),
        regex(pattern = r"^[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}$")
    )]
    #[x_kube(validation = (
        "[oldSelf, self].map(v, v.split('.').map(n, int(n))).map(v, v[0] * 1000000 + v[1] * 1000 + v[2]).isSorted()",
        "members cannot read the data of a newer version"
    ))]
    pub version: String,

    /// The number of members. `kubectl scale` changes it.
    #[serde(default = "three")]
    #[schemars(range(min = 1, max = 99))]
    pub members: i32,

    /// The volume of each member.
    pub storage: StoreStorage,

    /// Whether reconciliation is paused: while this is true, the operator changes nothing.
    #[serde(default)]
    pub paused: bool,

    /// The settings of automatic backups. Without them, backups are made only on request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backups: Option<StoreBackups>,
}

fn three() -> i32 {
    3
}

/// The volume of a member.
#[derive(Clone, Debug, PartialEq, Deserialize, KubeSchema, Serialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = (
    "has(self.class) == has(oldSelf.class) && (!has(self.class) || self.class == oldSelf.class)",
    "volumes keep their class"
))]
pub struct StoreStorage {
    /// The size of the volume, such as `10Gi`. It can only grow.
    #[x_kube(validation = (
        "quantity(string(self)).compareTo(quantity(string(oldSelf))) >= 0",
        "volumes cannot shrink"
    ))]
    #[schemars(extend("maxLength" = 20))]
    pub size: Quantity,

    /// The StorageClass of the volume, which must allow expansion if volumes are to grow. Without it, the cluster's default StorageClass.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub class: Option<String>,
}

/// The backups of the data.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreBackups {
    /// The schedule of backups in cron format, in UTC, such as `0 3 * * *` or `@daily`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,

    /// The number of scheduled backups to keep of each outcome, succeeded and failed.
    #[serde(default = "seven")]
    #[schemars(range(min = 1, max = 999))]
    pub keep: i32,

    /// Whether the deletion of an object waits until a final backup has succeeded.
    #[serde(default)]
    pub on_deletion: bool,
}

fn seven() -> i32 {
    7
}

/// The observed state, written by the operator.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreStatus {
    /// The generation of the spec that this status describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// The work in progress: `Steady`, or the name of a step, such as `Restarting`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,

    /// The newest version that all members have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,

    /// The number of members.
    #[serde(default)]
    pub members: i32,

    /// The number of healthy members.
    #[serde(default)]
    pub ready_members: i32,

    /// The label selector of the members, for autoscalers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,

    /// The name of the StoreRestore that may run: the members are left alone meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restoring: Option<String>,

    /// `Ready` is true while the cluster matches the spec, `Available` while most members are healthy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
