//! Kubernetes' own types inside a custom resource are marked as controller-gen marks them: list types and their keys, types of maps,
//! defaults. `controller-gen.txt` is recorded by `fidelity record embedded` from the same kind in Go, so the comparison needs no Go.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Affinity, EnvVar, LocalObjectReference, PersistentVolumeClaim, PodTemplateSpec, ResourceRequirements,
    SecretKeySelector, ServicePort, Toleration, TypedLocalObjectReference, Volume,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::{CustomResource, CustomResourceExt};
use kubewright_schema::{CustomType, Options, finish, lint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

const MARKS: [&str; 4] = [
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "default",
];

/// The same as in `tests/control-plane/embedded/types.go`.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "FooBar", namespaced)]
#[serde(rename_all = "camelCase")]
struct FooBarSpec {
    template: PodTemplateSpec,
    claims: Vec<PersistentVolumeClaim>,
    selector: Option<LabelSelector>,
    tolerations: Option<Vec<Toleration>>,
    resources: Option<ResourceRequirements>,
    affinity: Option<Affinity>,
    env: Option<Vec<EnvVar>>,
    ports: Option<Vec<ServicePort>>,
    volumes: Option<BTreeMap<String, Volume>>,
    pull_secret: Option<LocalObjectReference>,
    password: SecretKeySelector,
    #[schemars(extend("x-kubernetes-map-type" = "granular"))]
    reference: TypedLocalObjectReference,
}

/// The schema of the spec.
fn spec<K: CustomResourceExt + DeserializeOwned + JsonSchema + Serialize>(options: &Options) -> Value {
    let crds = finish(&[CustomType::of::<K>(K::crd)], options).unwrap();
    assert_eq!(lint::causes(&crds[0]), [], "the API server accepts it");
    crds[0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"].clone()
}

/// Every mark below a node, as the recording has it; what controller-gen leaves out of metadata is left out.
fn marks(node: &Value, path: &str, lines: &mut Vec<String>) {
    let Value::Object(node) = node else { return };
    for key in MARKS {
        lines.extend(node.get(key).map(|value| format!("{path} {key} {value}")));
    }
    for (name, property) in node
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::iter)
    {
        marks(property, &format!("{path}.{name}"), lines);
    }
    for (key, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        if let Some(child) = node.get(key) {
            marks(child, &format!("{path}{suffix}"), lines);
        }
    }
}

fn marks_of<K: CustomResourceExt + DeserializeOwned + JsonSchema + Serialize>(options: &Options) -> Vec<String> {
    let mut lines = Vec::new();
    marks(&spec::<K>(options), "spec", &mut lines);
    lines.sort();
    lines
}

#[test]
fn pod_templates_claims_and_selectors_are_marked_as_controller_gen_marks_them() {
    let theirs: Vec<&str> = include_str!("controller-gen.txt").lines().collect();
    assert!(theirs.len() > 300, "{}", theirs.len());
    let ours = marks_of::<FooBar>(&Options::default());
    let missing: Vec<_> = theirs
        .iter()
        .filter(|line| !ours.iter().any(|our| our == *line))
        .collect();
    let added: Vec<_> = ours.iter().filter(|line| !theirs.contains(&line.as_str())).collect();
    assert!(
        missing.is_empty() && added.is_empty(),
        "missing: {missing:#?}\nadded: {added:#?}"
    );
}

#[test]
fn the_types_stay_as_the_derive_describes_them_where_that_is_asked_for() {
    let plain = Options {
        plain_kubernetes_types: true,
        ..Options::default()
    };
    assert_eq!(
        marks_of::<FooBar>(&plain),
        [r#"spec.reference x-kubernetes-map-type "granular""#],
        "the author's own mark stays"
    );
}

/// Kubernetes types behind enums, boxes, newtypes and flattened structs.
mod hidden {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Hidden", namespaced)]
    #[serde(rename_all = "camelCase")]
    struct HiddenSpec {
        source: Source,
        boxed: Option<Box<LabelSelector>>,
        wrapped: Wrapped,
        named: Option<Named>,
        #[serde(flatten)]
        parts: Parts,
    }

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    enum Source {
        Secret(SecretKeySelector),
        Selector { selector: LabelSelector },
    }

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    struct Wrapped(Vec<LocalObjectReference>);

    /// Refers to the type inside it by name.
    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    struct Named(ResourceRequirements);

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    struct Parts {
        resources: ResourceRequirements,
    }

    #[test]
    fn types_are_found_behind_enums_boxes_newtypes_and_flattened_structs() {
        let found = marks_of::<Hidden>(&Options::default());
        for mark in [
            r#"spec.source.secret x-kubernetes-map-type "atomic""#,
            r#"spec.source.secret.name default """#,
            r#"spec.source.selector.selector x-kubernetes-map-type "atomic""#,
            r#"spec.boxed x-kubernetes-map-type "atomic""#,
            r#"spec.wrapped[] x-kubernetes-map-type "atomic""#,
            r#"spec.named.claims x-kubernetes-list-map-keys ["name"]"#,
            r#"spec.resources.claims x-kubernetes-list-map-keys ["name"]"#,
        ] {
            assert!(found.iter().any(|line| line == mark), "{mark}: {found:#?}");
        }
    }
}

/// Fields with doc comments of their own, and of their types.
mod described {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Described", namespaced)]
    struct DescribedSpec {
        /// Of the field.
        own: Option<Level>,
        of_type: Option<Level>,
        variants: Variants,
    }

    /// Of the type.
    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    enum Level {
        /// Of a value.
        Low,
        /// Of another.
        High,
    }

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    enum Variants {
        /// Of the variant.
        Level(Level),
    }

    #[test]
    fn a_field_keeps_its_own_description() {
        let spec = &spec::<Described>(&Options::default())["properties"];
        assert_eq!(spec["own"]["description"], "Of the field.");
        assert_eq!(spec["of_type"]["description"], "Of the type.");
        let variant = &spec["variants"]["properties"]["Level"];
        assert_eq!(variant["description"], "Of the variant.");
    }
}

#[test]
fn the_metadata_of_a_pod_template_has_no_marks() {
    let spec = spec::<FooBar>(&Options::default());
    let mut lines = Vec::new();
    marks(
        &spec["properties"]["template"]["properties"]["metadata"],
        "metadata",
        &mut lines,
    );
    assert_eq!(json!(lines), json!([]));
}
