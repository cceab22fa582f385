//! What an update leaves out, and what belonged to the former type.

use serde_json::{Map, Value, json};

use super::{has_address, ports, text};

/// `clusterIP` is the first of `clusterIPs`.
pub(super) fn normalise(spec: &mut Map<String, Value>) {
    let first = text(spec, "clusterIP").to_owned();
    if !first.is_empty() && !spec.contains_key("clusterIPs") {
        spec.insert("clusterIPs".to_owned(), json!([first]));
    }
}

/// What an update leaves out stays as it is.
pub(super) fn inherit(spec: &mut Map<String, Value>, before: &Map<String, Value>) {
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

/// A client that knows only `clusterIP` changes it and leaves `clusterIPs` alone.
pub(super) fn follow(spec: &mut Map<String, Value>, before: &Map<String, Value>) {
    let same = spec.get("clusterIPs") == before.get("clusterIPs");
    if same && text(spec, "clusterIP") != text(before, "clusterIP") {
        spec.remove("clusterIPs");
    }
}

/// What belongs to the former type and was not changed goes.
pub(super) fn drop_unneeded(spec: &mut Map<String, Value>, before: &Map<String, Value>) {
    if has_address(text(before, "type")) && !has_address(text(spec, "type")) {
        forget(
            spec,
            before,
            &[
                "clusterIP",
                "clusterIPs",
                "ipFamilies",
                "ipFamilyPolicy",
                "internalTrafficPolicy",
            ],
        );
    }
    if ports::needs(before) && !ports::needs(spec) {
        let were: Vec<Option<Value>> = ports::numbers(before);
        if ports::numbers(spec) == were {
            let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
            for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
                port.remove("nodePort");
            }
        }
    }
    if text(before, "type") == "LoadBalancer" && text(spec, "type") != "LoadBalancer" {
        forget(
            spec,
            before,
            &[
                "allocateLoadBalancerNodePorts",
                "loadBalancerClass",
                "healthCheckNodePort",
            ],
        );
    }
    if is_external(before) && !is_external(spec) {
        forget(spec, before, &["externalTrafficPolicy"]);
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
