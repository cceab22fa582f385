//! NodeDeclaredFeatureValidator and PodResizeValidator: the node of a resized Pod has to support the resize and to have room for it.

use serde_json::Value;
use std::cmp::Ordering;

use kubewright_machinery::quantity::Quantity;

use super::{Attributes, Objects, Operation};
use crate::{
    meta,
    quota::{Amounts, requested},
    state::Core,
    status::{Status, Subject},
    store::Key,
};

/// The path of nodes in the store.
const NODES: &str = "/nodes";

/// Checks that the node declares the features that a resize needs.
///
/// # Errors
/// 403 if the node lacks a feature, or does not exist.
pub(super) fn supported(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    let Some((pod, old)) = resized(attributes, objects) else {
        return Ok(());
    };
    let needed = needed(pod, old);
    if needed.is_empty() {
        return Ok(());
    }
    let node = node(core, attributes, objects, pod)?;
    let declared = node.pointer("/status/declaredFeatures").and_then(Value::as_array);
    let is_declared = |feature: &str| declared.is_some_and(|all| all.iter().any(|it| it == feature));
    let missing: Vec<&str> = needed.into_iter().filter(|feature| !is_declared(feature)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let (missing, name) = (missing.join(", "), meta::text(&node, "name"));
    let why = format!("pod update requires features {missing} which are not available on node {name:?}");
    Err(attributes.forbid(objects, &why))
}

/// Checks that the allocatable resources of the node cover the requests of the resized Pod.
///
/// # Errors
/// 403 if the node lacks resources, is not a Linux node, or does not exist.
pub(super) fn fits(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    let Some((pod, _)) = resized(attributes, objects) else {
        return Ok(());
    };
    let node = node(core, attributes, objects, pod)?;
    let system = node
        .pointer("/metadata/labels/kubernetes.io~1os")
        .and_then(Value::as_str);
    let refuse = |why: &str, cause: &str| Err(attributes.forbid(objects, why).because(cause, "", ""));
    if let Some(system) = system.filter(|system| *system != "linux") {
        let name = meta::text(&node, "name");
        let why = format!("pod resize is only supported on linux nodes, node {name:?} is {system:?}");
        return refuse(&why, "UnsupportedPlatform");
    }
    let (requests, room) = (requested(pod), Amounts::of(node.pointer("/status/allocatable")));
    let lacks = |resource: &str, number: fn(&Quantity) -> i128| {
        let amount = |amounts: &Amounts| amounts.get(resource).cloned().unwrap_or_else(|| Quantity::of(0));
        let (request, room) = (amount(&requests), amount(&room));
        let (requested, allocatable) = (number(&request), number(&room));
        let is_more = request.compare(&room) == Ordering::Greater;
        is_more.then(|| format!("{resource}, requested: {requested}, allocatable: {allocatable}"))
    };
    let lacking = [
        lacks("cpu", Quantity::rounded_up_thousandths),
        lacks("memory", Quantity::rounded_up_number),
    ];
    let lacking: Vec<String> = lacking.into_iter().flatten().collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let lacking = lacking.join("; ");
    refuse(
        &format!("node didn't have enough allocatable resources: {lacking}"),
        "NodeCapacity",
    )
}

/// The Pod after and before a resize that changes it, if the Pod has a node.
fn resized<'a>(attributes: &Attributes<'_>, objects: &'a Objects<'_>) -> Option<(&'a Value, &'a Value)> {
    let call = attributes.call;
    let is_resize = attributes.operation == Operation::Update && call.subresource == "resize";
    if !is_resize || call.subject() != Subject::new("", "pods") {
        return None;
    }
    let (pod, old) = (objects.new.as_deref()?, objects.old?);
    let generation = |pod| meta::number(pod, "generation");
    (generation(pod) != generation(old) && !node_name(pod).is_empty()).then_some((pod, old))
}

fn node_name(pod: &Value) -> &str {
    pod["spec"]["nodeName"].as_str().unwrap_or_default()
}

fn node(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>, pod: &Value) -> Result<Value, Status> {
    let name = node_name(pod);
    let Some(record) = core.store.get(&Key::new(NODES, "", name)) else {
        return Err(attributes.forbid(objects, &format!("node {name:?} not found")));
    };
    Ok(record.read()?)
}

/// The features that a node needs for a resize, in the order of their names.
fn needed(pod: &Value, old: &Value) -> Vec<&'static str> {
    let [init, init_before] =
        [pod, old].map(|pod| pod["spec"]["initContainers"].as_array().map_or(&[][..], Vec::as_slice));
    let is_resized =
        |(now, then): (&Value, &Value)| then["restartPolicy"] != "Always" && now["resources"] != then["resources"];
    let features = [
        (
            "InPlacePodLevelResourcesVerticalScaling",
            pod["spec"]["resources"] != old["spec"]["resources"],
        ),
        (
            "InPlacePodVerticalScalingInitContainers",
            init.iter().zip(init_before).any(is_resized),
        ),
    ];
    features
        .into_iter()
        .filter(|(_, is_needed)| *is_needed)
        .map(|(name, _)| name)
        .collect()
}
