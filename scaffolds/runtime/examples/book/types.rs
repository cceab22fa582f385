//! A type with what can be said about its fields.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::{apis::meta::v1::Condition, util::intstr::IntOrString};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// ANCHOR: kind
/// What the user asks for.
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
#[x_kube(validation = Rule::new("self.replicas <= self.rooms.size()").message("no more copies than rooms"))]
pub struct GallerySpec {
    /// Between 0 and 9, and 1 unless it is said.
    #[schemars(range(min = 0, max = 9))]
    #[serde(default = "one")]
    pub replicas: i32,

    /// One of the variants.
    pub style: Style,

    /// Small letters, at most 63.
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[a-z]+$"))]
    pub curator: String,

    /// Cannot be changed.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the city stays"))]
    #[schemars(length(max = 63))]
    pub city: String,

    /// A date, and optional.
    #[schemars(extend("format" = "date-time"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opens: Option<String>,

    /// No two the same.
    #[schemars(length(max = 8), inner(length(max = 63)), extend("x-kubernetes-list-type" = "set"))]
    #[serde(default)]
    pub tags: Vec<String>,

    /// Told apart by name: two people can change two rooms at the same time.
    #[schemars(
        length(max = 64),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    #[serde(default)]
    pub rooms: Vec<Room>,

    /// A number or a percentage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare: Option<IntOrString>,

    /// Whatever anybody likes.
    #[serde(default)]
    pub notes: BTreeMap<String, serde_json::Value>,
}

/// How it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
pub enum Style {
    /// White walls.
    Modern,
    /// Red ones.
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

/// What the operator has found and done.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct GalleryStatus {
    /// How many there are.
    pub replicas: i32,
    /// Whether the world is as the spec asks.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

fn one() -> i32 {
    1
}
