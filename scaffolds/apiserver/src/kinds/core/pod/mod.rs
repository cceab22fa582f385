//! Pods.

mod cells;
mod checks;
mod ephemeral;
mod level;
mod prepare;
mod resize;
mod update;

use serde_json::Value;

use crate::{
    kinds::{
        address_form::warn_of_ip,
        edit::{Fields, each, keep, keep_metadata, made, set, single_from_list, within},
        faults::{Faults, quoted},
        format::subdomain,
        kind::{BuiltInKind, Change, Selectable, Warnings},
        located::Located,
        pod::warnings::template,
        workload::name_warnings,
    },
    strategy::{Deletion, MetadataPass, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            counts_generation: true,
            metadata_passes: MetadataPass::UPDATE_THEN_VALIDATE,
            deletion: Deletion {
                returns_object: true,
                grace_seconds: Some(grace_seconds),
                ..Deletion::default()
            },
            reset_by_status: &["spec", "metadata.deletionTimestamp", "metadata.ownerReferences"],
            ..Rules::default()
        },
        decoded: |pod| single_from_list(pod, "status", ["podIP", "podIPs"], Some("ip")),
        defaults: &[("core.v1.Pod", default)],
        prepare_create: prepare::create,
        prepare_update: prepare::update,
        prepare_status: prepare::status,
        validate: checks::validate,
        validate_update: update::validate,
        validate_status,
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

/// Validates a Pod's status.
fn validate_status(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let node = new.at("status.nominatedNodeName");
    if !node.str().is_empty() && node.value != old.at("status.nominatedNodeName").value {
        faults.format(&node, subdomain);
        if !old.at("spec.nodeName").str().is_empty() {
            faults.forbidden(&node, "may not be set on pods that are already bound to a node");
        }
    }
    let mut observed = vec![new.at("status.observedGeneration")];
    let conditions = new.at("status.conditions");
    observed.extend(conditions.items().map(|condition| condition.get("observedGeneration")));
    for generation in observed.iter().filter(|generation| generation.int() < 0) {
        faults.invalid(generation, "must be a non-negative integer");
    }
    let status = new.get("status");
    addresses(&status.get("podIPs"), faults);
    let hosts = status.get("hostIPs");
    if let Some(first) = hosts.items().next().map(|host| host.get("ip"))
        && first.str() != status.get("hostIP").str()
    {
        faults.invalid(&first, "must be equal to `hostIP`");
    }
    addresses(&hosts, faults);
}

/// Validates the addresses of a Pod or its host: at most one of each family.
fn addresses(at: &Located<'_>, faults: &mut Faults) {
    let mut families = Vec::new();
    for item in at.items() {
        match item.get("ip").str().parse::<std::net::IpAddr>() {
            Ok(address) => families.push(address.is_ipv6()),
            Err(_) => {
                let place = item.get("ip").called(&item.path);
                faults.invalid(&place, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
            }
        }
    }
    if families.len() < at.len() {
        if at.len() > 1 {
            faults.internal(at, "failed to check for dual stack with error:invalid IP");
        }
    } else if at.len() > 1 && (at.len() > 2 || families.first() == families.last()) {
        let shown: Vec<String> = at
            .items()
            .map(|item| format!("{{\"IP\":{}}}", quoted(item.get("ip").str())))
            .collect();
        let shown = format!("[{}]", shown.join(","));
        faults.invalid_as(at, &shown, "may specify no more than one IP for each IP family");
    }
}

/// The annotation of static Pods, which a node's kubelet mirrors.
const MIRROR: &str = "kubernetes.io/config.mirror";

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
