//! Pods.

mod app_armor;
mod cells;
mod checks;
mod ephemeral;
mod gated;
mod level;
mod prepare;
mod resize;
mod status;
mod update;

use serde_json::Value;

use crate::{
    kinds::{
        address_form::warn_of_ip,
        edit::{Fields, each, keep, keep_metadata, made, set, single_from_list, within},
        kind::{BuiltInKind, Change, Selectable, Warnings},
        located::Located,
        pod::{annotations::MIRROR, warnings::template},
        workload::name_warnings,
    },
    strategy::{Deletion, Generation, Passes, Resets, Rules, TableRules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            deletion: Deletion {
                returns_object: true,
                grace_seconds: Some(grace_seconds),
                ..Deletion::default()
            },
            table: TableRules {
                complete_in: &[
                    ["Succeeded", "The pod has completed successfully."],
                    ["Failed", "The pod failed."],
                ],
                ..TableRules::default()
            },
            generation: Generation::COUNTED,
            passes: Passes::UPDATE_THEN_VALIDATE,
            resets: Resets {
                status: &["spec", "metadata.deletionTimestamp", "metadata.ownerReferences"],
                ..Resets::default()
            },
            ..Rules::default()
        },
        decoded: |pod| single_from_list(pod, "status", ["podIP", "podIPs"], Some("ip")),
        defaults: &[("core.v1.Pod", default)],
        early_warnings: app_armor::warnings,
        prepare_create: prepare::create,
        prepare_update: prepare::update,
        prepare_status: prepare::status,
        validate: checks::validate,
        validate_update: update::validate,
        validate_status: status::validate,
        warnings,
        status_warnings,
        parts: &[ephemeral::PART, resize::PART],
        selectable: SELECTABLE,
        cells: cells::cells,
        ..BuiltInKind::default()
    }
}

const SELECTABLE: &[Selectable] = &[
    Selectable::new("spec.nodeName", "/spec/nodeName"),
    Selectable::new("spec.restartPolicy", "/spec/restartPolicy"),
    Selectable::new("spec.schedulerName", "/spec/schedulerName"),
    Selectable::new("spec.serviceAccountName", "/spec/serviceAccountName"),
    Selectable::new("spec.hostNetwork", "/spec/hostNetwork").or("false"),
    Selectable::new("status.phase", "/status/phase"),
    Selectable::new("status.podIP", "/status/podIPs/0/ip"),
    // `spec.host` is an old name. `status.podIPs` is accepted, but has no value in any Pod.
    Selectable::new("spec.host", "/spec/nodeName"),
    Selectable::new("status.podIPs", "/-"),
    Selectable::new("status.nominatedNodeName", "/status/nominatedNodeName"),
];

fn default(object: &mut Fields) {
    let Some(spec) = within(object, "spec") else { return };
    set(spec, "enableServiceLinks", true);
    let grace = spec.get("terminationGracePeriodSeconds").and_then(Value::as_i64);
    if grace.is_some_and(|grace| grace < 0) {
        spec.insert("terminationGracePeriodSeconds".to_owned(), 1.into());
    }
    let on_host = spec.get("hostNetwork").and_then(Value::as_bool).unwrap_or_default();
    for list in ["containers", "initContainers"] {
        for container in each(spec, list) {
            if let Some(resources) = within(container, "resources") {
                default_requests(resources);
            }
            for port in each(container, "ports").filter(|_| on_host) {
                let number = port.get("containerPort").cloned().unwrap_or_default();
                if port.get("hostPort").and_then(Value::as_i64).unwrap_or_default() == 0 {
                    port.insert("hostPort".to_owned(), number);
                }
            }
        }
    }
}

/// Requests default to limits.
fn default_requests(resources: &mut Fields) {
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else {
        return;
    };
    if let Some(requests) = made(resources, "requests") {
        limits
            .into_iter()
            .for_each(|(name, amount)| set(requests, &name, amount));
    }
}

/// Updates cause no warnings.
fn warnings(Change { new: at, old }: Change<'_, '_>) -> Warnings {
    if old.is_some() {
        return Vec::new();
    }
    let mut warnings = name_warnings(at, "the Pod's hostname");
    template(at, &mut warnings);
    warnings
}

fn status_warnings(at: &Located<'_>) -> Warnings {
    let mut warnings = Vec::new();
    for list in ["podIPs", "hostIPs"] {
        let addresses = at.get("status").get(list);
        addresses
            .items()
            .for_each(|item| warn_of_ip(&item.get("ip"), &mut warnings));
    }
    warnings
}

/// Whether it mirrors a static Pod.
fn is_mirror(pod: &Located<'_>) -> bool {
    pod.at("metadata.annotations").get(MIRROR).is_set()
}

/// Keeps what no subresource but `status` changes.
fn keep_metadata_and_status(new: &mut Value, old: &Value) {
    for name in [
        "deletionTimestamp",
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
    ] {
        keep_metadata(new, old, name);
    }
    keep(new, old, "status");
}

/// The default grace period in seconds.
const GRACE: i64 = 30;

/// The grace period of a Pod. Pods that are not running have none.
fn grace_seconds(pod: &Value, asked: Option<i64>) -> i64 {
    let text = |pointer: &str| pod.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    if text("/spec/nodeName").is_empty() || ["Succeeded", "Failed"].contains(&text("/status/phase")) {
        return 0;
    }
    let own = pod
        .pointer("/spec/terminationGracePeriodSeconds")
        .and_then(Value::as_i64);
    let period = asked.or(own).unwrap_or(GRACE);
    if period < 0 { 1 } else { period }
}
