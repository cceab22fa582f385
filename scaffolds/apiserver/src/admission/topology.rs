//! PodTopologyLabels: a Pod gets the labels of its node's zone and region.

use serde_json::{Value, json};

use super::{Attributes, Objects, Operation};
use crate::{meta, state::Core, status::Subject, store::Key};

/// The path of nodes in the store.
const NODES: &str = "/nodes";
/// The labels of a node that are copied.
const LABELS: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/// Adds the labels to a new Pod that has a node, and to a Binding, which passes them to its Pod.
pub(super) fn admit(core: &Core, attributes: &Attributes<'_>, objects: &mut Objects<'_>) {
    let call = attributes.call;
    let Some(new) = objects.new.as_deref_mut() else { return };
    if attributes.operation != Operation::Create || call.subject() != Subject::new("", "pods") {
        return;
    }
    let node = match call.subresource.as_str() {
        "" => new.pointer("/spec/nodeName"),
        "binding" if new["target"]["kind"] == "Node" => new.pointer("/target/name"),
        _ => None,
    };
    let node = node.and_then(Value::as_str).filter(|node| !node.is_empty());
    let Some(record) = node.and_then(|node| core.store.get(&Key::new(NODES, "", node))) else {
        return;
    };
    let found = record
        .labels()
        .iter()
        .filter(|(name, _)| LABELS.contains(&name.as_str()));
    let mut found = found.map(|(name, value)| (name.clone(), json!(value))).peekable();
    if found.peek().is_none() {
        return;
    }
    let labels = meta::of_mut(new).entry("labels").or_insert_with(|| json!({}));
    if let Some(labels) = labels.as_object_mut() {
        labels.extend(found);
    }
}
