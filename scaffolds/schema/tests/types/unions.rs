//! Unions with the markers of Kubernetes' own types: objects that their rules accept and refuse, by this crate's validator and by a real
//! kube-apiserver, and what their types decode.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use kube::{CustomResource, CustomResourceExt, KubeSchema};
use kubewright_schema::{CustomType, Finding, Options, examples, finish, value::Structural};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub enum Kind {
    /// Ends all Pods first.
    Recreate,
    #[default]
    RollingUpdate,
    Blue,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RollingUpdate {
    max_surge: Option<u8>,
}

/// As a Deployment has it: a discriminator, and two fields that belong to one value each.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StrategyFields {
    #[schemars(extend("k8s:unionDiscriminator" = true))]
    r#type: Kind,
    #[schemars(extend("k8s:unionMember" = true))]
    rolling_update: Option<RollingUpdate>,
    #[schemars(extend("k8s:unionMember" = {"memberName": "Blue", "optional": true}))]
    namespace: Option<String>,
    paused: Option<bool>,
}

/// The same union as an enum, which has no states that the rules refuse.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "type")]
pub enum Strategy {
    Recreate {
        paused: Option<bool>,
    },
    #[serde(rename_all = "camelCase")]
    RollingUpdate {
        rolling_update: RollingUpdate,
        paused: Option<bool>,
    },
    Blue {
        namespace: Option<String>,
        paused: Option<bool>,
    },
}

/// A discriminator that may be absent, one with a default, and one whose name is a word of the rules' language.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Lenient {
    #[schemars(extend("k8s:unionDiscriminator" = true))]
    import: Option<String>,
    #[schemars(extend("k8s:unionMember" = {"memberName": "it's"}))]
    #[serde(rename = "own-path")]
    own_path: Option<u8>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Defaulted {
    #[schemars(extend("k8s:unionDiscriminator" = true))]
    #[serde(default)]
    kind: Kind,
    #[schemars(extend("k8s:unionMember" = {"memberName": "RollingUpdate"}))]
    rolling: Option<RollingUpdate>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Flattening {
    name: String,
    #[serde(flatten)]
    defaulted: Defaulted,
}

macro_rules! kind {
    ($(#[$meta:meta])* $type:ty) => {
        use super::*;

        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
        #[kube(group = "test.example.com", version = "v1", kind = "Other", namespaced)]
        pub struct OtherSpec {
            $(#[$meta])*
            pub f: $type,
        }
    };
}

mod fields {
    kind!(StrategyFields);
}
mod list {
    kind!(Vec<StrategyFields>);
}
mod map {
    kind!(BTreeMap<String, StrategyFields>);
}
mod numbered {
    kind!(#[x_kube(validation = "self.all(key, key.matches('^[1-9]$'))")] BTreeMap<u8, StrategyFields>);
}
mod optional {
    kind!(Option<StrategyFields>);
}
mod lenient {
    kind!(Lenient);
}
mod defaulted {
    kind!(Defaulted);
}
mod flattening {
    kind!(Flattening);
}
mod as_enum {
    kind!(
        #[schemars(with = "StrategyFields")]
        Strategy
    );
}
mod enums {
    kind!(#[schemars(with = "Vec<StrategyFields>")] Vec<Strategy>);
}

fn finished<K: CustomResourceExt + DeserializeOwned + JsonSchema + Serialize>() -> Result<Value, Vec<Finding>> {
    finish(&[CustomType::of::<K>(K::crd)], &Options::default()).map(|mut crds| crds.remove(0))
}

/// Values of `spec.f`, and the causes with which API servers refuse them.
struct Story {
    crd: Value,
    values: Vec<(Value, Vec<&'static str>)>,
}

const FORBIDDEN: &str =
    "spec.f.rollingUpdate: FieldValueForbidden: Forbidden: may only be set if type is RollingUpdate";
const REQUIRED: &str = "spec.f.rollingUpdate: FieldValueRequired: Required value: must be set if type is RollingUpdate";

fn stories() -> Vec<Story> {
    let strategies = || {
        vec![
            (json!({"type": "Recreate"}), vec![]),
            (json!({"type": "Recreate", "paused": true}), vec![]),
            (json!({"type": "RollingUpdate", "rollingUpdate": {}}), vec![]),
            (
                json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 255}}),
                vec![],
            ),
            (json!({"type": "Blue"}), vec![]),
            (json!({"type": "Blue", "namespace": "a"}), vec![]),
            (json!({"type": "RollingUpdate"}), vec![REQUIRED]),
            (json!({"type": "Recreate", "rollingUpdate": {}}), vec![FORBIDDEN]),
            (
                json!({"type": "RollingUpdate", "rollingUpdate": {}, "namespace": "a"}),
                vec!["spec.f.namespace: FieldValueForbidden: Forbidden: may only be set if type is Blue"],
            ),
        ]
    };
    vec![
        Story {
            crd: finished::<fields::Other>().unwrap(),
            values: strategies(),
        },
        Story {
            crd: finished::<as_enum::Other>().unwrap(),
            values: strategies(),
        },
        Story {
            crd: finished::<list::Other>().unwrap(),
            values: vec![(
                json!([{"type": "Recreate"}, {"type": "Blue", "rollingUpdate": {}}]),
                vec![
                    "spec.f[1].rollingUpdate: FieldValueForbidden: Forbidden: may only be set if type is RollingUpdate",
                ],
            )],
        },
        Story {
            crd: finished::<map::Other>().unwrap(),
            values: vec![(
                json!({"a": {"type": "RollingUpdate"}}),
                vec![
                    "spec.f[a].rollingUpdate: FieldValueRequired: Required value: must be set if type is RollingUpdate",
                ],
            )],
        },
        Story {
            crd: finished::<numbered::Other>().unwrap(),
            values: vec![(
                json!({"1": {"type": "RollingUpdate"}}),
                vec![
                    "spec.f[1].rollingUpdate: FieldValueRequired: Required value: must be set if type is RollingUpdate",
                ],
            )],
        },
        Story {
            crd: finished::<optional::Other>().unwrap(),
            values: vec![(json!({"type": "RollingUpdate"}), vec![REQUIRED])],
        },
        Story {
            crd: finished::<lenient::Other>().unwrap(),
            values: vec![
                (json!({}), vec![]),
                (json!({"import": "other"}), vec![]),
                (json!({"import": "it's", "own-path": 1}), vec![]),
                (
                    json!({"own-path": 1}),
                    vec!["spec.f.own-path: FieldValueForbidden: Forbidden: may only be set if import is it's"],
                ),
                (
                    json!({"import": "it's"}),
                    vec!["spec.f.own-path: FieldValueRequired: Required value: must be set if import is it's"],
                ),
            ],
        },
        Story {
            crd: finished::<defaulted::Other>().unwrap(),
            values: vec![
                (json!({"rolling": {}}), vec![]),
                (json!({"kind": "Blue"}), vec![]),
                (
                    json!({}),
                    vec!["spec.f.rolling: FieldValueRequired: Required value: must be set if kind is RollingUpdate"],
                ),
            ],
        },
        Story {
            crd: finished::<flattening::Other>().unwrap(),
            values: vec![
                (json!({"name": "a", "rolling": {}}), vec![]),
                (
                    json!({"name": "a", "kind": "Blue", "rolling": {}}),
                    vec!["spec.f.rolling: FieldValueForbidden: Forbidden: may only be set if kind is RollingUpdate"],
                ),
            ],
        },
    ]
}

fn object(value: &Value) -> Value {
    json!({"apiVersion": "test.example.com/v1", "kind": "Other", "metadata": {"name": "a"}, "spec": {"f": value}})
}

#[test]
fn a_member_is_set_with_its_value_and_no_other() {
    for Story { crd, values } in stories() {
        let schema = Structural::compile(&crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]);
        for (value, expected) in values {
            let mut object = object(&value);
            schema.default(&mut object);
            let causes = schema.validate(&object);
            let causes: Vec<_> = causes
                .iter()
                .map(|it| format!("{}: {}: {}", it.field, it.reason, it.message))
                .collect();
            assert_eq!(causes, expected, "{value}");
        }
    }
}

#[test]
#[ignore = "needs KUBEBUILDER_ASSETS"]
fn a_real_api_server_says_the_same() {
    let server = crate::control_plane::ControlPlane::start();
    for (at, Story { mut crd, values }) in stories().into_iter().enumerate() {
        let plural = format!("others{at}");
        crd["metadata"]["name"] = json!(format!("{plural}.test.example.com"));
        crd["spec"]["names"] = json!({"kind": format!("Other{at}"), "plural": plural});
        let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let created = server.post(crds, &crd);
        assert_eq!((created.status, created.warnings.len()), (201, 0), "{}", created.body);
        let objects = format!("/apis/test.example.com/v1/namespaces/default/{plural}");
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(180);
        while server.request("GET", &objects, "").status != 200 {
            assert!(std::time::Instant::now() < deadline, "{plural} is not served");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        for (value, expected) in values {
            let mut object = object(&value);
            object["kind"] = json!(format!("Other{at}"));
            let answer = server.post(&format!("{objects}?dryRun=All"), &object);
            let causes = answer.body["details"]["causes"].as_array().cloned().unwrap_or_default();
            let text = |cause: &Value, key: &str| cause[key].as_str().unwrap_or_default().to_owned();
            let causes: Vec<_> = causes
                .iter()
                .map(|it| format!("{}: {}: {}", text(it, "field"), text(it, "reason"), text(it, "message")))
                .collect();
            assert_eq!(causes, expected, "{value}: {}", answer.body);
        }
    }
}

#[test]
fn an_enum_with_the_tag_of_the_discriminator_decodes_each_member() {
    let decoded = |value: Value| serde_json::from_value::<as_enum::Other>(object(&value)).map(|it| it.spec.f);
    let (paused, namespace) = (None, None);
    let rolling_update = RollingUpdate { max_surge: Some(1) };
    assert_eq!(
        decoded(json!({"type": "Blue"})).unwrap(),
        Strategy::Blue { namespace, paused }
    );
    assert_eq!(
        decoded(json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}})).unwrap(),
        Strategy::RollingUpdate { rolling_update, paused }
    );
    assert!(
        decoded(json!({"type": "RollingUpdate"})).is_err(),
        "the rules refuse it, too"
    );
    finished::<enums::Other>().unwrap();
}

#[test]
fn made_up_objects_have_the_members_that_their_discriminators_name() {
    let crd = finished::<list::Other>().unwrap();
    let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let (compiled, mut dice) = (Structural::compile(schema), examples::Dice::default());
    let made = examples::Examples::at_edges(schema);
    for _ in 0..300 {
        let mut object = made.object(&mut dice).unwrap();
        object["metadata"] = json!({"name": "a"});
        assert_eq!(compiled.validate(&object), [], "{object}");
    }
}

/// A member that its type cannot always decode: it is tried with the value of its discriminator.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Strict {
    #[schemars(extend("k8s:unionDiscriminator" = true))]
    kind: Kind,
    #[schemars(extend("k8s:unionMember" = {"memberName": "Blue"}))]
    addresses: Option<Vec<SocketAddr>>,
    #[schemars(extend("k8s:unionMember" = {"memberName": "Recreate"}))]
    first: Option<u8>,
}

/// The markers are only half true.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "type")]
pub enum Half {
    Recreate {
        paused: bool,
    },
    #[serde(rename_all = "camelCase")]
    RollingUpdate {
        rolling_update: RollingUpdate,
    },
    Blue,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Alone {
    #[schemars(extend("k8s:unionMember" = true))]
    a: Option<u8>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Twice {
    #[schemars(extend("k8s:unionDiscriminator" = true))]
    kind: Kind,
    #[schemars(extend("k8s:unionDiscriminator" = true))]
    other: Kind,
    #[schemars(extend("k8s:unionMember" = true))]
    blue: Option<u8>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Always {
    #[schemars(extend("k8s:unionDiscriminator" = true))]
    kind: Kind,
    #[schemars(extend("k8s:unionMember" = true))]
    blue: u8,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Unnamed {
    #[schemars(extend("k8s:unionDiscriminator" = true))]
    kind: Kind,
    #[schemars(extend("k8s:unionMember" = true))]
    green: Option<u8>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Misspelt {
    #[schemars(extend("k8s:unionDiscriminater" = true))]
    kind: Kind,
    #[schemars(extend("k8s:unionMember" = {"name": "Blue"}))]
    green: Option<u8>,
}

macro_rules! refused {
    ($($name:ident: $(#[$meta:meta])* $type:ty => [$($finding:literal),*];)*) => { $(
        mod $name {
            kind!($(#[$meta])* $type);

            #[test]
            fn refused() {
                let findings = finished::<Other>().unwrap_err();
                let texts: Vec<_> = findings.iter().map(|it| format!("{}: {}", it.field, it.message)).collect();
                let expected: &[&str] = &[$($finding),*];
                assert_eq!(texts.len(), expected.len(), "{findings:#?}");
                for (text, expected) in texts.iter().zip(expected) {
                    assert!(text.contains(expected), "{text}");
                }
                assert!(findings.iter().all(|it| it.remedy.is_some()), "{findings:#?}");
            }
        }
    )* };
}

refused! {
    strict: Strict => ["spec.f.addresses[]: API servers accept \"a\" here, and the type cannot decode it"];
    strict_list: Vec<Strict> => ["spec.f[].addresses[]: API servers accept \"a\" here, and the type cannot decode it"];
    half: #[schemars(with = "StrategyFields")] Half => [
        "spec.f.type: API servers accept \"Recreate\" here, and the type cannot decode it: missing field `paused`",
        "spec.f.namespace: API servers store \"a\" here, and the type does not write it again",
        "spec.f.paused: API servers store true here, and the type does not write it again"
    ];
    alone: Alone => ["spec.f.a: a member of a union without a discriminator"];
    twice: Option<Twice> => ["spec.f.blue: a member of a union with 2 discriminators"];
    always: Vec<Always> => ["spec.f[].blue: `blue` is a member of a union, and each object has it"];
    unnamed: Unnamed => ["spec.f.green: `kind` has no value `Green` for this member of the union"];
    misspelt: Misspelt => [
        "spec.f.green: a member of a union without a discriminator",
        "spec.f.green: `k8s:unionMember.name` is not a keyword",
        "spec.f.kind: `k8s:unionDiscriminater` is not a keyword"
    ];
}
