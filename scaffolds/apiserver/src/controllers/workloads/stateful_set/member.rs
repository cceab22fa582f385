//! A member of a StatefulSet: name, labels, host name and volumes of its Pod follow from its ordinal.

use serde_json::{Value, json};

use crate::{
    controllers::workloads::{
        fields::{items, text},
        history, replica_set,
    },
    meta,
};

const NAME: &str = "statefulset.kubernetes.io/pod-name";
const INDEX: &str = "apps.kubernetes.io/pod-index";

/// The ordinal of the Pod of this name, if the name is that of a member of the set.
pub(super) fn ordinal(set: &Value, pod: &str) -> Option<i64> {
    let (parent, digits) = pod.rsplit_once('-')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse::<i32>().ok().filter(|_| is_number)?;
    (parent == meta::text(set, "name")).then(|| number.into())
}

/// The name of the member's claim for this claim template.
pub(super) fn claim_name(set: &Value, template: &Value, ordinal: i64) -> String {
    format!("{}-{}-{ordinal}", meta::text(template, "name"), meta::text(set, "name"))
}

/// The Pod of a member with the template of a revision.
pub(super) fn create(set: &Value, revision: &Value, ordinal: i64) -> Value {
    let mut former = set.clone();
    former["spec"]["template"] = history::template(revision);
    let mut pod = replica_set::new_pod(&former);
    let name = format!("{}-{ordinal}", meta::text(set, "name"));
    pod["metadata"]["name"] = json!(name);
    pod["metadata"]["labels"][history::REVISION] = revision["metadata"]["name"].clone();
    pod["spec"]["hostname"] = json!(name);
    pod["spec"]["subdomain"] = json!(text(set, "/spec/serviceName"));
    corrected(set, &pod, ordinal).unwrap_or(pod)
}

/// The Pod with the labels and volumes of the member, if it lacks some of them.
pub(super) fn corrected(set: &Value, pod: &Value, ordinal: i64) -> Option<Value> {
    let name = meta::text(pod, "name");
    let mut corrected = pod.clone();
    if pod["metadata"]["labels"][NAME] != name {
        corrected["metadata"]["labels"][NAME] = json!(name);
        corrected["metadata"]["labels"][INDEX] = json!(ordinal.to_string());
    }
    let present = items(pod, "/spec/volumes");
    let claims = items(set, "/spec/volumeClaimTemplates");
    let volume = |template: &Value| {
        let claim = json!({"claimName": claim_name(set, template, ordinal)});
        json!({"name": meta::text(template, "name"), "persistentVolumeClaim": claim})
    };
    let mut volumes: Vec<Value> = claims.iter().map(volume).collect();
    let has = |volume: &Value| {
        let claim = &volume["persistentVolumeClaim"]["claimName"];
        let mut named = present.iter().filter(|it| it["name"] == volume["name"]);
        named.any(|it| it["persistentVolumeClaim"]["claimName"] == *claim)
    };
    if !volumes.iter().all(has) {
        let is_other = |it: &&Value| !claims.iter().any(|claim| it["name"] == claim["metadata"]["name"]);
        volumes.extend(present.iter().filter(is_other).cloned());
        corrected["spec"]["volumes"] = json!(volumes);
    }
    (corrected != *pod).then_some(corrected)
}
