//! Defaults of Services and Endpoints.

use serde_json::{Value, json};

use super::{Fields, each, set, set_text, text, within};

/// Three hours, `DefaultClientIPServiceAffinitySeconds` upstream.
const AFFINITY_SECONDS: i32 = 10_800;

pub(super) fn rule(kind: &str) -> Option<fn(&mut Fields)> {
    Some(match kind {
        "Service" => service,
        "EndpointPort" => |port| set_text(port, "protocol", "TCP"),
        _ => return None,
    })
}

fn service(object: &mut Fields) {
    let Some(spec) = within(object, "spec") else { return };
    set_text(spec, "sessionAffinity", "None");
    affinity(spec);
    set_text(spec, "type", "ClusterIP");
    for port in each(spec, "ports") {
        set_text(port, "protocol", "TCP");
        let target = port.get("targetPort");
        if target.is_none_or(|target| *target == json!(0) || *target == json!("")) {
            let number = port.get("port").cloned().unwrap_or_else(|| json!(0));
            port.insert("targetPort".to_owned(), number);
        }
    }
    let r#type = text(spec, "type").to_owned();
    let is_external = matches!(r#type.as_str(), "LoadBalancer" | "NodePort");
    let has_ips = spec
        .get("externalIPs")
        .and_then(Value::as_array)
        .is_some_and(|ips| !ips.is_empty());
    if is_external || r#type == "ClusterIP" && has_ips {
        set_text(spec, "externalTrafficPolicy", "Cluster");
    }
    if is_external || r#type == "ClusterIP" {
        set(spec, "internalTrafficPolicy", "Cluster");
    }
    if r#type == "LoadBalancer" {
        set(spec, "allocateLoadBalancerNodePorts", true);
        ip_mode(object);
    }
}

fn affinity(spec: &mut Fields) {
    match text(spec, "sessionAffinity") {
        "None" => _ = spec.remove("sessionAffinityConfig"),
        "ClientIP" => {
            let config = spec.get("sessionAffinityConfig");
            if config
                .and_then(|config| config.pointer("/clientIP/timeoutSeconds"))
                .is_none()
            {
                let config = json!({"clientIP": {"timeoutSeconds": AFFINITY_SECONDS}});
                spec.insert("sessionAffinityConfig".to_owned(), config);
            }
        }
        _ => {}
    }
}

fn ip_mode(object: &mut Fields) {
    let balancer = within(object, "status").and_then(|status| within(status, "loadBalancer"));
    for ingress in balancer.into_iter().flat_map(|balancer| each(balancer, "ingress")) {
        if !text(ingress, "ip").is_empty() {
            set(ingress, "ipMode", "VIP");
        }
    }
}
