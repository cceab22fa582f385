//! Services: the EndpointSlices and the Endpoints of those with selectors, and the addresses of load balancers.

mod address;
mod endpoints;
mod run;
mod slices;
mod slots;

use serde_json::{Value, json};

use super::{
    daemon_set::Nodes,
    fields::{items, text},
    replica_set::Pod,
};
use crate::meta;

/// The label of an EndpointSlice with the name of its Service.
pub(super) const SERVICE_NAME: &str = "kubernetes.io/service-name";
/// The label of the EndpointSlices and Endpoints of a Service without an address.
const HEADLESS: &str = "service.kubernetes.io/headless";

/// A Service and its Pods.
struct ServiceView<'a> {
    service: &'a Value,
    /// The Pods that the Service selects, in the order of their names.
    pods: &'a [Pod],
    nodes: &'a Nodes,
}

impl<'a> ServiceView<'a> {
    /// The Pods with an address whose containers have not ended.
    fn pods(&self) -> impl Iterator<Item = &'a Pod> {
        let has_address = |pod: &&Pod| !items(&pod.object, "/status/podIPs").is_empty();
        self.pods.iter().filter(|pod| !pod.is_finished()).filter(has_address)
    }

    fn publishes_unready(&self) -> bool {
        self.service["spec"]["publishNotReadyAddresses"] == true
    }

    fn is_headless(&self) -> bool {
        ["", "None"].contains(&text(self.service, "/spec/clusterIP"))
    }

    /// The ports of a Pod that the Service leads to. A port with a name that no container has is left out.
    fn ports(&self, pod: &Value) -> Vec<Value> {
        let port = |port: &Value| {
            let target = &port["targetPort"];
            let number = target.as_i64().or_else(|| named(pod, target, &port["protocol"]))?;
            let mut found = json!({"name": text(port, "/name"), "port": number, "protocol": port["protocol"]});
            if port["appProtocol"].is_string() {
                found["appProtocol"] = port["appProtocol"].clone();
            }
            Some(found)
        };
        items(self.service, "/spec/ports").iter().filter_map(port).collect()
    }

    /// The host name of a Pod in the domain of the Service.
    fn host_name(&self, pod: &'a Value) -> Option<&'a str> {
        let is_of = text(pod, "/spec/subdomain") == meta::text(self.service, "name");
        Some(text(pod, "/spec/hostname")).filter(|name| is_of && !name.is_empty())
    }

    /// The labels of the Service, apart from reserved ones, with these others.
    fn labels(&self, reserved: &[&str], own: &[(&str, &str)]) -> Value {
        let labels = meta::of(self.service).get("labels").and_then(Value::as_object);
        let labels = labels.into_iter().flatten();
        let mut labels: Value = labels
            .filter(|(name, _)| !reserved.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let headless = self.is_headless().then_some((HEADLESS, ""));
        for (name, value) in own.iter().copied().chain(headless) {
            labels[name] = json!(value);
        }
        labels
    }
}

/// The number of a container's port of this name.
fn named(pod: &Value, name: &Value, protocol: &Value) -> Option<i64> {
    let sidecars = items(pod, "/spec/initContainers").iter();
    let sidecars = sidecars.filter(|it| it["restartPolicy"] == "Always");
    let containers = items(pod, "/spec/containers").iter().chain(sidecars);
    let mut ports = containers.flat_map(|container| items(container, "/ports"));
    let port = ports.find(|port| port["name"] == *name && port["protocol"] == *protocol)?;
    port["containerPort"].as_i64()
}

/// A reference to a Pod.
fn reference(pod: &Value) -> Value {
    let [namespace, name, uid] = ["namespace", "name", "uid"].map(|field| meta::text(pod, field));
    json!({"kind": "Pod", "namespace": namespace, "name": name, "uid": uid})
}

/// Whether an address is one of IPv6.
fn is_ipv6(address: &str) -> bool {
    address.contains(':')
}

/// The families of addresses of a Service, the first one first.
fn families(service: &Value) -> Vec<&str> {
    let families = items(service, "/spec/ipFamilies").iter();
    families.filter_map(Value::as_str).collect()
}
