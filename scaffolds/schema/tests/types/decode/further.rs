//! Types whose decoders refuse more than their schemas say: `make manifests` refuses each with a remedy, or what its CRD admits decodes.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::num::{NonZeroI64, NonZeroU8};
use std::ops::{Bound, Range, RangeInclusive};

use k8s_openapi::api::core::v1::{Affinity, ConfigMap, Probe, Secret, ServicePort, Volume};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, OwnerReference};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{admitted, finished};

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    name: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Rest {
    name: String,
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum NumberOrText {
    Number(u8),
    Text(String),
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plain {
    FirstOne,
    /// The second.
    SecondOne,
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Generic<T> {
    value: T,
    others: Vec<T>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Defaults {
    port: NonZeroU8,
    names: BTreeSet<String>,
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            port: NonZeroU8::MAX,
            names: BTreeSet::from(["a".to_owned()]),
        }
    }
}

macro_rules! agree {
    ($($name:ident: $type:ty;)*) => { $(
        mod $name {
            use super::*;

            #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
            #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
            pub struct OtherSpec {
                pub f: $type,
            }

            #[test]
            fn is_refused_or_decodes_what_its_crd_admits() {
                match finished::<Other>() {
                    Ok(crd) => admitted::all_decode::<Other>(stringify!($name), &crd),
                    Err(findings) => assert!(findings.iter().all(|it| it.remedy.is_some()), "{findings:#?}"),
                }
            }
        }
    )* };
}

agree! {
    non_zero: NonZeroU8;
    non_zero_signed: NonZeroI64;
    wide: i128;
    unsigned_wide: u128;
    pair: (String, u8);
    pairs: Vec<(u8, u8)>;
    array: [u8; 2];
    nested_array: [[u8; 2]; 2];
    set: BTreeSet<u8>;
    hash_set: HashSet<String>;
    set_of_sets: BTreeSet<BTreeSet<u8>>;
    range: Range<u8>;
    inclusive: RangeInclusive<i64>;
    bound: Bound<u8>;
    result: Result<u8, String>;
    unit: ();
    boxed: Box<str>;
    span: jiff::Span;
    number: serde_json::Number;
    map_of_numbers: BTreeMap<i64, String>;
    map_of_versions: BTreeMap<String, semver::Version>;
    double_option: Option<Option<u8>>;
    options: Vec<Option<u8>>;
    map_of_options: BTreeMap<String, Option<u8>>;
    closed: Closed;
    rest: Rest;
    untagged: NumberOrText;
    one_or_many: OneOrMany;
    plain: Plain;
    plains: BTreeMap<String, Plain>;
    generic: Generic<NonZeroU8>;
    defaults: Defaults;
    selector: LabelSelector;
    owner: OwnerReference;
    ports: Vec<ServicePort>;
    ports_or_names: Vec<IntOrString>;
    probe: Probe;
    affinity: Affinity;
    volumes: Vec<Volume>;
    config_map: ConfigMap;
    secret: Secret;
}

/// A field that needs a pattern, beside fields of which no ready-made value is valid.
macro_rules! closed {
    ($($name:ident: $(#[$rule:meta])* { $($fields:tt)* })*) => { $(
        mod $name {
            use super::*;

            #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, kube::KubeSchema)]
            #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
            $(#[$rule])*
            pub struct OtherSpec {
                pub at: Option<jiff::Timestamp>,
                $($fields)*
            }

            #[test]
            fn is_closed() {
                let crd = finished::<Other>().unwrap();
                let spec = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
                assert!(spec["properties"]["at"]["pattern"].is_string(), "{spec}");
            }
        }
    )* };
}

closed! {
    a_pattern: {
        #[schemars(regex(pattern = r"^v\d+\.\d+\.\d+$"))]
        pub version: String,
    }
    a_lazy_repetition: {
        #[schemars(regex(pattern = "^[[:upper:]][0-9]+?$"))]
        pub code: String,
    }
    a_long_text: {
        #[schemars(regex(pattern = "^db-[a-z]+$"), length(min = 8))]
        pub name: String,
    }
    an_example: {
        #[schemars(regex(pattern = r"^\p{Lu}{3}$"), example = &"ABC")]
        pub code: String,
    }
    an_array: { pub window: [u16; 2], }
    a_set: {
        #[schemars(length(min = 3))]
        pub names: BTreeSet<String>,
    }
    a_list_with_keys: {
        #[schemars(length(min = 3), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
        pub items: Vec<Closed>,
    }
    a_map: {
        #[schemars(extend("minProperties" = 2))]
        pub labels: BTreeMap<String, String>,
    }
    a_rule: #[kube(validation = "self.spec.min < self.spec.max")] {
        pub min: i32,
        pub max: i32,
    }
    a_rule_of_optional_fields: #[kube(validation = "has(self.spec.one) != has(self.spec.other)")] {
        pub one: Option<i32>,
        pub other: Option<String>,
    }
}

/// No value is known for a pattern.
mod unknown {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
    pub struct OtherSpec {
        pub at: Option<jiff::Timestamp>,
        pub part: Option<Code>,
    }

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub struct Code {
        #[schemars(regex(pattern = r"^\p{Lu}{3}$"))]
        code: String,
        size: u8,
    }
}

/// No object is known for a rule.
mod single {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, kube::KubeSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
    #[kube(validation = "self.metadata.name == 'cluster'")]
    pub struct OtherSpec {
        pub text: String,
    }
}

#[test]
fn a_type_that_no_object_checks_needs_an_example() {
    let findings = finished::<unknown::Other>().unwrap_err();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(findings[0].field, "spec.part.code");
    assert!(
        findings[0].to_string().contains("#[schemars(example = …)]"),
        "{findings:#?}"
    );
    assert!(finished::<single::Other>().is_ok(), "no example would help");
}
