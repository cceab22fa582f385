//! Adapts the fields of a Service to a change of its type.

use serde_json::{Map, Value, json};

use crate::kinds::{
    core::service::node_ports::{needs_health_check, numbers},
    edit::text,
};

/// Makes `clusterIP` the first of `clusterIPs`, and removes `internalTrafficPolicy` from an ExternalName, which has no traffic of its own.
pub(in crate::kinds) fn normalise(spec: &mut Map<String, Value>) {
    let first = text(spec, "clusterIP").to_owned();
    if !first.is_empty() && !spec.contains_key("clusterIPs") {
        spec.insert("clusterIPs".to_owned(), json!([first]));
    }
    if text(spec, "type") == "ExternalName" {
        spec.remove("internalTrafficPolicy");
    }
}

/// Keeps the fields that an update omits.
pub(in crate::kinds) fn inherit(spec: &mut Map<String, Value>, before: &Map<String, Value>) {
    if text(spec, "clusterIP").is_empty() {
        take_over(spec, before, "clusterIP");
    }
    if !spec.contains_key("clusterIPs") && text(spec, "clusterIP") == text(before, "clusterIP") {
        take_over(spec, before, "clusterIPs");
    }
    for name in ["ipFamilies", "ipFamilyPolicy"] {
        if !spec.contains_key(name) {
            take_over(spec, before, name);
        }
    }
}

fn take_over(spec: &mut Map<String, Value>, before: &Map<String, Value>, name: &str) {
    if let Some(value) = before.get(name) {
        spec.insert(name.to_owned(), value.clone());
    }
}

/// Releases the second IP family when the policy becomes `SingleStack` and the families are not changed. Only a headless
/// Service without a selector can have two.
pub(in crate::kinds) fn release_family(spec: &mut Map<String, Value>, before: &Map<String, Value>) {
    if text(spec, "ipFamilyPolicy") != "SingleStack" || spec.get("ipFamilies") != before.get("ipFamilies") {
        return;
    }
    if let Some(families) = spec.get_mut("ipFamilies").and_then(Value::as_array_mut) {
        families.truncate(1);
    }
}

/// Updates `clusterIPs` for clients that know and change only `clusterIP`.
pub(in crate::kinds) fn follow(spec: &mut Map<String, Value>, before: &Map<String, Value>) {
    let same = spec.get("clusterIPs") == before.get("clusterIPs");
    if same && text(spec, "clusterIP") != text(before, "clusterIP") {
        spec.remove("clusterIPs");
    }
}

/// Removes unchanged fields that only the former type had.
pub(in crate::kinds) fn drop_unneeded(spec: &mut Map<String, Value>, before: &Map<String, Value>) {
    if has_address(text(before, "type")) && !has_address(text(spec, "type")) {
        forget(
            spec,
            before,
            &["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"],
        );
    }
    if is_on_nodes(before) && !is_on_nodes(spec) {
        let were = numbers(before);
        // Ports may be added or removed, but not get another number.
        if numbers(spec)
            .iter()
            .all(|number| number.is_none() || were.contains(number))
        {
            let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
            for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
                port.remove("nodePort");
            }
        }
    }
    if text(before, "type") == "LoadBalancer" && text(spec, "type") != "LoadBalancer" {
        forget(spec, before, &["allocateLoadBalancerNodePorts", "loadBalancerClass"]);
    }
    if needs_health_check(before) && !needs_health_check(spec) {
        forget(spec, before, &["healthCheckNodePort"]);
    }
    if is_external(before) && !is_external(spec) {
        forget(spec, before, &["externalTrafficPolicy"]);
    }
}

/// Whether a type has ports on nodes, which a load balancer may do without.
fn is_on_nodes(spec: &Map<String, Value>) -> bool {
    matches!(text(spec, "type"), "NodePort" | "LoadBalancer")
}

/// Clears the addresses of the load balancer if the new type has none.
pub(super) fn clear_status(new: &mut Value, _: &Value) {
    let is_balancer = new.pointer("/spec/type").is_some_and(|it| it == "LoadBalancer");
    if let (false, Some(balancer)) = (is_balancer, new.pointer_mut("/status/loadBalancer")) {
        *balancer = json!({});
    }
}

fn forget(spec: &mut Map<String, Value>, before: &Map<String, Value>, names: &[&str]) {
    for name in names {
        if spec.get(*name) == before.get(*name) {
            spec.remove(*name);
        }
    }
}

fn is_external(spec: &Map<String, Value>) -> bool {
    let has_ips = spec
        .get("externalIPs")
        .and_then(Value::as_array)
        .is_some_and(|ips| !ips.is_empty());
    matches!(text(spec, "type"), "LoadBalancer" | "NodePort") || text(spec, "type") == "ClusterIP" && has_ips
}

/// Whether Services of a type have an address. Unknown types do.
pub(in crate::kinds) fn has_address(kind: &str) -> bool {
    kind != "ExternalName"
}
