//! A type with validations of its fields.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::{apis::meta::v1::Condition, util::intstr::IntOrString};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// ANCHOR: kind
/// The desired state of a gallery.
#[derive(Clone, Debug, PartialEq, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "Gallery",
    namespaced,
    shortname = "gal",
    category = "art",
    status = "GalleryStatus",
    selectable = ".spec.style",
    scale(spec_replicas_path = ".spec.replicas", status_replicas_path = ".status.replicas"),
    printcolumn(name = "Style", type_ = "string", json_path = ".spec.style")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self.replicas <= self.rooms.size()").message("no more replicas than rooms"))]
pub struct GallerySpec {
    /// Between 0 and 9; 1 by default.
    #[schemars(range(min = 0, max = 9))]
    #[serde(default = "one")]
    pub replicas: i32,

    /// One of the variants.
    pub style: Style,

    /// Lower case letters, at most 63.
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[a-z]+$"))]
    pub curator: String,

    /// Cannot be changed.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the city cannot change"))]
    #[schemars(length(max = 63))]
    pub city: String,

    /// An optional date.
    #[schemars(extend("format" = "date-time"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opens: Option<String>,

    /// No duplicates.
    #[schemars(length(max = 8), inner(length(max = 63)), extend("x-kubernetes-list-type" = "set"))]
    #[serde(default)]
    pub tags: Vec<String>,

    /// Keyed by name: two users can apply two rooms without a conflict.
    #[schemars(
        length(max = 64),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    #[serde(default)]
    pub rooms: Vec<Room>,

    /// A number or a percentage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare: Option<IntOrString>,

    /// Any values.
    #[serde(default)]
    pub notes: BTreeMap<String, serde_json::Value>,
}

/// The style of the rooms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
pub enum Style {
    /// White walls.
    Modern,
    /// Red walls.
    Classic,
}

/// A room.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
pub struct Room {
    /// Its name.
    #[schemars(length(max = 63))]
    pub name: String,
}
// ANCHOR_END: kind

/// The observed state of a gallery.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct GalleryStatus {
    /// The current number of replicas.
    pub replicas: i32,
    /// Whether the cluster matches the spec.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

fn one() -> i32 {
    1
}
