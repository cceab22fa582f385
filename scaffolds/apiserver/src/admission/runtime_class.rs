//! RuntimeClass: a Pod gets the overhead, the node selector and the tolerations of its class.

use kubewright_machinery::quantity::Quantity;
use serde_json::{Map, Value, json};
use std::cmp::Ordering;

use super::{Attributes, Objects, Operation};
use crate::{
    state::Core,
    status::{Status, Subject},
    store::Key,
};

/// The path of RuntimeClasses in the store.
const CLASSES: &str = "node.k8s.io/runtimeclasses";
const ANOTHER: &str = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const UNDEFINED: &str = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";

/// Completes a new Pod by its class.
///
/// # Errors
/// 403 for a class that does not exist, another overhead and a node selector that contradicts that of the class.
pub(super) fn admit(core: &Core, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> Result<(), Status> {
    if !is_asked(attributes) {
        return Ok(());
    }
    let class = class_of(core, attributes, objects)?;
    let completed = objects
        .new
        .as_deref_mut()
        .and_then(|pod| pod.get_mut("spec")?.as_object_mut());
    let (Some(class), Some(spec)) = (class, completed) else {
        return Ok(());
    };
    complete(spec, &class).map_err(|why| attributes.forbid(objects, &why))
}

/// Compares the overhead of a new Pod with that of its class.
///
/// # Errors
/// 403 if they differ, and for an overhead without one of a class.
pub(super) fn validate(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    if !is_asked(attributes) {
        return Ok(());
    }
    let class = class_of(core, attributes, objects)?.unwrap_or_default();
    let overhead = objects
        .present()
        .pointer("/spec/overhead")
        .filter(|overhead| !overhead.is_null());
    let why = match (class.get("overhead"), overhead) {
        (Some(defined), overhead) if !is_same(&defined["podFixed"], overhead.unwrap_or(&Value::Null)) => ANOTHER,
        (None, Some(_)) => UNDEFINED,
        _ => return Ok(()),
    };
    Err(attributes.forbid(objects, why))
}

fn is_asked(attributes: &Attributes<'_>) -> bool {
    attributes.operation == Operation::Create && attributes.is_about(Subject::new("", "pods"))
}

/// The class of a new Pod, if it has one.
fn class_of(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<Option<Value>, Status> {
    let name = objects.present().pointer("/spec/runtimeClassName");
    let Some(name) = name.and_then(Value::as_str) else {
        return Ok(None);
    };
    let Some(record) = core.store.get(&Key::new(CLASSES, "", name)) else {
        let why = format!("pod rejected: RuntimeClass {name:?} not found");
        return Err(attributes.forbid(objects, &why));
    };
    let class = record.read()?;
    Ok(Some(class))
}

fn complete(spec: &mut Map<String, Value>, class: &Value) -> Result<(), String> {
    if let Some(overhead) = class.get("overhead") {
        let (defined, own) = (&overhead["podFixed"], spec.get("overhead").unwrap_or(&Value::Null));
        if own.as_object().is_some_and(|own| !own.is_empty()) && !is_same(defined, own) {
            return Err(ANOTHER.to_owned());
        }
        match defined.is_null() {
            true => _ = spec.remove("overhead"),
            false => _ = spec.insert("overhead".to_owned(), defined.clone()),
        }
    }
    let Some(scheduling) = class.get("scheduling") else {
        return Ok(());
    };
    let selector = scheduling.get("nodeSelector").and_then(Value::as_object);
    if let Some(wanted) = selector.filter(|selector| !selector.is_empty()) {
        let selector = spec.entry("nodeSelector").or_insert_with(|| json!({}));
        for (key, value) in wanted {
            let own = selector.get(key).and_then(Value::as_str);
            if let (Some(own), Some(value)) = (own.filter(|own| *value != **own), value.as_str()) {
                return Err(format!(
                    "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {own}"
                ));
            }
            selector[key] = value.clone();
        }
    }
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let mut all = list(spec.get("tolerations"));
    all.extend(list(scheduling.get("tolerations")));
    let merged = merged(&all);
    match merged.is_empty() {
        true => _ = spec.remove("tolerations"),
        false => _ = spec.insert("tolerations".to_owned(), merged.into()),
    }
    Ok(())
}

/// Whether both lists of amounts are equal.
fn is_same(one: &Value, other: &Value) -> bool {
    let amounts = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let (one, other) = (amounts(one), amounts(other));
    let amount = |value: &Value| Quantity::parse(value.as_str()?).ok();
    let equals = |one: &Value, other: &Value| match (amount(one), amount(other)) {
        (Some(one), Some(other)) => one.compare(&other) == Ordering::Equal,
        _ => one == other,
    };
    one.len() == other.len()
        && one
            .iter()
            .all(|(name, it)| other.get(name).is_some_and(|value| equals(it, value)))
}

/// The tolerations that no other one includes; of equal ones the first.
fn merged(all: &[Value]) -> Vec<Value> {
    let mut merged: Vec<Value> = Vec::new();
    for (at, toleration) in all.iter().enumerate() {
        let later = all.iter().skip(at + 1).filter(|other| *other != toleration);
        if !merged.iter().chain(later).any(|other| includes(other, toleration)) {
            merged.push(toleration.clone());
        }
    }
    merged
}

fn includes(wide: &Value, narrow: &Value) -> bool {
    let text = |toleration: &Value, field: &str| toleration[field].as_str().unwrap_or_default().to_owned();
    let [wide_of, narrow_of] = [wide, narrow].map(|it| move |field: &str| text(it, field));
    let seconds = |toleration: &Value| toleration["tolerationSeconds"].as_i64();
    if wide == narrow {
        return true;
    }
    let exists = wide_of("operator") == "Exists";
    let fits_key = narrow_of("key") == wide_of("key") || wide_of("key").is_empty() && exists;
    let fits_effect = narrow_of("effect") == wide_of("effect") || wide_of("effect").is_empty();
    let fits_time = wide_of("effect") != "NoExecute"
        || seconds(wide).is_none_or(|most| seconds(narrow).is_some_and(|seconds| seconds <= most));
    let fits_value = match wide_of("operator").as_str() {
        "Equal" | "" => narrow_of("operator") == "Equal" && narrow_of("value") == wide_of("value"),
        _ => exists,
    };
    fits_key && fits_effect && fits_time && fits_value
}
