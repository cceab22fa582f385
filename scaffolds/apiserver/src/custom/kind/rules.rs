//! The registry's rules for a custom kind, from a version of its definition.

use super::Family;
use crate::strategy::{CustomRules, Generation, Passes, Put, Resets, Rules, Scale, Storage};
use kubewright_schema::version::priority;
use serde_json::{Value, json};
use std::borrow::Cow;

const TERMINATING: &str = "create not allowed while custom resource definition is terminating";

/// The rules of `version`, one of the definition's versions, whose OpenAPI definitions are `published`.
pub(super) fn of(family: &Family, version: &Value, versions: &[Value], published: [Value; 2]) -> Rules {
    let scale = &version["subresources"]["scale"];
    let path = |key: &str| scale[key].as_str().map(|path| Cow::Owned(path.to_owned()));
    let has_status = version["subresources"]["status"].is_object();
    let is_verbatim = version["name"] == family.storage
        && !(has_status && defaults_status(family, version))
        && share_a_schema(version, versions);
    Rules {
        has_status,
        scale: scale.is_object().then(|| Scale {
            spec_replicas: path("specReplicasPath").unwrap_or_default(),
            status_replicas: path("statusReplicasPath").unwrap_or_default(),
            label_selector: path("labelSelectorPath"),
        }),
        forbids_creation: family.terminating.then_some(TERMINATING),
        deprecation: deprecation(family, version, versions).map(Cow::Owned),
        generation: Generation::COUNTED,
        put: Put::CONDITIONAL,
        passes: Passes::UPDATE,
        resets: Resets {
            status: &["metadata", "spec"],
            ..Resets::default()
        },
        storage: Storage {
            verbatim_after: is_verbatim.then_some(family.since),
            ..Storage::default()
        },
        custom: Some(CustomRules {
            published,
            conversion: family.conversion.clone(),
            ends: family.ends.clone(),
        }),
        ..Rules::default()
    }
}

/// Whether all served versions have the schema of `version`, the stored one. A write in a version with another schema
/// stores an object without the defaults of the stored version, which each read then adds.
fn share_a_schema(version: &Value, versions: &[Value]) -> bool {
    let schema = &version["schema"]["openAPIV3Schema"];
    let mut served = versions.iter().filter(|it| it["served"] == true);
    served.all(|it| it["schema"]["openAPIV3Schema"] == *schema)
}

/// Whether defaults give a status to an object that is stored without one.
fn defaults_status(family: &Family, version: &Value) -> bool {
    let mut object = json!({});
    if let Some(schema) = version["name"].as_str().and_then(|name| family.schemas.get(name)) {
        schema.default(&mut object);
    }
    object.get("status").is_some()
}

fn deprecation(family: &Family, version: &Value, versions: &[Value]) -> Option<String> {
    if version["deprecated"] != true {
        return None;
    }
    if let Some(warning) = version["deprecationWarning"].as_str() {
        return Some(warning.to_owned());
    }
    let name = version["name"].as_str().unwrap_or_default();
    let better = versions
        .iter()
        .filter(|it| it["served"] == true && it["deprecated"] != true)
        .filter_map(|it| it["name"].as_str())
        .filter(|it| priority(it, name).is_lt())
        .min_by(|a, b| priority(a, b));
    let Family { group, kind, .. } = family;
    let mut warning = format!("{group}/{name} {kind} is deprecated");
    if let Some(better) = better {
        warning.push_str(&format!("; use {group}/{better} {kind}"));
    }
    Some(warning)
}
