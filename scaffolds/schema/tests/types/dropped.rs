//! Keywords in `#[schemars(extend(…))]` that kube-derive drops, or that make it panic: each is a finding with type, field and remedy.
//! These tests use the real kube-derive and schemars.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{CustomResource, CustomResourceExt};
use kubewright_schema::{CustomType, Options, finish};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::json;
use std::collections::BTreeMap;

type Kind = CustomType<CustomResourceDefinition>;

fn kind<K: CustomResourceExt + DeserializeOwned + JsonSchema + Serialize>() -> Kind {
    CustomType {
        name: "api::Other",
        ..CustomType::of::<K>(K::crd)
    }
}

/// Tests that a field is refused with exactly this finding: field, message and remedy.
macro_rules! refuses {
    ($($(#[$meta:meta])* $name:ident: $type:ty => $finding:expr;)*) => { $(
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
                let findings = finish(&[kind::<Other>()], &Options::default()).unwrap_err();
                let messages: Vec<String> = findings.iter().map(ToString::to_string).collect();
                assert_eq!(messages, [concat!("`api::Other`, ", $finding)]);
            }
        }
    )* };
}

macro_rules! types {
    ($($(#[$meta:meta])* $word:ident $name:ident $body:tt)*) => { $(
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        $(#[$meta])*
        pub $word $name $body
    )* };
}

types! {
    struct Part { name: String }
    struct Deep {
        parts: Vec<Part>,
        by_name: BTreeMap<String, Misspelt>,
    }
    struct Misspelt {
        #[schemars(extend("minlength" = 1))]
        g: String,
    }
    enum Mixed { Nothing, Named(Part) }
    struct Holder { mixed: Vec<Mixed> }
    #[serde(untagged)]
    enum Shared {
        A { /** One thing. */ a: String },
        B { /** Another. */ a: String, b: i32 },
    }
    #[serde(tag = "type")]
    enum Internal { A { x: String }, B { y: i32 } }
}

fn either(_: &mut schemars::SchemaGenerator) -> Schema {
    schemars::json_schema!({"type": ["string", "integer"]})
}

refuses! {
    #[schemars(extend("x-kubernetes-lst-type" = "set"))] misspelt: Vec<String> =>
        "`spec.f`: `x-kubernetes-lst-type` is not a keyword of CustomResourceDefinition schemas: the derive would drop it silently\
         \n\nhint: did you mean `x-kubernetes-list-type`?";
    #[schemars(extend("x-kubernetes-owner" = "a"))] unknown: String =>
        "`spec.f`: `x-kubernetes-owner` is not a keyword of CustomResourceDefinition schemas: the derive would drop it silently\
         \n\nhint: look for `x-kubernetes-owner` in `#[schemars(extend(…))]`, `transform` or `schema_with` on the field and its type";
    deep: Deep =>
        "`spec.f.by_name{}.g`: `minlength` is not a keyword of CustomResourceDefinition schemas: the derive would drop it silently\
         \n\nhint: did you mean `minLength`?";
    #[schemars(extend("propertyNames" = {"pattern": "^a"}))] names_of_keys: BTreeMap<String, String> =>
        "`spec.f`: `propertyNames` is not a keyword of CustomResourceDefinition schemas: the derive would drop it silently\
         \n\nhint: check the keys of the map with a validation rule: `self.all(key, …)`";
    #[schemars(extend("maximum" = "9"))] text_for_a_number: i32 =>
        "`spec.f`: `maximum` must be a number, but is \"9\"\
         \n\nhint: look for `maximum` in `#[schemars(extend(…))]`, `transform` or `schema_with` on the field and its type";
    #[schemars(extend("minLength" = -1))] negative: String =>
        "`spec.f`: `minLength` must be a non-negative integer, but is -1\
         \n\nhint: look for `minLength` in `#[schemars(extend(…))]`, `transform` or `schema_with` on the field and its type";
    #[schemars(extend("exclusiveMinimum" = 3))] bound_for_a_flag: i32 =>
        "`spec.f`: `exclusiveMinimum` must be true or false, but is 3\
         \n\nhint: set the bound with `minimum`: `#[schemars(range(min = …), extend(\"exclusiveMinimum\" = true))]`";
    #[schemars(extend("x-kubernetes-list-map-keys" = "name"))] key_for_keys: Vec<Part> =>
        "`spec.f`: `x-kubernetes-list-map-keys` must be a list of strings, but is \"name\"\
         \n\nhint: look for `x-kubernetes-list-map-keys` in `#[schemars(extend(…))]`, `transform` or `schema_with` on the field and its type";
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self != ''", "massage": "is empty"}]))] word_in_a_rule: String =>
        "`spec.f`: `x-kubernetes-validations.massage` is not a keyword of CustomResourceDefinition schemas: the derive would drop it \
         silently\n\nhint: did you mean `message`?";
    #[schemars(extend("externalDocs" = "https://example.com"))] docs_of_text: String =>
        "`spec.f`: `externalDocs` must be an object with `url` and `description`, but is \"https://example.com\"\
         \n\nhint: look for `externalDocs` in `#[schemars(extend(…))]`, `transform` or `schema_with` on the field and its type";
    #[schemars(schema_with = "super::either")] two_types: String =>
        "`spec.f`: `type` must be a string, but is [\"string\",\"integer\"]\
         \n\nhint: a field has one type; for a number or a string use `IntOrString`, for any value `serde_json::Value`";
    #[schemars(extend("minLength" = 1))] of_text_on_a_number: i32 =>
        "`spec.f`: `minLength` applies to strings, so it has no effect on type integer\
         \n\nhint: look for `minLength` in `#[schemars(extend(…))]`, and remove it or move it to the right type";
    #[schemars(extend("minProperties" = 1))] of_maps_on_a_list: Vec<String> =>
        "`spec.f`: `minProperties` applies to objects, so it has no effect on type array\
         \n\nhint: look for `minProperties` in `#[schemars(extend(…))]`, and remove it or move it to the right type";
    mixed: Holder =>
        "`spec.f.mixed[]`: an enum has the variant Nothing without fields and variants with fields, which a structural schema cannot \
         express\n\nhint: give fields to every variant (an empty struct variant is enough: `Name {}`), or to none";
    shared: Option<Shared> =>
        "`spec.f`: the variants of an enum share the property `a` but describe it differently; type, constraints and \
         doc comment must be the same in all of them\n\nhint: use one type for the shared field in every variant, with the \
         same doc comment, or rename one of them";
    internal: Internal =>
        "`spec.f`: an enum stores its variant's name in the property `type` (`#[serde(tag = \"type\")]`); kube-derive cannot make a \
         structural schema for internally or adjacently tagged enums\n\nhint: remove `#[serde(tag = …)]`, so that each variant \
         becomes a separate property; or keep it, and put `#[schemars(with = \"…\")]` on the field, with a struct of the same fields and the \
         markers of a union";
}

mod endless_rule {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, kube::KubeSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
    pub struct OtherSpec {
        #[x_kube(validation = "self.all(a, self.exists_one(b, a == b))")]
        pub f: Vec<String>,
    }

    #[test]
    fn refused() {
        let findings = finish(&[kind::<Other>()], &Options::default()).unwrap_err();
        let of_field: Vec<_> = findings.iter().filter(|it| it.field == "spec.f").collect();
        assert!(!of_field.is_empty(), "{findings:#?}");
        for finding in of_field {
            assert!(finding.message.contains("cost"), "{finding}");
            assert!(
                finding.remedy.as_deref().unwrap().contains("length(max = …)"),
                "{finding}"
            );
        }
    }
}

mod several {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(
        group = "test.example.com",
        version = "v1",
        kind = "Other",
        namespaced,
        status = "Misspelt"
    )]
    pub struct OtherSpec {
        #[schemars(extend("x-kubernetes-maptype" = "atomic"))]
        pub f: Option<Deep>,
    }

    #[test]
    fn all_are_found_at_once_in_spec_and_status() {
        let findings = finish(&[kind::<Other>()], &Options::default()).unwrap_err();
        let fields: Vec<&str> = findings.iter().map(|it| it.field.as_str()).collect();
        assert_eq!(fields, ["spec.f", "spec.f.by_name{}.g", "status.g"]);
    }
}

mod remarks {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
    pub struct OtherSpec {
        #[deprecated]
        #[schemars(extend("$comment" = "for us", "readOnly" = true))]
        pub f: String,
    }

    #[test]
    fn keywords_without_constraints_may_be_dropped() {
        let crds = finish(&[kind::<Other>()], &Options::default()).unwrap();
        let spec = &crds[0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
        assert_eq!(spec["properties"]["f"], json!({"type": "string"}));
    }
}

/// The process of the test below.
#[test]
#[ignore = "the test below runs it"]
fn panic_on_two_threads() {
    finish(&[kind::<mixed::Other>()], &Options::default()).unwrap_err();
    std::thread::spawn(|| panic!("of a thread")).join().unwrap_err();
}

#[test]
fn only_a_panic_that_becomes_a_finding_is_not_printed() {
    let mut process = std::process::Command::new(std::env::current_exe().unwrap());
    process.args(["--ignored", "--exact", "dropped::panic_on_two_threads", "--nocapture"]);
    let output = process.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
    assert!(
        printed.contains("of a thread") && printed.matches("panicked at").count() == 1,
        "{printed}"
    );
}
