//! The examples of the page. The book shows the lines between `// [name]` and `// [/]`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::{CustomResource, CustomResourceExt, KubeSchema};
use kubewright_schema::CustomType;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::collections::BTreeMap;

#[path = "whole.rs"]
mod whole;

/// A kind in the form in which a generated project's `manifests::crds` lists it.
pub type Kind = CustomType<CustomResourceDefinition>;

fn kind<K: CustomResourceExt + DeserializeOwned + JsonSchema + Serialize>() -> Kind {
    CustomType::of::<K>(K::crd)
}

/// A kind whose spec has these fields.
macro_rules! spec {
    ($($name:ident { $($fields:tt)* })*) => { $(
        mod $name {
            #[allow(unused_imports, reason = "each example needs some of them")]
            use super::*;

            #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
            #[kube(group = "test.example.com", version = "v1", kind = "FooBar", namespaced)]
            pub struct FooBarSpec {
                $($fields)*
            }
        }
    )*
    /// The kinds of these examples.
    fn of_specs(name: &str) -> Option<Vec<Kind>> {
        match name {
            $(stringify!($name) => Some(vec![kind::<$name::FooBar>()]),)*
            _ => None,
        }
    } };
}

/// The kinds of an example.
pub fn kinds(name: &str) -> Vec<Kind> {
    of_specs(name)
        .or_else(|| whole::kinds(name))
        .unwrap_or_else(|| panic!("no example is called `{name}`"))
}

spec! {
    required {
        // [required]
        pub f: String,
        // [/]
    }
    optional {
        // [optional]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub f: Option<String>,
        // [/]
    }
    nullable {
        // [nullable]
        #[schemars(required, extend("nullable" = true))]
        pub f: Option<String>,
        // [/]
    }
    default {
        // [default]
        #[serde(default = "three")]
        pub f: u8,
        // [/]
    }
    maximum {
        // [maximum]
        #[schemars(range(max = 9))]
        pub f: i32,
        // [/]
    }
    minimum {
        // [minimum]
        #[schemars(range(min = -1))]
        pub f: i32,
        // [/]
    }
    exclusive_maximum {
        // [exclusive_maximum]
        #[schemars(range(max = 1.5), extend("exclusiveMaximum" = true))]
        pub f: f64,
        // [/]
    }
    exclusive_minimum {
        // [exclusive_minimum]
        #[schemars(range(min = 0.0), extend("exclusiveMinimum" = true))]
        pub f: f64,
        // [/]
    }
    multiple_of {
        // [multiple_of]
        #[schemars(extend("multipleOf" = 5))]
        pub f: i32,
        // [/]
    }
    max_length {
        // [max_length]
        #[schemars(length(max = 63))]
        pub f: String,
        // [/]
    }
    min_length {
        // [min_length]
        #[schemars(length(min = 1))]
        pub f: String,
        // [/]
    }
    pattern {
        // [pattern]
        #[schemars(regex(pattern = "^[a-z]+$"))]
        pub f: String,
        // [/]
    }
    max_items {
        // [max_items]
        #[schemars(length(max = 10))]
        pub f: Vec<String>,
        // [/]
    }
    min_items {
        // [min_items]
        #[schemars(length(min = 1))]
        pub f: Vec<String>,
        // [/]
    }
    unique_items {
        // [unique_items]
        #[schemars(extend("x-kubernetes-list-type" = "set"))]
        pub f: Vec<String>,
        // [/]
    }
    max_properties {
        // [max_properties]
        #[schemars(extend("maxProperties" = 10))]
        pub f: BTreeMap<String, String>,
        // [/]
    }
    min_properties {
        // [min_properties]
        #[schemars(extend("minProperties" = 1))]
        pub f: BTreeMap<String, String>,
        // [/]
    }
    format {
        // [format]
        #[schemars(extend("format" = "date-time"))]
        pub f: String,
        // [/]
    }
    type_override {
        // [type_override]
        #[schemars(with = "String")]
        pub f: std::path::PathBuf,
        // [/]
    }
    int_or_string {
        // [int_or_string]
        /// A number, or a percentage.
        pub f: IntOrString,
        // [/]
    }
    embedded {
        // [embedded]
        /// An object of any kind.
        #[schemars(extend("x-kubernetes-embedded-resource" = true))]
        pub f: RawExtension,
        // [/]
    }
    preserve {
        // [preserve]
        pub f: Value,
        // [/]
    }
    preserve_struct {
        // [preserve_struct]
        #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
        pub f: Part,
        // [/]
    }
    immutable {
        // [immutable]
        #[x_kube(validation = ("self == oldSelf", "cannot be changed"))]
        pub f: String,
        // [/]
    }
    rule {
        // [rule]
        #[x_kube(validation = Rule::new("!oldSelf.hasValue() || self >= oldSelf.value()")
            .message(Message::Expression("self < 0 ? 'too small' : 'cannot shrink'".into()))
            .reason(Reason::FieldValueForbidden)
            .optional_old_self(true))]
        pub f: i32,
        // [/]
    }
    title {
        // [title]
        #[schemars(title = "The target")]
        pub f: String,
        // [/]
    }
    example {
        // [example]
        #[schemars(example = 8080)]
        pub f: i32,
        // [/]
    }
    docs {
        // [docs]
        #[schemars(extend("externalDocs" = {"url": "https://example.com/f", "description": "All about it"}))]
        pub f: String,
        // [/]
    }
    list_type {
        // [list_type]
        #[x_kube(merge_strategy = ListMerge::Set)]
        pub f: Vec<String>,
        // [/]
    }
    list_map_key {
        // [list_map_key]
        #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
        pub f: Vec<Part>,
        // [/]
    }
    map_type {
        // [map_type]
        #[x_kube(merge_strategy = MapMerge::Atomic)]
        pub f: BTreeMap<String, String>,
        // [/]
    }
    struct_type {
        // [struct_type]
        #[x_kube(merge_strategy = StructMerge::Atomic)]
        pub f: Part,
        // [/]
    }
    items_maximum {
        // [items_maximum]
        #[schemars(inner(range(max = 9)))]
        pub f: Vec<i32>,
        // [/]
    }
    items_minimum {
        // [items_minimum]
        #[schemars(inner(range(min = -1)))]
        pub f: Vec<i32>,
        // [/]
    }
    items_max_length {
        // [items_max_length]
        #[schemars(inner(length(max = 63)))]
        pub f: Vec<String>,
        // [/]
    }
    items_min_length {
        // [items_min_length]
        #[schemars(inner(length(min = 1)))]
        pub f: Vec<String>,
        // [/]
    }
    items_pattern {
        // [items_pattern]
        #[schemars(inner(regex(pattern = "^[a-z]+$")))]
        pub f: Vec<String>,
        // [/]
    }
    items_max_items {
        // [items_max_items]
        #[schemars(inner(length(max = 2)))]
        pub f: Vec<Vec<String>>,
        // [/]
    }
    items_min_items {
        // [items_min_items]
        #[schemars(inner(length(min = 2)))]
        pub f: Vec<Vec<String>>,
        // [/]
    }
    items_format {
        // [items_format]
        #[schemars(inner(email))]
        pub f: Vec<String>,
        // [/]
    }
    items_int_or_string {
        // [items_int_or_string]
        pub f: Vec<IntOrString>,
        // [/]
    }
    items_preserve {
        // [items_preserve]
        pub f: Vec<Value>,
        // [/]
    }
    items_type {
        // [items_type]
        #[schemars(with = "Vec<String>")]
        pub f: Vec<std::path::PathBuf>,
        // [/]
    }
}

fn three() -> u8 {
    3
}

/// A type that several examples use.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "")]
pub struct Part {
    name: String,
}
