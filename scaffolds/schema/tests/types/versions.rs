//! Tests that types that are versions of one kind become one CRD, or a finding.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{CustomResource, CustomResourceExt};
use kubewright_schema::{Crd, CustomType, Options, finish, lint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A version of the kind, with the given attributes.
macro_rules! version {
    ($name:ident, $($attribute:tt)*) => {
        mod $name {
            use super::*;

            #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
            #[kube(group = "test.example.com", $($attribute)*)]
            pub struct FooBarSpec {
                #[doc = concat!("As of ", stringify!($name))]
                pub target: Option<String>,
            }
        }
    };
}

version!(
    v1beta1,
    version = "v1beta1",
    kind = "FooBar",
    namespaced,
    storage = false,
    shortname = "fb",
    category = "all"
);
version!(
    v1,
    version = "v1",
    kind = "FooBar",
    namespaced,
    shortname = "fb",
    shortname = "foo"
);
version!(
    v2alpha1,
    version = "v2alpha1",
    kind = "FooBar",
    namespaced,
    storage = false,
    served = false
);
version!(stored_too, version = "v2", kind = "FooBar", namespaced);
version!(v1_again, version = "v1", kind = "FooBar", namespaced, storage = false);
version!(cluster, version = "v2", kind = "FooBar", storage = false);
version!(
    other_plural,
    version = "v2",
    kind = "FooBar",
    plural = "foobarz",
    namespaced
);
version!(
    labelled,
    version = "v2",
    kind = "FooBar",
    namespaced,
    storage = false,
    label("team", "a"),
    annotation("a/b", "1")
);
version!(
    labelled_otherwise,
    version = "v3",
    kind = "FooBar",
    namespaced,
    storage = false,
    annotation("a/b", "2")
);

const V1: Crd<CustomResourceDefinition> = ("api::v1::FooBar", v1::FooBar::crd);
const V1BETA1: Crd<CustomResourceDefinition> = ("api::v1beta1::FooBar", v1beta1::FooBar::crd);

fn refusal(crds: &[Crd<CustomResourceDefinition>]) -> String {
    let findings = finish(crds, &Options::default()).unwrap_err();
    findings
        .iter()
        .map(|finding| finding.to_string())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn versions_are_merged_and_sorted_by_priority() {
    let crds = finish(
        &[V1BETA1, ("api::v2alpha1::FooBar", v2alpha1::FooBar::crd), V1],
        &Options::default(),
    )
    .unwrap();
    assert_eq!(crds.len(), 1);
    assert_eq!(lint::causes(&crds[0]), []);
    let versions = crds[0]["spec"]["versions"].as_array().unwrap();
    let flags = |it: &Value| {
        (
            it["name"].as_str().unwrap().to_owned(),
            it["served"] == true,
            it["storage"] == true,
        )
    };
    let flags: Vec<_> = versions.iter().map(flags).collect();
    assert_eq!(
        flags,
        [
            ("v1".into(), true, true),
            ("v1beta1".into(), true, false),
            ("v2alpha1".into(), false, false)
        ]
    );
    let names = &crds[0]["spec"]["names"];
    assert_eq!(
        (&names["shortNames"], &names["categories"]),
        (&json!(["fb", "foo"]), &json!(["all"]))
    );
    let field = "/schema/openAPIV3Schema/properties/spec/properties/target/description";
    assert_eq!(
        versions[1].pointer(field),
        Some(&json!("As of v1beta1")),
        "each version keeps its own schema"
    );
}

#[test]
fn exactly_one_version_must_be_marked_as_stored() {
    let both = refusal(&[V1, ("api::v2::FooBar", stored_too::FooBar::crd)]);
    assert!(
        both.starts_with("`api::v1::FooBar`: versions v2, v1 are all marked as the storage version\n\nhint: "),
        "{both}"
    );
    assert!(both.contains("#[kube(storage = false)]"), "{both}");
    let none = refusal(&[V1BETA1]);
    assert!(
        none.starts_with("`api::v1beta1::FooBar`: no version is marked as the storage version"),
        "{none}"
    );
}

#[test]
fn versions_that_contradict_each_other_are_reported() {
    let twice = refusal(&[V1, ("api::again::FooBar", v1_again::FooBar::crd)]);
    assert!(
        twice.contains("`api::again::FooBar`: has the same resource and version `v1` as `api::v1::FooBar`"),
        "{twice}"
    );
    let scope = refusal(&[V1, ("api::v2::FooBar", cluster::FooBar::crd)]);
    let expected = "`api::v2::FooBar`, `spec.scope`: is \"Cluster\" here and \"Namespaced\" in `api::v1::FooBar`";
    assert!(scope.contains(expected), "{scope}");
    let plural = refusal(&[V1, ("api::v2::FooBar", other_plural::FooBar::crd)]);
    assert!(
        plural.contains("the kind `FooBar` has two plurals, `foobars` and `foobarz`"),
        "{plural}"
    );
    let labelled = (
        "api::v2::FooBar",
        labelled::FooBar::crd as fn() -> CustomResourceDefinition,
    );
    let annotations = refusal(&[V1, labelled, ("api::v3::FooBar", labelled_otherwise::FooBar::crd)]);
    assert!(
        annotations.contains("`metadata.annotations.a/b`: is \"2\" here and \"1\""),
        "{annotations}"
    );
}

version!(short, version = "v1", kind = "Bar", shortname = "foobar", namespaced);
version!(same_short, version = "v1", kind = "Bar", shortname = "foo", namespaced);
version!(list, version = "v1", kind = "FooBarList", namespaced);
version!(
    unrelated,
    version = "v1",
    kind = "Bar",
    singular = "foobarlist",
    namespaced
);

#[test]
fn kinds_of_one_group_share_no_names() {
    for (crd, field, name) in [
        (
            short::Bar::crd as fn() -> CustomResourceDefinition,
            "singular",
            "foobar",
        ),
        (same_short::Bar::crd, "shortNames", "foo"),
        (list::FooBarList::crd, "listKind", "FooBarList"),
    ] {
        let found = refusal(&[V1, ("api::v1::Other", crd)]);
        let named = format!("`spec.names.{field}`: `{name}` is also a name of `api::v1::");
        assert_eq!(found.matches("hint: ").count(), 1, "{found}");
        assert!(found.contains(&named), "{found}");
    }
    finish(&[V1, ("api::v1::Other", unrelated::Bar::crd)], &Options::default()).unwrap();
}

#[test]
fn labels_and_annotations_of_all_versions_are_kept() {
    let crds = finish(&[V1, ("api::v2::FooBar", labelled::FooBar::crd)], &Options::default()).unwrap();
    let metadata = &crds[0]["metadata"];
    assert_eq!(
        (&metadata["labels"]["team"], &metadata["annotations"]["a/b"]),
        (&json!("a"), &json!("1"))
    );
}

/// A kind with the storage version `v1` and another version `v2`, with these specs.
fn shapes(v1: fn() -> Value, v2: fn() -> Value) -> Result<Vec<Value>, Vec<String>> {
    finish(&[("api::v1::Foo", v1), ("api::v2::Foo", v2)], &Options::default())
        .map_err(|findings| findings.iter().map(ToString::to_string).collect())
}

fn shape(version: &str, spec: Value) -> Value {
    json!({
        "metadata": {"name": "foos.test.example.com"},
        "spec": {
            "group": "test.example.com", "scope": "Namespaced", "names": {"kind": "Foo", "plural": "foos"},
            "versions": [{"name": version, "served": version != "v3", "storage": version == "v1", "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": spec},
            }}}],
        },
    })
}

fn base() -> Value {
    shape(
        "v1",
        json!({"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}}),
    )
}

#[test]
fn versions_without_a_conversion_must_have_the_same_fields() {
    let refused = |v2: fn() -> Value| shapes(base, v2).unwrap_err();
    let more = || {
        let spec = json!({"type": "object", "properties": {
            "a": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "string"},
        }});
        shape("v2", spec)
    };
    assert_eq!(
        refused(more),
        [
            "`api::v2::Foo`, `spec.b`: from version `v2` to `v1`, the field is gone\n\nhint: `v1` is the storage version, and the kind has \
             no conversion webhook, so `v2` needs the same fields: add the field to both, as an optional field where it is new; or run \
             `kubewright create webhook --kind Foo --conversion`, which writes functions that convert `v2`; if they are there already, say so \
             with `#[kube(annotation(\"kubewright.dev/conversion\", \"Webhook\"))]`"
        ]
    );
    let converted = || {
        let mut crd = shape("v2", json!({"type": "object", "properties": {"b": {"type": "string"}}}));
        crd["metadata"]["annotations"] = json!({"kubewright.dev/conversion": "Webhook"});
        crd
    };
    let converted = shapes(base, converted).unwrap();
    assert!(
        converted[0]["spec"].get("conversion").is_none(),
        "the operator writes it once it answers"
    );
    let fewer = || shape("v2", json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    assert!(refused(fewer)[0].contains("`spec.n`: from version `v1` to `v2`, the field is gone"));
    let types = || {
        let spec = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "n": {"type": "string"}}});
        shape("v2", spec)
    };
    let both = refused(types);
    assert_eq!(
        both.len(),
        2,
        "one finding per field, though both directions differ: {both:?}"
    );
    assert!(both[0].contains("`spec.n`: from version `v2` to `v1`, the type was string and is integer"));
    assert!(both[1].contains("`spec.a`: from version `v1` to `v2`, the field is required"));
}

#[test]
fn versions_may_differ_in_validation_and_defaults() {
    let stricter = || {
        let spec = json!({"type": "object", "description": "New.", "properties": {
            "a": {"type": "string", "maxLength": 5, "default": "x"}, "n": {"type": "integer", "minimum": 1},
        }});
        shape("v2", spec)
    };
    shapes(base, stricter).unwrap();
    // No client reads or writes a version that is not served.
    shapes(base, || shape("v3", json!({"type": "object"}))).unwrap();
}

#[test]
fn selectable_fields_that_an_api_server_refuses_in_several_versions_are_reported() {
    fn with_fields(mut crd: Value, fields: &[&str]) -> Value {
        let fields: Vec<Value> = fields.iter().map(|field| json!({"jsonPath": field})).collect();
        crd["spec"]["versions"][0]["selectableFields"] = fields.into();
        crd
    }
    fn longer() -> Value {
        let spec = json!({"type": "object", "properties": {
            "a": {"type": "string", "maxLength": 5}, "n": {"type": "integer"},
        }});
        shape("v2", spec)
    }
    fn same() -> Value {
        shape(
            "v2",
            base()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"].clone(),
        )
    }
    let v1 = || with_fields(base(), &[".spec.a", ".spec.n"]);
    shapes(v1, || with_fields(same(), &[".spec.a", ".spec.n"])).unwrap();
    shapes(v1, || with_fields(longer(), &[".spec.n", ".spec.a"])).unwrap();
    shapes(v1, || with_fields(longer(), &[".spec.a"])).unwrap();
    assert_eq!(
        shapes(v1, || with_fields(longer(), &[".spec.a", ".spec.n"])).unwrap_err(),
        [
            "`api::v1::Foo`, `api::v2::Foo`, `spec.selectableFields`: Invalid value: \"\": may only be set when validations.schema is \
             included\n\nhint: an API server refuses lists of selectable fields that are the same in all versions if the schemas differ: \
             in one version, write its `#[kube(selectable = …)]` in another order, add one, or leave one out"
        ]
    );
    let refused = shapes(v1, || with_fields(same(), &[".spec.n", ".spec.a"])).unwrap_err();
    assert_eq!(refused.len(), 2, "one for each version: {refused:?}");
    assert!(
        refused[1].contains("versions with the same schema need the same `#[kube(selectable = …)]`, in the same order"),
        "{refused:?}"
    );
}

/// A version of a kind with these types.
macro_rules! typed {
    ($name:ident, $version:literal, $is_stored:literal, $($annotation:literal)?, $($(#[$meta:meta])* $field:ident: $type:ty),*) => {
        mod $name {
            use super::*;

            #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
            #[kube(group = "test.example.com", version = $version, kind = "FooBar", namespaced, storage = $is_stored)]
            $(#[kube(annotation("kubewright.dev/conversion", $annotation))])?
            pub struct FooBarSpec {
                $($(#[$meta])* pub $field: $type,)*
            }
        }
    };
}
typed!(narrow, "v1", true, , size: i32, at: jiff::Timestamp);
typed!(wide, "v2", false, , size: i64, at: String);
typed!(converted, "v2", false, "Webhook", size: i64, at: String);
typed!(limited, "v2", false, , #[schemars(range(max = 9))] size: i32, #[schemars(length(max = 30))] at: jiff::Timestamp);

#[test]
fn versions_without_a_conversion_must_decode_what_the_others_admit() {
    let both = |other| {
        let finished = finish(
            &[CustomType::of::<narrow::FooBar>(narrow::FooBar::crd), other],
            &Options::default(),
        );
        finished
            .map(|_| ())
            .map_err(|findings| findings.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let findings = both(CustomType::of::<wide::FooBar>(wide::FooBar::crd)).unwrap_err();
    let said = |field: &str, value: &str| {
        let start = format!(
            "`types::versions::narrow::FooBar`, `spec.{field}`: version `v2` admits {value} here, and this type cannot decode it"
        );
        findings.iter().any(|finding| {
            finding.starts_with(&start) && finding.contains("kubewright create webhook --kind FooBar --conversion")
        })
    };
    assert!(
        findings.len() == 2 && said("size", "-2147483649") && said("at", "\"a\""),
        "{findings:#?}"
    );
    both(CustomType::of::<converted::FooBar>(converted::FooBar::crd)).unwrap();
    both(CustomType::of::<limited::FooBar>(limited::FooBar::crd)).unwrap();
}
