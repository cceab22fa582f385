//! The addresses of load balancers: a Service of the type gets one at once, of a range for documentation.

use serde_json::{Value, json};

use crate::{
    controllers::workloads::{Decision, fields::text},
    meta,
};

/// The status of a Service: with an address if it is a load balancer, unless another controller answers for its class.
pub(super) fn decide(service: &Value) -> Decision {
    let spec = &service["spec"];
    let is_balancer = spec["type"] == "LoadBalancer";
    let has_address = service["status"]["loadBalancer"]["ingress"].is_array();
    if is_balancer == has_address || spec["loadBalancerClass"].is_string() {
        return Decision::default();
    }
    let mut status = service["status"].clone();
    status["loadBalancer"] = json!({});
    if is_balancer {
        status["loadBalancer"] = json!({"ingress": [{"ip": address(service), "ipMode": "VIP"}]});
    }
    Decision::about_status(service, status, None)
}

/// The address that the spec asks for, or one that follows from the uid. Nothing listens there.
fn address(service: &Value) -> String {
    let wanted = text(service, "/spec/loadBalancerIP");
    if !wanted.is_empty() {
        return wanted.to_owned();
    }
    let digits = meta::text(service, "uid").get(..2).unwrap_or_default();
    let number = u8::from_str_radix(digits, 16).unwrap_or_default();
    format!("203.0.113.{}", number.clamp(1, 254))
}
