//! Fields whose types say more than their derived schemas, in both versions.

use std::{collections::BTreeMap, net::IpAddr, num::NonZeroU8};

use k8s_openapi::{
    api::core::v1::PersistentVolumeClaim,
    apimachinery::pkg::{api::resource::Quantity, apis::meta::v1::Time, util::intstr::IntOrString},
};

use super::*;
use crate::testing::round_trips;

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Fields {
    storage: Quantity,
    port: IntOrString,
    source: Source,
    at: Time,
    ip: IpAddr,
    n: NonZeroU8,
    #[schemars(regex(pattern = "^[a-z]/"), length(min = 3))]
    code: String,
    #[schemars(with = "StrategyFields")]
    strategy: Strategy,
    claims: Vec<PersistentVolumeClaim>,
    pair: [NonZeroU8; 2],
    optional: Option<NonZeroU8>,
}

/// An enum with data.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    Git(Git),
    Other { n: NonZeroU8 },
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Git {
    ip: IpAddr,
}

/// A union as Kubernetes has it.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StrategyFields {
    #[schemars(extend("k8s:unionDiscriminator" = true))]
    r#type: StrategyType,
    #[schemars(extend("k8s:unionMember" = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    rolling_update: Option<BTreeMap<String, u8>>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub enum StrategyType {
    RollingUpdate,
    Recreate,
}

/// The same as an enum.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "type")]
pub enum Strategy {
    #[serde(rename_all = "camelCase")]
    RollingUpdate {
        rolling_update: BTreeMap<String, u8>,
    },
    Recreate {},
}

macro_rules! version {
    ($name:ident, $version:literal, $is_stored:literal, $($only:ident: $type:ty)?) => {
        mod $name {
            use super::*;

            #[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
            #[kube(group = "test.example.com", version = $version, kind = "FooBar", namespaced, storage = $is_stored)]
            pub struct FooBarSpec {
                pub fields: Fields,
                $(#[serde(skip_serializing_if = "Option::is_none")] pub $only: Option<$type>,)?
            }
        }
    };
}
version!(old, "v1", true, only: StrategyFields);
version!(new, "v2", false,);

fn hub() -> Hub<old::FooBar> {
    let to_hub = |it: new::FooBar| {
        let spec = old::FooBarSpec {
            fields: it.spec.fields,
            only: None,
        };
        Ok::<_, String>(old::FooBar {
            metadata: it.metadata,
            spec,
        })
    };
    let from_hub = |it: old::FooBar| {
        let spec = new::FooBarSpec { fields: it.spec.fields };
        Ok::<_, String>(new::FooBar {
            metadata: it.metadata,
            spec,
        })
    };
    Hub::new().spoke(to_hub, from_hub)
}

#[test]
fn objects_are_made_up_and_checked_by_the_schemas_that_manifests_have() {
    let found = round_trips(hub()).unwrap();
    assert_eq!(found.only("v1"), ["spec.only"]);
}

#[test]
fn an_annotation_may_not_restore_what_the_rules_of_a_union_refuse() {
    let fields = json!({
        "storage": "1Gi", "port": 1, "source": {"other": {"n": 1}}, "at": "2026-01-02T03:04:05Z", "ip": "::1", "n": 1, "code": "a/b",
        "strategy": {"type": "Recreate"}, "claims": [], "pair": [1, 2],
    });
    let mut new = object(V2, json!({"fields": fields}));
    let kept = json!([{"path": ["spec", "only"], "value": [{"type": "Recreate", "rollingUpdate": {}}]}]);
    let forged = json!({"digest": "", "kept": kept}).to_string();
    new["metadata"]["annotations"] = json!({"test.example.com/v1-only": forged});
    let refusal = hub().converter().unwrap().convert(new, V1).unwrap_err().to_string();
    assert!(
        refusal.contains("may only be set if type is RollingUpdate"),
        "{refusal}"
    );
}

#[test]
fn required_fields_of_each_type_are_filled_in() {
    let converter = hub().converter().unwrap();
    let filled = |spec: Value| converter.convert(object(V1, spec), V2).unwrap()["spec"].clone();
    let made_up = json!({
        "storage": "0", "port": 0, "source": {"git": {"ip": "10.0.0.1"}}, "at": "2026-01-02T03:04:05Z", "ip": "10.0.0.1", "n": 1,
        "code": "a/b", "strategy": {"type": "RollingUpdate", "rollingUpdate": {}}, "claims": [], "pair": [1, 1],
    });
    assert_eq!(filled(json!({})), json!({"fields": made_up}));
    let parts = json!({"source": {}, "strategy": {"type": "RollingUpdate"}});
    assert_eq!(filled(json!({"fields": parts})), json!({"fields": made_up}));
    let other = json!({"source": {"other": {}}, "strategy": {"type": "Recreate"}});
    let filled = &filled(json!({"fields": other}))["fields"];
    assert_eq!(filled["source"], json!({"other": {"n": 1}}));
    assert_eq!(filled["strategy"], json!({"type": "Recreate"}));
}
