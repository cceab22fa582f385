//! Reads Pods, and reads and sets their conditions.

use kubewright_machinery::time;
use serde_json::{Map, Value, json};

use crate::{call::Call, state::Core, status::Status};

/// A condition of a Pod.
pub(super) struct PodCondition<'a> {
    pub name: &'a str,
    /// May be empty.
    pub reason: &'a str,
    /// May be empty.
    pub message: &'a str,
}

/// The same request, for the Pod itself.
pub(super) fn call(core: &Core, call: &Call, name: &str) -> Result<Call, Status> {
    let pods = core.catalogue.resource("", "v1", "pods");
    Ok(Call {
        resource: pods.ok_or_else(Status::no_such_resource)?,
        name: name.to_owned(),
        ..call.clone()
    })
}

/// Reads the Pod of a call.
///
/// # Errors
/// 404 if there is none.
pub(super) fn read(core: &Core, call: &Call) -> Result<Value, Status> {
    let found = core.store.get(&call.key(&call.name));
    let record = found.ok_or_else(|| Status::not_found(call.subject(), &call.name))?;
    Ok(record.read()?)
}

/// Whether a condition is true.
pub(super) fn is(pod: &Value, condition: &str) -> bool {
    let conditions = pod.pointer("/status/conditions").and_then(Value::as_array);
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|it| it["type"] == condition && it["status"] == "True")
}

/// Sets a condition to true. Its last transition is at `now`, unless it was true already.
pub(super) fn set(pod: &mut Value, condition: &PodCondition<'_>, now: i64) {
    let mut next = json!({
        "type": condition.name,
        "status": "True",
        "lastProbeTime": null,
        "lastTransitionTime": time::text(now),
    });
    for (field, text) in [("reason", condition.reason), ("message", condition.message)] {
        if !text.is_empty() {
            next[field] = text.into();
        }
    }
    let Some(conditions) = conditions(pod) else { return };
    match conditions.iter_mut().find(|it| it["type"] == condition.name) {
        Some(before) => {
            if before["status"] == "True" {
                next["lastTransitionTime"] = before["lastTransitionTime"].take();
            }
            *before = next;
        }
        None => conditions.push(next),
    }
}

fn conditions(pod: &mut Value) -> Option<&mut Vec<Value>> {
    let status = section(pod, "status")?;
    let conditions = status.entry("conditions").or_insert_with(|| json!([]));
    conditions.as_array_mut()
}

/// The object in a field, which is created if it is missing.
pub(super) fn section<'a>(object: &'a mut Value, name: &str) -> Option<&'a mut Map<String, Value>> {
    let fields = object.as_object_mut()?;
    fields.entry(name).or_insert_with(|| json!({})).as_object_mut()
}
