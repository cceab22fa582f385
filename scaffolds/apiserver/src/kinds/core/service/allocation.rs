//! The values that Services are allocated: cluster IPs and node ports.

use kubewright_machinery::Cause;
use serde_json::Value;

use crate::{
    allocation::{Allocation, Holders},
    kinds::{
        core::service::{
            addresses, checks,
            node_ports::{self, key},
            type_change::{self, has_address},
        },
        edit::text,
        faults::Faults,
        located::Located,
    },
    status,
};

pub(super) const ALLOCATION: Allocation = Allocation {
    owner,
    wants,
    create,
    update,
    check,
    is_checked_first,
    is_checked_before,
};

/// Upstream compares addresses and families with each other before anything else, and both with the type and the former state in the
/// end.
fn is_checked_first(cause: &Cause) -> bool {
    is_checked_before(cause) && !checks::AFTERWARDS.iter().any(|part| cause.message.contains(part))
}

fn is_checked_before(cause: &Cause) -> bool {
    let concerns_addresses = cause.field.starts_with("spec.clusterIP") || cause.field.starts_with("spec.ipFamil");
    concerns_addresses && !cause.message.contains(checks::NONE_FOR_TYPE)
}

/// Allocates the values that a new Service needs.
fn create(service: &mut Value, held: &mut Holders) {
    let owner = owner(service);
    let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    type_change::normalise(spec);
    addresses::give(spec, &owner, true, held);
    let shared = node_ports::asked(spec);
    node_ports::give(spec, &owner, Some(shared), held);
    node_ports::give_health_check(spec, &owner, held);
}

/// Keeps the Service's values, removes those that its new type does not have, and allocates those that it lacks.
fn update(new: &mut Value, old: &Value, held: &mut Holders) {
    let owner = owner(new);
    let Some(before) = old.get("spec").and_then(Value::as_object) else {
        return;
    };
    let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    if has_address(text(spec, "type")) && has_address(text(before, "type")) {
        type_change::inherit(spec, before);
        type_change::release_family(spec, before);
    }
    node_ports::inherit(spec, before);
    node_ports::inherit_health_check(spec, before);
    type_change::follow(spec, before);
    type_change::normalise(spec);
    type_change::drop_unneeded(spec, before);
    // A Service that a write of its status created has no address, and gets none while its type is one with addresses.
    let is_given = !has_address(text(before, "type")) || before.contains_key("clusterIP");
    addresses::give(spec, &owner, is_given, held);
    node_ports::give(spec, &owner, None, held);
    if !node_ports::needs_health_check(before) {
        node_ports::give_health_check(spec, &owner, held);
    }
}

/// Reports values that could not be allocated: only the first one, because upstream stops there.
fn check(service: &Value, old: Option<&Value>, held: &Holders) -> Vec<Cause> {
    let (owner, spec) = (owner(service), Located::root(service).get("spec"));
    let mut faults = Faults::default();
    let before = old.map(|old| Located::root(old).get("spec"));
    if !before
        .as_ref()
        .is_some_and(|before| addresses::keeps_preference(&spec, before))
    {
        let families = before.map_or(0, |before| before.get("ipFamilies").len());
        addresses::policy(&spec, families, &mut faults);
        addresses::unconfigured(&spec, &mut faults);
        if faults.is_empty() {
            addresses::families(&spec, &mut faults);
        }
    }
    if faults.is_empty() {
        addresses::check(&spec, &owner, held, &mut faults);
    }
    if faults.is_empty() {
        faults = node_ports::check(&spec, old.is_none(), &owner, held);
    }
    if faults.is_empty()
        && let Some(why) = health_check(service, old, held)
    {
        return vec![status::failure(why)];
    }
    faults.into_causes()
}

/// The reason that the node port for health checks could not be allocated. An update does not change that port.
fn health_check(service: &Value, old: Option<&Value>, held: &Holders) -> Option<String> {
    let spec = |service: &'_ Value| service.get("spec").and_then(Value::as_object).cloned();
    if old
        .and_then(spec)
        .is_some_and(|before| node_ports::needs_health_check(&before))
    {
        return None;
    }
    node_ports::health_check_fails(&spec(service)?, &owner(service), held)
}

fn owner(service: &Value) -> String {
    let text = |name: &str| {
        service
            .pointer(&format!("/metadata/{name}"))
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    format!("{}/{}", text("namespace"), text("name"))
}

/// The values that a Service holds or requests.
fn wants(service: &Value) -> Vec<String> {
    let at = Located::root(service).get("spec");
    let ips = at.get("clusterIPs");
    let ips = ips
        .items()
        .filter(|ip| ip.str() != "None")
        .map(|ip| ip.str().to_owned());
    let ports = at.get("ports");
    let ports = ports.items().filter(|port| port.get("nodePort").int() != 0);
    let health = Some(at.get("healthCheckNodePort").int()).filter(|number| *number != 0);
    ips.chain(ports.map(|port| key(port.get("nodePort").int())))
        .chain(health.map(key))
        .collect()
}
