//! The kind `Admiral` of `crew.testproject.org/v1`. `make manifests` writes its CRD from these types; `kubectl explain` prints the
//! `///` comments.

// The words and the names are those of the CRD from which the types were made.
#![allow(clippy::doc_lazy_continuation, clippy::enum_variant_names)]
#![allow(rustdoc::all)]

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// spec defines the desired state of Admiral
#[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[kube(
    group = "crew.testproject.org",
    version = "v1",
    kind = "Admiral",
    plural = "admirales",
    status = "AdmiralStatus",
    singular = "admiral",
    doc = "Admiral is the Schema for the admirales API",
    derive = "Default",
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
pub struct AdmiralSpec {
    /// foo is an example field of Admiral. Edit admiral_types.go to remove/update
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foo: Option<String>,
}

/// status defines the observed state of Admiral
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AdmiralStatus {
    /// conditions represent the current state of the Admiral resource.
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
