//! The kind `Pump` of `water.example.com/v1alpha1`. `make manifests` writes its CRD from these types; `kubectl explain` prints the
//! `///` comments.

// The words and the names are those of the CRD from which the types were made.
#![allow(clippy::doc_lazy_continuation, clippy::enum_variant_names)]
#![allow(rustdoc::all)]

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What it should do:
/// - pump
/// on and on
///
/// 1. Or stop.
#[derive(Clone, CustomResource, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[kube(
    group = "water.example.com",
    version = "v1alpha1",
    kind = "Pump",
    plural = "pumps",
    namespaced,
    status = "PumpStatus",
    singular = "waterpump",
    shortname = "pu",
    shortname = "pm",
    category = "all",
    category = "water",
    storage = false,
    deprecated = "use v1",
    doc = "A Pump moves \"water\".",
    scale(
        spec_replicas_path = ".spec.replicas",
        status_replicas_path = ".status.replicas",
        label_selector_path = ".status.selector"
    ),
    selectable = ".spec.name",
    schema = "manual",
    derive = "Default",
    derive = "PartialEq"
)]
#[schemars(extend("anyOf" = [{"required": ["name"]}, {"required": ["oldName"]}]))]
#[schemars(extend("minProperties" = 1))]
#[serde(rename_all = "camelCase")]
pub struct PumpSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("anyOf" = [{"format": "ipv4"}, {"format": "ipv6"}]))]
    pub address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -3))]
    #[schemars(extend("exclusiveMinimum" = true))]
    #[schemars(extend("multipleOf" = 5))]
    pub big: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free: Option<BTreeMap<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<Vec<Vec<i64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holes: Option<Vec<Option<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("maxProperties" = 4))]
    #[schemars(extend("x-kubernetes-map-type" = "granular"))]
    pub labels: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = without_format)]
    pub level: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<PumpSpecLevels>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = "^[0-9]+m?$"))]
    pub load: Option<IntOrString>,
    #[schemars(required, extend("nullable" = true))]
    pub must_be_null: Option<String>,
    #[schemars(length(min = 1, max = 63))]
    #[schemars(extend("default" = "a"))]
    #[schemars(extend("example" = "b"))]
    #[schemars(extend("pattern" = "^[a-z\"\\\\]+$"))]
    #[schemars(extend("title" = "The name"))]
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<PumpSpecNothing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = "object"))]
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub object: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [1, 3]))]
    pub odd: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub old_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub on: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["name", "side"]))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    pub parts: Option<Vec<PumpSpecParts>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = "object"))]
    #[schemars(extend("x-kubernetes-embedded-resource" = true))]
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub pod: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<IntOrString>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "float"))]
    pub precise: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9))]
    #[schemars(extend("default" = 1))]
    pub replicas: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("externalDocs" = {"url": "https://example.com"}))]
    #[schemars(extend("format" = "byte"))]
    pub secret: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_: Option<PumpSpecSelf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1))]
    #[schemars(extend("minimum" = 0.5))]
    pub share: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("additionalProperties" = {"format": "int32", "minimum": 1, "type": "integer"}))]
    pub sizes: Option<BTreeMap<String, i32>>,
    /// How fast.
    pub speed: PumpSpecSpeed,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 8))]
    #[schemars(extend("items" = {"maxLength": 8, "type": "string"}))]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub tags: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = without_format)]
    pub whole: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ["a", "b"]))]
    pub words: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum PumpSpecLevels {
    #[default]
    #[serde(rename = "low")]
    Low,
    #[serde(rename = "high")]
    High,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("additionalProperties" = false))]
pub struct PumpSpecNothing {}

/// One of them.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
#[serde(rename_all = "camelCase")]
pub struct PumpSpecParts {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<PumpSpecPartsOpen>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "left"))]
    pub side: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PumpSpecPartsOpen {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("default" = {"a": 1}))]
#[schemars(extend("x-kubernetes-validations" = [{"message": "choose \"another\"", "rule": "!has(self.a) || self.a < 9"}]))]
#[serde(rename_all = "camelCase")]
pub struct PumpSpecSelf {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<i64>,
}

/// How fast.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("default" = "fast"))]
pub enum PumpSpecSpeed {
    #[serde(rename = "slow")]
    Slow,
    #[default]
    #[serde(rename = "fast")]
    Fast,
    #[serde(rename = "very fast")]
    VeryFast,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PumpStatus {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<Condition>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
}

// The schema of the whole object. That of the derive requires a `spec`, and has no rule.
impl JsonSchema for Pump {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pump".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "properties": {
                "spec": generator.subschema_for::<PumpSpec>(),
                "status": generator.subschema_for::<PumpStatus>(),
            },
            "description": "A Pump moves \"water\".",
        })
    }
}

fn without_format(schema: &mut schemars::Schema) {
    schema.remove("format");
}
