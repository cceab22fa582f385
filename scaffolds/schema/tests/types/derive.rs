//! Tests the schemas of Rust types: each row is the Rust type of a field, and its schema or its finding. These tests use the real
//! kube-derive and schemars.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::{CustomResource, CustomResourceExt};
use kubewright_schema::{Crd, Options, finish, lint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

type Describe = fn() -> CustomResourceDefinition;

/// The schema of `spec.f`, or the findings.
fn field(describe: Describe, options: &Options) -> Result<Value, String> {
    match finish(&[("api::Other", describe)], options) {
        Ok(crds) => {
            assert_eq!(lint::causes(&crds[0]), []);
            assert_eq!(lint::warnings(&crds[0]), Vec::<String>::new());
            let mut again = crds[0].clone();
            kubewright_schema::testing::normalise(&mut again, options);
            assert_eq!(again, crds[0], "normalising is idempotent");
            Ok(spec(&crds[0])["f"].clone())
        }
        Err(findings) => {
            assert!(
                findings
                    .iter()
                    .all(|it| it.type_name == "api::Other" && it.remedy.is_some()),
                "{findings:#?}"
            );
            Err(findings
                .iter()
                .map(|it| format!("{}: {}", it.field, it.message))
                .collect::<Vec<_>>()
                .join("\n"))
        }
    }
}

fn spec(crd: &Value) -> &Value {
    &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
}

/// Tests that a field of the given type has the given schema.
macro_rules! becomes {
    ($($(#[$meta:meta])* $name:ident: $type:ty => $schema:tt;)*) => {
        /// All rows, for the test with a real server.
        const BECOMES: &[(&str, Describe)] = &[$((stringify!($name), $name::Other::crd)),*];
        $(
        mod $name {
            use super::*;

            #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
            #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
            pub struct OtherSpec {
                $(#[$meta])*
                pub f: $type,
            }

            #[test]
            fn becomes() {
                let options = Options { max_description_length: Some(30), ..Options::default() };
                assert_eq!(field(Other::crd, &options), Ok(json!($schema)));
            }
        }
    )* };
}

/// Tests that a field of the given type is refused with a message that contains all the given parts.
macro_rules! refuses {
    ($($(#[$meta:meta])* $name:ident: $type:ty => $parts:expr;)*) => { $(
        mod $name {
            use super::*;

            #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
            #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
            pub struct OtherSpec {
                $(#[$meta])*
                pub f: $type,
            }

            #[test]
            fn refused() {
                let refusal = field(Other::crd, &Options::default()).unwrap_err();
                for part in $parts {
                    assert!(refusal.contains(part), "{refusal}");
                }
            }
        }
    )* };
}

macro_rules! types {
    ($($(#[$meta:meta])* $word:ident $name:ident $body:tt)*) => { $(
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $(#[$meta])*
        pub $word $name $body
    )* };
}

types! {
    struct Astray {
        pub a: i32,
    }
    struct Name { name: String }
    #[serde(deny_unknown_fields)]
    struct Closed {}
    struct Open {}
    enum Plain { One, Two }
    /// The variant.
    enum Documented {
        /// The first.
        One,
        Two,
    }
    enum Fields {
        /// # A heading
        ///
        /// The first.
        Named(Name),
        Size { size: u8 },
    }
    enum Mixed { Nothing, Named(Name) }
    #[serde(tag = "type")]
    enum Internal { A { x: String }, B { y: i32 } }
    #[serde(tag = "type", content = "value")]
    enum Adjacent { A(Name), B(i32) }
    #[serde(untagged)]
    enum Untagged { A { a: String }, B { b: i32 } }
    #[serde(untagged)]
    enum Scalars { S(String), I(i64) }
    #[serde(untagged)]
    enum TextOrObject { S(String), O(Name) }
    #[serde(untagged)]
    enum Shared {
        A { /** One thing. */ a: String },
        B { /** Another. */ a: String, b: i32 },
    }
    struct Tree { children: Vec<Tree> }
    struct CutTree {
        #[schemars(with = "Vec<Value>")]
        children: Vec<CutTree>,
    }
}

#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Key(#[schemars(regex(pattern = "^[a-z]+$"))] String);

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Defaulted {
    maybe: Option<String>,
    ratio: f32,
    inner: BTreeMap<String, Option<i32>>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Flattened {
    a: String,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct FlattenedStrings {
    a: String,
    #[serde(flatten)]
    rest: BTreeMap<String, String>,
}

fn five() -> Option<i32> {
    Some(5)
}

becomes! {
    text: String => {"type": "string"};
    optional: Option<String> => {"type": "string"};
    byte: u8 => {"type": "integer", "format": "int32", "minimum": 0, "maximum": 255};
    short: u16 => {"type": "integer", "format": "int32", "minimum": 0, "maximum": 65535};
    word: u32 => {"type": "integer", "format": "int64", "minimum": 0, "maximum": 4294967295u32};
    long: u64 => {"type": "integer", "format": "int64", "minimum": 0};
    size: usize => {"type": "integer", "format": "int64", "minimum": 0};
    tiny: i8 => {"type": "integer", "format": "int32", "minimum": -128, "maximum": 127};
    pointer: isize => {"type": "integer", "format": "int64"};
    huge: i128 => {"type": "integer", "format": "int64"};
    positive: std::num::NonZeroU8 => {"type": "integer", "format": "int32", "minimum": 1, "maximum": 255};
    #[schemars(range(min = 3, max = 9))] ranged: u8 => {"type": "integer", "format": "int32", "minimum": 3, "maximum": 9};
    float: f32 => {"type": "number", "format": "float"};
    #[serde(default = "super::five")] defaulted: Option<i32> => {"type": "integer", "format": "int32", "default": 5};
    #[serde(default)] default_null: Option<i32> => {"type": "integer", "format": "int32"};
    #[schemars(extend("minimum" = 1.0, "multipleOf" = 2.0))] integral: f64 => {
        "type": "number", "format": "double", "minimum": 1, "multipleOf": 2,
    };
    #[serde(default)] nested_default: Defaulted => {
        "type": "object",
        "default": {"ratio": 0, "inner": {}},
        "required": ["inner", "ratio"],
        "properties": {
            "maybe": {"type": "string"},
            "ratio": {"type": "number", "format": "float"},
            "inner": {"type": "object", "additionalProperties": {"type": "integer", "format": "int32", "nullable": true}},
        },
    };
    anything: Value => {"x-kubernetes-preserve-unknown-fields": true};
    maybe_anything: Option<Value> => {"x-kubernetes-preserve-unknown-fields": true};
    map: BTreeMap<String, String> => {"type": "object", "additionalProperties": {"type": "string"}};
    map_of_anything: HashMap<String, Value> => {
        "type": "object", "additionalProperties": {"x-kubernetes-preserve-unknown-fields": true},
    };
    map_by_number: BTreeMap<u32, String> => {"type": "object", "additionalProperties": {"type": "string"}};
    map_by_signed_number: BTreeMap<i8, String> => {"type": "object", "additionalProperties": {"type": "string"}};
    map_by_enum: BTreeMap<Plain, String> => {"type": "object", "properties": {"One": {"type": "string"}, "Two": {"type": "string"}}};
    raw: RawExtension => {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "description": "RawExtension is used to hold"};
    /** Documented. */ raw_documented: RawExtension => {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true, "description": "Documented.",
    };
    open: Open => {"type": "object", "x-kubernetes-preserve-unknown-fields": true};
    closed: Closed => {"type": "object", "properties": {}};
    plain: Plain => {"type": "string", "enum": ["One", "Two"]};
    optional_plain: Option<Plain> => {"type": "string", "enum": ["One", "Two"]};
    list_of_maybe: Vec<Option<Plain>> => {
        "type": "array", "items": {"type": "string", "enum": ["One", "Two", null], "nullable": true},
    };
    documented: Documented => {"type": "string", "enum": ["Two", "One"], "description": "The variant."};
    fields: Option<Fields> => {
        "type": "object",
        "oneOf": [{"required": ["Named"]}, {"required": ["Size"]}],
        "properties": {
            "Named": {"type": "object", "description": "The first.", "required": ["name"], "properties": {"name": {"type": "string"}}},
            "Size": {
                "type": "object", "required": ["size"],
                "properties": {"size": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 255}},
            },
        },
    };
    untagged: Untagged => {
        "type": "object",
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        "properties": {"a": {"type": "string"}, "b": {"type": "integer", "format": "int32"}},
    };
    int_or_string: Option<IntOrString> => {"x-kubernetes-int-or-string": true, "description": "IntOrString is a type that can"};
    /** How much. */ quantity: Option<Quantity> => {"x-kubernetes-int-or-string": true, "description": "How much."};
    flattened: Flattened => {
        "type": "object", "required": ["a"], "properties": {"a": {"type": "string"}},
        "x-kubernetes-preserve-unknown-fields": true,
    };
    address: std::net::IpAddr => {"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]};
    cut_recursion: CutTree => {
        "type": "object", "required": ["children"],
        "properties": {"children": {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": true}}},
    };
    array: [u8; 4] => {
        "type": "array", "minItems": 4, "maxItems": 4,
        "items": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 255},
    };
    #[schemars(title = "Kept")] titled: String => {"type": "string", "title": "Kept"};
    #[schemars(extend("x-kubernetes-list-type" = "set"))] set: Vec<String> => {
        "type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set",
    };
    #[schemars(extend("exclusiveMinimum" = true), range(min = 1.5))] above: f64 => {
        "type": "number", "format": "double", "minimum": 1.5, "exclusiveMinimum": true,
    };
}

refuses! {
    mixed: Mixed => ["an enum has the variant Nothing without fields and variants with fields"];
    internal: Internal => ["in the property `type` (`#[serde(tag = \"type\")]`)"];
    adjacent: Adjacent => ["in the property `type` (`#[serde(tag = \"type\")]`)"];
    shared: Shared => ["share the property `a` but describe it differently"];
    scalars: Scalars => ["spec.f: Required value: must not be empty for specified object fields"];
    text_or_object: TextOrObject => ["spec.f: an untagged enum has variants that are objects and variants that are not"];
    tuple: Vec<(String, i32)> => ["spec.f[]: Forbidden: items must be a schema object and not an array"];
    recursion: BTreeMap<String, Tree> => ["spec.f{}.children[]: Forbidden: $ref is not supported"];
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self.a == 1", "fieldPath": ".b"}]))] astray: Astray => [
        "spec.f: Invalid value: \".b\"",
    ];
    map_by_pattern: BTreeMap<Key, String> => ["spec.f: Forbidden: patternProperties is not supported"];
    #[schemars(extend("x-kubernetes-map-type" = "atomic"))] atomic_value: Value => ["spec.f: Required value: must be object if x-kubernetes-map-type"];
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf"}]))] final_value: Value => ["failed to construct type information"];
    unit: () => ["spec.f: Required value: must not be empty for specified object fields"];
    flattened_strings: FlattenedStrings => ["spec.f: Forbidden: additionalProperties and properties are mutual exclusive"];
    #[schemars(regex(pattern = "^(?!x)"))] look_ahead: String => [
        "spec.f: Invalid value: \"^(?!x)\": must be a valid regular expression",
        "error parsing regexp: invalid or unsupported Perl syntax: `(?!`",
    ];
    #[schemars(extend("format" = "date-tme"))] format: String => ["spec.f: unrecognized format \"date-tme\""];
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["nam"]))] keys: Vec<Name> => [
        "spec.f: Invalid value: [\"nam\"]: entries must all be names of item properties",
    ];
}

#[test]
fn remedies_name_what_to_write() {
    let remedy = |crd: fn() -> CustomResourceDefinition| {
        let findings = finish(&[("Other", crd)], &Options::default()).unwrap_err();
        findings[0].remedy.clone().unwrap()
    };
    assert!(remedy(unit::Other::crd).contains("use `struct Name {}`"));
    assert!(remedy(recursion::Other::crd).contains("hold `serde_json::Value` and decode it in the reconciler"));
    assert!(remedy(atomic_value::Other::crd).contains("`RawExtension`"));
    assert!(remedy(final_value::Other::crd).contains("`RawExtension`"));
    assert!(remedy(map_by_pattern::Other::crd).contains("self.all(key, key.matches('…'))"));
    let astray = remedy(astray::Other::crd);
    assert!(
        astray.contains("`field_path(…)`") && astray.contains("such as `.size`"),
        "{astray}"
    );
}

#[test]
fn nullable_can_be_kept() {
    let options = Options {
        keep_nullable: true,
        ..Options::default()
    };
    assert_eq!(
        field(optional::Other::crd, &options),
        Ok(json!({"type": "string", "nullable": true}))
    );
    let plain = json!({"type": "string", "nullable": true, "enum": ["One", "Two", null]});
    assert_eq!(field(optional_plain::Other::crd, &options), Ok(plain));
}

#[test]
fn all_descriptions_are_cut_or_removed() {
    let options = Options {
        max_description_length: Some(0),
        ..Options::default()
    };
    let crds: [Crd<CustomResourceDefinition>; 1] = [("api::Other", raw::Other::crd)];
    assert!(!finish(&crds, &options).unwrap()[0].to_string().contains("description"));
    let options = Options {
        max_description_length: Some(30),
        ..Options::default()
    };
    let cut = finish(&crds, &options).unwrap();
    assert_eq!(spec(&cut[0])["f"]["description"], "RawExtension is used to hold");
}

mod pod {
    use super::*;

    /// A Pod template, the largest schema that operators commonly embed.
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
    pub struct OtherSpec {
        pub f: k8s_openapi::api::core::v1::PodTemplateSpec,
        pub g: Option<k8s_openapi::api::core::v1::ResourceRequirements>,
        pub h: Vec<k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector>,
    }
}

#[test]
fn a_whole_pod_template_is_accepted() {
    let schema = field(pod::Other::crd, &Options::default()).unwrap();
    let containers = &schema["properties"]["spec"]["properties"]["containers"];
    assert_eq!(
        containers["items"]["properties"]["ports"]["items"]["required"],
        json!(["containerPort"])
    );
    assert!(!schema.to_string().contains("\"nullable\""));
}

#[test]
#[ignore = "writes the CRD for benches/manifests to the path in POD_CRD"]
fn pod_crd() {
    let Some(path) = std::env::var_os("POD_CRD") else {
        return;
    };
    let options = Options {
        max_description_length: Some(0),
        ..Options::default()
    };
    let crds = finish(&[("api::Other", pod::Other::crd as Describe)], &options).unwrap();
    std::fs::write(path, crds[0].to_string()).unwrap();
}

#[test]
#[ignore = "needs KUBEBUILDER_ASSETS"]
fn the_server_accepts_every_type_without_a_warning() {
    let server = crate::control_plane::ControlPlane::start();
    for (name, describe) in BECOMES.iter().chain(&[("pod", pod::Other::crd as Describe)]) {
        let crds = finish(&[("api::Other", *describe)], &Options::default()).unwrap();
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All&fieldValidation=Strict";
        let answer = server.post(path, &crds[0]);
        assert_eq!(
            (answer.status, answer.warnings.len()),
            (201, 0),
            "{name}: {} {:?}",
            answer.body,
            answer.warnings
        );
    }
}
