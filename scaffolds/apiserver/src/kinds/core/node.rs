//! Nodes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    kinds::{
        address_form::warn_of_cidr,
        edit::{Fields, section, set},
        kind::{BuiltInKind, Change, Selectable, Warnings},
        row::{Row, or},
    },
    strategy::{MetadataPass, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            metadata_passes: MetadataPass::VALIDATE_THEN_UPDATE,
            etcd_directory: Some("minions"),
            ..Rules::default()
        },
        clears_status: false,
        defaults: &[("core.v1.NodeStatus", default_status)],
        prepare_create,
        warnings,
        selectable: const { &[Selectable::new("spec.unschedulable", "/spec/unschedulable").or("false")] },
        cells,
        ..BuiltInKind::default()
    }
}

fn default_status(status: &mut Fields) {
    if let Some(capacity) = status.get("capacity").cloned() {
        set(status, "allocatable", capacity);
    }
}

/// A new node is not ready.
fn prepare_create(object: &mut Value) {
    let Some(spec) = section(object, "spec") else { return };
    let taints = spec.entry("taints").or_insert_with(|| json!([]));
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    if let Some(taints) = taints.as_array_mut()
        && !taints.contains(&taint)
    {
        taints.push(taint);
    }
}

fn warnings(Change { new: at, .. }: Change<'_, '_>) -> Warnings {
    let (mut warnings, spec) = (Vec::new(), at.get("spec"));
    if spec.get("configSource").is_set() {
        warnings.push("spec.configSource: the feature is removed".to_owned());
    }
    if !spec.get("externalID").str().is_empty() {
        warnings.push("spec.externalID: this field is deprecated, and is unused by Kubernetes".to_owned());
    }
    spec.get("podCIDRs")
        .items()
        .for_each(|at| warn_of_cidr(&at, &mut warnings));
    warnings
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let conditions = row.get("status.conditions");
    let ready = conditions
        .items()
        .filter(|condition| condition.get("type").str() == "Ready")
        .last();
    let mut status = match ready.map(|condition| condition.get("status").str() == "True") {
        Some(true) => "Ready".to_owned(),
        Some(false) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if row.get("spec.unschedulable").is_true() {
        status.push_str(",SchedulingDisabled");
    }
    let info = |name: &str| row.get("status.nodeInfo").get(name).str();
    let address = |kind: &str| {
        let mut addresses = row.get("status.addresses").items();
        let found = addresses.find(|address| address.get("type").str() == kind);
        or(found.map_or("", |address| address.get("address").str()), "<none>")
    };
    let mut cells = vec![
        row.name(),
        json!(status),
        or(&roles(row), "<none>"),
        row.age(),
        json!(info("kubeletVersion")),
    ];
    cells.extend([address("InternalIP"), address("ExternalIP")]);
    cells.extend(["osImage", "kernelVersion", "containerRuntimeVersion"].map(|name| or(info(name), "<unknown>")));
    cells
}

fn roles(row: &Row<'_>) -> String {
    let labels = row.get("metadata.labels");
    let roles: BTreeSet<&str> = labels
        .entries()
        .filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => Some(role),
            None => (key == "kubernetes.io/role").then(|| value.str()),
        })
        .filter(|role| !role.is_empty())
        .collect();
    roles.into_iter().collect::<Vec<_>>().join(",")
}
