//! Prepares Pods before validation: status and quality of service class.

use serde_json::{Value, json};

use super::{app_armor, level, status::LISTS};
use crate::kinds::{
    edit::{Fields, each, keep_metadata, section, within},
    located::Located,
    pod::label_keys::add_expressions,
};

pub(in crate::kinds) fn create(object: &mut Value) {
    select_by_own_labels(object);
    app_armor::set_fields(object);
    level::fill(object);
    let class = quality(&Located::root(object).get("spec"));
    if let Some(fields) = object.as_object_mut() {
        fields.insert("status".to_owned(), json!({"phase": "Pending", "qosClass": class}));
    }
    let Some(spec) = section(object, "spec") else { return };
    if spec
        .get("schedulingGates")
        .and_then(Value::as_array)
        .is_some_and(|gates| !gates.is_empty())
    {
        gated(object);
    }
}

/// Completes selectors by the values of the Pod's own labels.
fn select_by_own_labels(object: &mut Value) {
    let selects = ["affinity", "topologySpreadConstraints"].map(|field| !object["spec"][field].is_null());
    let labels = object.pointer("/metadata/labels").and_then(Value::as_object);
    let Some(labels) = labels.filter(|_| selects.contains(&true)).cloned() else {
        return;
    };
    let Some(spec) = section(object, "spec") else { return };
    each(spec, "topologySpreadConstraints").for_each(|constraint| add_expressions(constraint, &labels));
    let Some(affinity) = within(spec, "affinity") else {
        return;
    };
    for kind in ["podAffinity", "podAntiAffinity"] {
        let Some(terms) = within(affinity, kind) else { continue };
        for term in each(terms, "preferredDuringSchedulingIgnoredDuringExecution") {
            within(term, "podAffinityTerm")
                .into_iter()
                .for_each(|term| add_expressions(term, &labels));
        }
        let required = each(terms, "requiredDuringSchedulingIgnoredDuringExecution");
        required.for_each(|term| add_expressions(term, &labels));
    }
}

/// Keeps the resources of the Pod as a whole if a client leaves them out.
pub(in crate::kinds) fn update(new: &mut Value, old: &Value) {
    let kept = old.pointer("/spec/resources");
    if let (Some(kept), Some(spec)) = (kept, section(new, "spec")) {
        spec.entry("resources").or_insert_with(|| kept.clone());
    }
}

fn gated(object: &mut Value) {
    let now = object
        .pointer("/metadata/creationTimestamp")
        .cloned()
        .unwrap_or_default();
    let condition = json!({
        "type": "PodScheduled",
        "status": "False",
        "lastProbeTime": null,
        "lastTransitionTime": now,
        "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
    });
    if let Some(status) = section(object, "status") {
        status.insert("conditions".to_owned(), json!([condition]));
    }
}

/// The quality of service class, from requests and limits: those of the Pod, or else those of its containers.
pub(super) fn quality(spec: &Located<'_>) -> &'static str {
    let lists = ["containers", "initContainers"].map(|name| spec.get(name));
    let of_pod = spec.get("resources");
    let containers: Vec<Located<'_>> = match of_pod.get("requests").len() + of_pod.get("limits").len() > 0 {
        true => vec![spec.clone()],
        false => lists.iter().flat_map(Located::items).collect(),
    };
    let amounts = |container: &Located<'_>, name: &str| {
        let list = container.get("resources").get(name);
        ["cpu", "memory"]
            .map(|resource| list.get(resource).str().to_owned())
            .map(|text| if text == "0" { String::new() } else { text })
    };
    let (mut any, mut guaranteed) = (false, true);
    for container in &containers {
        let (requests, limits) = (amounts(container, "requests"), amounts(container, "limits"));
        any |= requests.iter().chain(&limits).any(|text| !text.is_empty());
        guaranteed &= requests == limits && limits.iter().all(|text| !text.is_empty());
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// A status update changes neither owner references nor the deletion timestamp, unsets no observed generation, and sets no field
/// of a feature that is off by default.
pub(in crate::kinds) fn status(new: &mut Value, old: &Value) {
    keep_metadata(new, old, "ownerReferences");
    let (Some(status), Some(before)) = (section(new, "status"), old.get("status").and_then(Value::as_object)) else {
        return;
    };
    if let Some(class) = before.get("qosClass") {
        status.entry("qosClass").or_insert_with(|| class.clone());
    }
    for claims in [
        "resourceClaimStatuses",
        "extendedResourceClaimStatus",
        "nodeAllocatableResourceClaimStatuses",
    ] {
        if let Some(kept) = before.get(claims) {
            status.entry(claims).or_insert_with(|| kept.clone());
        }
    }
    for disabled in ["nodeAllocatableResourceClaimStatuses", "volumeHealth"] {
        if !before.contains_key(disabled) {
            status.remove(disabled);
        }
    }
    for (_, list) in LISTS {
        let was = before.get(list).unwrap_or(&Value::Null);
        let has_status = |mount: Located<'_>| mount.get("volumeStatus").is_set();
        if !Located::root(was)
            .items()
            .flat_map(|it| it.get("volumeMounts").items())
            .any(has_status)
        {
            for state in each(status, list) {
                each(state, "volumeMounts").for_each(|mount| _ = mount.remove("volumeStatus"));
            }
        }
    }
    keep_observed(status, before);
    let conditions = |of: &Fields| of.get("conditions").and_then(Value::as_array).cloned();
    let mut before = conditions(before).unwrap_or_default();
    for condition in each(status, "conditions") {
        // Several conditions may have one type: each takes the first that is left.
        let same = before.iter().position(|old| old.get("type") == condition.get("type"));
        let old = same.map(|at| before.remove(at));
        if let Some(old) = old.as_ref().and_then(Value::as_object) {
            keep_observed(condition, old);
        }
    }
}

fn keep_observed(new: &mut Fields, old: &Fields) {
    const FIELD: &str = "observedGeneration";
    let is_set = |value: &Value| value.as_i64().is_some_and(|number| number != 0);
    if let (false, Some(observed)) = (new.get(FIELD).is_some_and(is_set), old.get(FIELD)) {
        new.insert(FIELD.to_owned(), observed.clone());
    }
}
