//! The kind `Memcached` of `example.com.testproject.org/v1alpha1`. `make manifests` writes its CRD from these types; `kubectl explain` prints the
//! `///` comments.

// The words and the names are those of the CRD from which the types were made.
#![allow(clippy::doc_lazy_continuation, clippy::enum_variant_names)]
#![allow(rustdoc::all)]

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// spec defines the desired state of Memcached
#[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[kube(
    group = "example.com.testproject.org",
    version = "v1alpha1",
    kind = "Memcached",
    plural = "memcacheds",
    namespaced,
    status = "MemcachedStatus",
    singular = "memcached",
    doc = "Memcached is the Schema for the memcacheds API",
    derive = "Default",
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
pub struct MemcachedSpec {
    /// containerPort defines the port that will be used to init the container with the image
    pub container_port: i32,
    /// size defines the number of Memcached instances
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    #[schemars(extend("default" = 1))]
    pub size: Option<i32>,
}

/// status defines the observed state of Memcached
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemcachedStatus {
    /// conditions represent the current state of the Memcached resource.
    /// Each condition has a unique type and reflects the status of a specific aspect of the
    /// resource.
    ///
    /// Standard condition types include:
    /// - "Available": the resource is fully functional
    /// - "Progressing": the resource is being created or updated
    /// - "Degraded": the resource failed to reach or maintain its desired state
    ///
    /// The status of each condition is one of True, False, or Unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
