//! Values that a type reads and does not write again: `make manifests` refuses the type, or emits the schema that says so.

use std::collections::{BTreeSet, HashSet};

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::finished;

fn yes() -> bool {
    true
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_default(size: &i32) -> bool {
    *size == 3
}

fn three() -> i32 {
    3
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Untagged {
    One { x: i32 },
    Two { y: String },
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Pair {
    left: i32,
    right: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Flattened {
    #[serde(flatten)]
    pair: Option<Pair>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub enum Colour {
    #[default]
    Red,
    #[serde(rename(serialize = "green", deserialize = "Green"))]
    Green,
}

/// An object without fields.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Ord, PartialOrd, Serialize, JsonSchema)]
pub struct Nothing {}

/// A variant that holds null beside values.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Chosen {
    Default(Option<i32>),
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Ratios {
    ratios: Vec<f32>,
}

fn ratios() -> Ratios {
    Ratios { ratios: vec![0.1] }
}

fn numbers() -> HashSet<i32> {
    [10, 2, 3, 4, 5, 6, 7, 1].into()
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Letters {
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    letters: HashSet<char>,
}

fn letters() -> Letters {
    let letters = "hgfedcba".chars().collect();
    Letters { letters }
}

fn tenth() -> f32 {
    0.1
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Ord, PartialOrd, Serialize, JsonSchema)]
pub struct Item {
    name: String,
}

/// Null, which is not the same as an absent value.
#[allow(clippy::option_option, reason = "that is the case")]
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<i32>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

macro_rules! kind {
    ($derive:ident, $(#[$meta:meta])* $type:ty) => {
        use super::*;

        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, $derive)]
        #[allow(dead_code, reason = "a field that serde skips")]
        #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
        pub struct OtherSpec {
            $(#[$meta])*
            pub f: $type,
            pub list: Option<Vec<Inner>>,
        }

        #[derive(Clone, Debug, Deserialize, Serialize, $derive)]
        #[allow(dead_code, reason = "a field that serde skips")]
        pub struct Inner {
            $(#[$meta])*
            pub f: $type,
        }
    };
}

/// The findings, as `field: message`.
macro_rules! refused {
    ($($(#[$meta:meta])* $name:ident: $type:ty => [$($expected:literal),*];)*) => { $(
        mod $name {
            kind!(JsonSchema, $(#[$meta])* $type);

            #[test]
            fn refused() {
                let findings = finished::<Other>().unwrap_err();
                let mut found: Vec<_> = findings.iter().map(|it| format!("{}: {}", it.field, it.message)).collect();
                found.sort_by_key(|it| it.starts_with("spec.list"));
                let expected = [$($expected),*];
                assert_eq!(found.len(), expected.len() * 2, "in the spec and in the list: {found:#?}");
                for (start, found) in expected.iter().zip(&found) {
                    assert!(found.starts_with(start), "{start}: {found}");
                }
                assert!(findings.iter().all(|it| it.remedy.is_some()));
            }
        }
    )* };
}

refused! {
    #[serde(default = "yes", skip_serializing_if = "is_false")]
    a_false_that_becomes_the_default: bool
        => ["spec.f: API servers store false here, and after the operator's next write of the object it would be true"];
    #[serde(default = "yes", skip_serializing_if = "is_false")]
    #[schemars(extend("default" = null))]
    a_default_that_the_schema_lacks: bool
        => ["spec.f: API servers store false here, and after the operator's next write of the object it would be true"];
    #[serde(rename(serialize = "written", deserialize = "read"))]
    two_names: i32 => ["spec.read: API servers store 1 here, and the type does not write it again", "spec.written: the type writes this field"];
    #[serde(skip_serializing, default)]
    read_only: String => ["spec.f: API servers store \"a\" here, and the type does not write it again"];
    #[serde(skip_deserializing)]
    written_only: String => ["spec.f: the type writes this field, and the schema does not have it"];
    untagged: Untagged => ["spec.f.y: API servers store \"a\" here, and the type does not write it again"];
    flattened: Flattened => [
        "spec.f.left: API servers store 1 here, and the type does not write it again",
        "spec.f.right: API servers store 1 here, and the type does not write it again"
    ];
    a_set_of_objects: BTreeSet<Item>
        => ["spec.f: x-kubernetes-list-type: set for items of type \"object\" is not supported by server-side apply or CEL"];
    two_names_of_a_variant: Colour => ["spec.f: API servers store \"Green\" here, and after the operator's next write"];
}

macro_rules! emitted {
    ($($(#[$meta:meta])* $name:ident: $type:ty => $schema:tt;)*) => { $(
        mod $name {
            kind!(KubeSchema, $(#[$meta])* $type);

            #[test]
            fn emitted() {
                let crd = finished::<Other>().unwrap();
                let spec = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
                for field in [&spec["f"], &spec["list"]["items"]["properties"]["f"]] {
                    let mut field = field.clone();
                    undescribed(&mut field);
                    assert_eq!(field, json!($schema));
                }
            }
        }
    )* };
}

fn undescribed(schema: &mut Value) {
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("description");
        fields.values_mut().for_each(undescribed);
    }
}

emitted! {
    an_empty_struct_is_an_object_without_fields: Nothing => {"type": "object", "properties": {}};
    any_object_stays_open: RawExtension
        => {"type": "object", "x-kubernetes-preserve-unknown-fields": true};
    #[x_kube(merge_strategy = StructMerge::Atomic)]
    any_atomic_object_stays_open: RawExtension
        => {"type": "object", "x-kubernetes-map-type": "atomic", "x-kubernetes-preserve-unknown-fields": true};
    #[x_kube(validation = ("self == self", "is itself"))]
    any_object_with_a_rule_stays_open: RawExtension => {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "x-kubernetes-validations": [{"rule": "self == self", "message": "is itself"}],
    };
    #[schemars(extend("minProperties" = 1, "maxProperties" = 9))]
    any_object_of_some_size_stays_open: RawExtension
        => {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "minProperties": 1, "maxProperties": 9};
    #[x_kube(merge_strategy = StructMerge::Atomic)]
    an_empty_atomic_struct_is_an_object_without_fields: Nothing
        => {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {}};
    a_variant_of_null: Chosen => {
        "type": "object", "oneOf": [{"required": ["Default"]}],
        "properties": {"Default": {"type": "integer", "format": "int32", "nullable": true}},
    };
    #[serde(default = "tenth")]
    a_default_of_single_precision: f32 => {"type": "number", "format": "float", "default": 0.1};
    #[serde(default = "ratios")]
    a_nested_default_of_single_precision: Ratios => {
        "type": "object", "default": {"ratios": [0.1]}, "required": ["ratios"],
        "properties": {"ratios": {"type": "array", "items": {"type": "number", "format": "float"}}},
    };
    #[schemars(extend("minimum" = 1, "pattern" = "^[0-9]+%$"))]
    limits_of_a_number_or_text: IntOrString => {
        "x-kubernetes-int-or-string": true, "minimum": 1, "maximum": 2_147_483_647, "pattern": "^[0-9]+%$",
    };
    #[schemars(extend("pattern" = "^[0-9]+(Gi)?$"))]
    a_pattern_of_a_quantity: Quantity => {
        "x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": "^[0-9]+(Gi)?$",
    };
    any_fields_stay_open: serde_json::Map<String, Value>
        => {"type": "object", "additionalProperties": {"x-kubernetes-preserve-unknown-fields": true}};
    a_set_of_texts: BTreeSet<String>
        => {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"};
    an_optional_set: Option<HashSet<i32>>
        => {"type": "array", "items": {"type": "integer", "format": "int32"}, "x-kubernetes-list-type": "set"};
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    a_set_of_objects_whose_author_wants_a_list: BTreeSet<Item> => {"type": "array", "x-kubernetes-list-type": "atomic", "items": {
        "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}},
    }};
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    a_set_whose_author_wants_a_list: BTreeSet<String>
        => {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "atomic"};
    #[serde(default = "numbers")]
    a_default_of_a_set: HashSet<i32> => {
        "type": "array", "items": {"type": "integer", "format": "int32"}, "x-kubernetes-list-type": "set",
        "default": [1, 2, 3, 4, 5, 6, 7, 10],
    };
    #[serde(default = "letters")]
    a_default_with_a_set_whose_author_wants_a_list: Letters => {
        "type": "object", "required": ["letters"], "default": {"letters": ["a", "b", "c", "d", "e", "f", "g", "h"]},
        "properties": {"letters": {"type": "array", "x-kubernetes-list-type": "atomic", "items": {
            "type": "string", "minLength": 1, "maxLength": 1,
        }}},
    };
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    null_that_differs_from_nothing: Option<Option<i32>> => {"type": "integer", "format": "int32", "nullable": true};
    #[schemars(extend("nullable" = true))]
    null_that_the_author_wants: Option<String> => {"type": "string", "nullable": true};
    null_that_means_nothing: Option<String> => {"type": "string"};
    #[serde(default = "three", skip_serializing_if = "is_default")]
    a_default_that_is_left_out: i32 => {"type": "integer", "format": "int32"};
    #[serde(default, skip_serializing_if = "String::is_empty")]
    an_empty_text_that_is_left_out: String => {"type": "string"};
}
