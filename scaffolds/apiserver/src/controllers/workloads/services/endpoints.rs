//! The Endpoints of a Service: the addresses of its Pods, by the ports that they have in common.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{HEADLESS, ServiceView, families, is_ipv6, reference};
use crate::{
    controllers::workloads::{
        fields::{items, text},
        replica_set::Pod,
        sets::annotate,
        write::Write,
    },
    meta,
};

const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
const CONTROLLER: &str = "endpoint-controller";
const OVER_CAPACITY: &str = "endpoints.kubernetes.io/over-capacity";
/// The most addresses of an object, as upstream.
const MOST: usize = 1000;

/// Addresses by IP address and uid of the Pod.
type Addresses = BTreeMap<[String; 2], Value>;

/// Addresses with the same ports.
#[derive(Debug, Default)]
struct Subset {
    ports: Vec<Value>,
    ready: Addresses,
    unready: Addresses,
}

impl Subset {
    fn json(self) -> Value {
        let mut subset = json!({});
        for (field, list) in [
            ("addresses", self.ready.into_values().collect()),
            ("notReadyAddresses", self.unready.into_values().collect()),
            ("ports", self.ports),
        ] {
            if !list.is_empty() {
                subset[field] = Value::Array(list);
            }
        }
        subset
    }
}

impl ServiceView<'_> {
    /// The write that brings the Endpoints of the Service to its Pods, if one is needed.
    pub fn endpoints(&self, present: Option<&Value>) -> Option<Write> {
        let [namespace, name] = ["namespace", "name"].map(|field| meta::text(self.service, field));
        let new = json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"namespace": namespace, "name": name}});
        let mut changed = present.unwrap_or(&new).clone();
        changed["metadata"]["labels"] = self.labels(&[HEADLESS], &[(MANAGED_BY, CONTROLLER)]);
        let mut subsets = self.subsets();
        let is_truncated = truncate(&mut subsets);
        let subsets: Vec<Value> = subsets.into_iter().map(Subset::json).collect();
        if let Some(fields) = changed.as_object_mut() {
            match subsets.is_empty() {
                true => _ = fields.remove("subsets"),
                false => _ = fields.insert("subsets".to_owned(), subsets.into()),
            }
        }
        if is_truncated {
            annotate(&mut changed, OVER_CAPACITY, "truncated".to_owned());
        } else if let Some(annotations) = changed
            .pointer_mut("/metadata/annotations")
            .and_then(Value::as_object_mut)
        {
            annotations.remove(OVER_CAPACITY);
        }
        match present {
            None => Some(Write::Create(changed)),
            Some(present) => (changed != *present).then_some(Write::Update(changed)),
        }
    }

    /// The addresses by port, then the ports by addresses.
    fn subsets(&self) -> Vec<Subset> {
        let mut by_port: BTreeMap<String, Subset> = BTreeMap::new();
        for pod in self.pods().filter(|pod| !meta::is_deleting(&pod.object)) {
            let Some(address) = self.address(pod) else { continue };
            let key = ["/ip", "/targetRef/uid"].map(|field| text(&address, field).to_owned());
            let is_ready = pod.ready.is_some() || self.publishes_unready();
            let has_no_ports = items(self.service, "/spec/ports").is_empty() && self.is_headless();
            let ports = self.ports(&pod.object).into_iter().map(Some);
            for port in ports.chain(has_no_ports.then_some(None)) {
                let subset = by_port.entry(json!(port).to_string()).or_default();
                let addresses = if is_ready {
                    &mut subset.ready
                } else {
                    &mut subset.unready
                };
                addresses.insert(key.clone(), address.clone());
                subset.ports = port.into_iter().map(unnamed).collect();
            }
        }
        let mut by_addresses: BTreeMap<String, Subset> = BTreeMap::new();
        for mut subset in by_port.into_values() {
            let names = [&subset.ready, &subset.unready].map(|it| it.keys().collect::<Vec<_>>());
            let mut ports = by_addresses
                .remove(&json!(names).to_string())
                .map_or_else(Vec::new, |same| same.ports);
            ports.append(&mut subset.ports);
            by_addresses.insert(json!(names).to_string(), Subset { ports, ..subset });
        }
        by_addresses.into_values().collect()
    }

    fn address(&self, pod: &Pod) -> Option<Value> {
        let is_wanted_ipv6 = families(self.service).first() == Some(&"IPv6");
        let mut addresses = items(&pod.object, "/status/podIPs").iter().map(|it| text(it, "/ip"));
        let address = addresses.find(|it| is_ipv6(it) == is_wanted_ipv6)?;
        let node = text(&pod.object, "/spec/nodeName");
        let mut address = json!({"ip": address, "nodeName": node, "targetRef": reference(&pod.object)});
        if let Some(name) = self.host_name(&pod.object) {
            address["hostname"] = json!(name);
        }
        Some(address)
    }
}

/// A port without a name has none here, other than in EndpointSlices.
fn unnamed(mut port: Value) -> Value {
    if let Some(fields) = port.as_object_mut().filter(|port| port["name"] == "") {
        fields.remove("name");
    }
    port
}

/// Removes the addresses beyond the maximum, those that are not ready first; whether there were any.
fn truncate(subsets: &mut [Subset]) -> bool {
    let mut left = MOST;
    let mut is_truncated = false;
    let mut cut = |addresses: &mut Addresses| {
        is_truncated |= addresses.len() > left;
        while addresses.len() > left {
            addresses.pop_last();
        }
        left -= addresses.len();
    };
    subsets.iter_mut().for_each(|subset| cut(&mut subset.ready));
    subsets.iter_mut().for_each(|subset| cut(&mut subset.unready));
    is_truncated
}
