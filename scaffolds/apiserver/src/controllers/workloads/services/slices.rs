//! The EndpointSlices of a Service: Pods with the same ports share slices of at most 100 endpoints, and a change touches as
//! few slices as possible.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{HEADLESS, SERVICE_NAME, ServiceView, families, is_ipv6, reference, slots};
use crate::{
    controllers::workloads::{
        fields::{self, items, text},
        replica_set::Pod,
        write::Write,
    },
    meta,
};

const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const CONTROLLER: &str = "endpointslice-controller.k8s.io";
const ZONE: &str = "topology.kubernetes.io/zone";

/// The endpoints with the same ports, by address, host name and Pod.
#[derive(Debug, Default)]
pub(super) struct PortGroup {
    ports: Vec<Value>,
    pub endpoints: BTreeMap<String, Value>,
}

/// The slices to create, to update and to delete.
#[derive(Debug, Default)]
pub(super) struct SlicePlan {
    pub created: Vec<Value>,
    pub updated: Vec<Value>,
    pub deleted: Vec<Value>,
}

/// The identity of an endpoint: its addresses, host name and Pod.
pub(super) fn identity(endpoint: &Value) -> String {
    let reference = &endpoint["targetRef"];
    json!([
        endpoint["addresses"],
        endpoint["hostname"],
        reference["namespace"],
        reference["name"]
    ])
    .to_string()
}

/// The identity of a list of ports. The order does not matter.
fn key(ports: &[Value]) -> String {
    let mut texts: Vec<String> = ports.iter().map(Value::to_string).collect();
    texts.sort();
    texts.concat()
}

impl ServiceView<'_> {
    /// The writes that bring the slices of the Service to its Pods.
    pub fn slices(&self, present: &[Value]) -> Vec<Write> {
        let is_ours =
            |slice: &&Value| slice["metadata"]["labels"][MANAGED_BY] == CONTROLLER && !meta::is_deleting(slice);
        let present: Vec<&Value> = present.iter().filter(is_ours).collect();
        let mut writes = Vec::new();
        for family in families(self.service) {
            let of_family = present.iter().copied().filter(|slice| slice["addressType"] == family);
            writes.extend(self.plan(family, of_family.collect()).writes(self.service));
        }
        let others = present.into_iter();
        let others = others.filter(|slice| !families(self.service).contains(&text(slice, "/addressType")));
        writes.extend(others.map(|slice| Write::Delete(slice.clone(), None)));
        writes
    }

    fn plan(&self, family: &str, present: Vec<&Value>) -> SlicePlan {
        let count = present.len();
        let (own, foreign): (Vec<&Value>, Vec<&Value>) =
            present.into_iter().partition(|slice| is_owned(slice, self.service));
        let mut by_ports: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
        for slice in own {
            by_ports.entry(key(items(slice, "/ports"))).or_default().push(slice);
        }
        let mut plan = SlicePlan {
            deleted: foreign.into_iter().cloned().collect(),
            ..SlicePlan::default()
        };
        for (key, mut group) in self.groups(family) {
            let slices = by_ports.remove(&key).unwrap_or_default();
            let new = self.slice(family, &group.ports);
            slots::arrange(&mut plan, &new, slices, &mut group);
        }
        plan.deleted.extend(by_ports.into_values().flatten().cloned());
        if plan.deleted.len() == count && plan.created.is_empty() {
            self.keep_empty(family, &mut plan);
        }
        plan
    }

    /// A Service without endpoints has one empty slice.
    fn keep_empty(&self, family: &str, plan: &mut SlicePlan) {
        let empty = self.slice(family, &[]);
        let is_same = |slice: &Value| {
            let lists = ["/endpoints", "/ports"].map(|list| items(slice, list));
            lists.iter().all(|list| list.is_empty())
                && slice["metadata"]["labels"] == empty["metadata"]["labels"]
                && is_owned(slice, self.service)
        };
        match plan.deleted.as_slice() {
            [only] if is_same(only) => plan.deleted.clear(),
            _ => plan.created.push(empty),
        }
    }

    fn groups(&self, family: &str) -> BTreeMap<String, PortGroup> {
        let mut groups: BTreeMap<String, PortGroup> = BTreeMap::new();
        for pod in self.pods() {
            let ports = self.ports(&pod.object);
            let group = groups.entry(key(&ports)).or_default();
            group.ports = ports;
            if let Some(endpoint) = self.endpoint(family, pod) {
                group.endpoints.insert(identity(&endpoint), endpoint);
            }
        }
        groups
    }

    /// The endpoint of a Pod; `None` without an address of the family, or if its node is gone.
    fn endpoint(&self, family: &str, pod: &Pod) -> Option<Value> {
        let object = &pod.object;
        let addresses = items(object, "/status/podIPs").iter().map(|it| text(it, "/ip"));
        let addresses: Vec<&str> = addresses.filter(|it| is_ipv6(it) == (family == "IPv6")).collect();
        let node = self.nodes.get(text(object, "/spec/nodeName"));
        if addresses.is_empty() || node.is_none() && !self.publishes_unready() {
            return None;
        }
        let (serving, terminating) = (pod.ready.is_some(), meta::is_deleting(object));
        let ready = self.publishes_unready() || serving && !terminating;
        let mut endpoint = json!({
            "addresses": addresses, "targetRef": reference(object),
            "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
        });
        let zone = node.and_then(|node| node.label(ZONE));
        for (field, value) in [
            ("nodeName", Some(text(object, "/spec/nodeName"))),
            ("zone", zone),
            ("hostname", self.host_name(object)),
        ] {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                endpoint[field] = json!(value);
            }
        }
        Some(endpoint)
    }

    /// A new slice without endpoints.
    fn slice(&self, family: &str, ports: &[Value]) -> Value {
        let name = meta::text(self.service, "name");
        let reserved = [SERVICE_NAME, MANAGED_BY, HEADLESS];
        let labels = self.labels(&reserved, &[(SERVICE_NAME, name), (MANAGED_BY, CONTROLLER)]);
        json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
            "metadata": {
                "generateName": format!("{name}-"), "namespace": meta::text(self.service, "namespace"),
                "labels": labels, "ownerReferences": [fields::reference(self.service)],
            },
            "addressType": family, "endpoints": [], "ports": ports,
        })
    }
}

fn is_owned(slice: &Value, service: &Value) -> bool {
    let mut owners = items(slice, "/metadata/ownerReferences").iter();
    owners.any(|owner| owner["uid"] == service["metadata"]["uid"])
}

impl SlicePlan {
    /// The writes; a slice that would be deleted becomes one that would be created.
    fn writes(mut self, service: &Value) -> Vec<Write> {
        let mut deleted = Vec::new();
        for mut old in std::mem::take(&mut self.deleted) {
            match self.created.pop() {
                Some(new) if is_owned(&old, service) => {
                    old["metadata"]["labels"] = new["metadata"]["labels"].clone();
                    for field in ["endpoints", "ports"] {
                        old[field] = new[field].clone();
                    }
                    self.updated.push(old);
                }
                new => {
                    self.created.extend(new);
                    deleted.push(old);
                }
            }
        }
        if meta::is_deleting(service) {
            self.created.clear();
        }
        let created = self.created.into_iter().map(Write::Create);
        let updated = self.updated.into_iter().map(Write::Update);
        let deleted = deleted.into_iter().map(|slice| Write::Delete(slice, None));
        created.chain(updated).chain(deleted).collect()
    }
}
