//! The fields of a Pod that may change: images, `activeDeadlineSeconds`, added tolerations, removed scheduling gates, and
//! while it has gates also added conditions for nodes.

use serde_json::{Value, json};

use super::{checks::whole, gated::only_adds_conditions};
use crate::kinds::{faults::Faults, located::Located, pod::annotations, semantic};

const CHANGEABLE: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
     `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing \
     tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

pub(in crate::kinds) fn validate(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let (spec, before) = (new.get("spec"), old.get("spec"));
    whole(new, faults);
    let [notes, old_notes] = [new, old].map(|pod| pod.at("metadata.annotations"));
    annotations::fixed(&notes, &old_notes, faults);
    for list in ["containers", "initContainers"] {
        if !same_containers(&spec.get(list), &before.get(list), faults) {
            return;
        }
    }
    if !deadline(
        &spec.get("activeDeadlineSeconds"),
        &before.get("activeDeadlineSeconds"),
        faults,
    ) {
        return;
    }
    tolerations(&spec.get("tolerations"), &before.get("tolerations"), faults);
    gates(&spec.get("schedulingGates"), &before.get("schedulingGates"), faults);
    let (mut now, then) = (comparable(&spec, &before), comparable(&before, &before));
    if before.get("schedulingGates").len() > 0 {
        only_adds_conditions(&spec, &before, &mut now, faults);
    }
    if !semantic::equal("core.v1.PodSpec", &now, &then) {
        faults.forbidden(&spec, CHANGEABLE);
    }
}

/// Checks that the containers are the same and have images.
fn same_containers(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) -> bool {
    if new.len() != old.len() {
        faults.forbidden(new, "pod updates may not add or remove containers");
        return false;
    }
    for container in new.items() {
        let image = container.get("image");
        if image.str().is_empty() {
            faults.required(&image, "");
        }
        if image.str().trim() != image.str() {
            faults.invalid(&image, "must not have leading or trailing whitespace");
        }
    }
    true
}

fn deadline(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) -> bool {
    match (new.is_set(), old.is_set()) {
        (true, true) if old.int() < new.int() => {
            faults.invalid(new, "must be less than or equal to previous value");
            false
        }
        (false, true) => {
            faults.invalid(new, "must not update from a positive integer to nil value");
            true
        }
        _ => true,
    }
}

fn tolerations(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let stays = |old: &Located<'_>| {
        new.items().any(|new| {
            let same = |name: &str| new.get(name).value == old.get(name).value;
            ["key", "operator", "value", "effect"].into_iter().all(same)
        })
    };
    if !old.items().all(|old| stays(&old)) {
        faults.forbidden(
            new,
            "existing toleration can not be modified except its tolerationSeconds",
        );
    }
}

fn gates(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    for gate in new.items() {
        if !old.items().any(|old| old.value == gate.value) {
            let name = gate.get("name");
            let detail = format!(
                "only deletion is allowed, but found new scheduling gate '{}'",
                name.str()
            );
            faults.forbidden(&name, &detail);
        }
    }
}

/// The spec, with the fields that may change copied from `old`.
fn comparable(spec: &Located<'_>, old: &Located<'_>) -> Value {
    let mut value = spec.value.clone();
    let Some(fields) = value.as_object_mut() else {
        return value;
    };
    for name in ["activeDeadlineSeconds", "tolerations", "schedulingGates"] {
        fields.remove(name);
    }
    for list in ["containers", "initContainers"] {
        let containers = fields.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
            container.remove("image");
        }
    }
    let grace = old.get("terminationGracePeriodSeconds").int();
    if grace < 0 && spec.get("terminationGracePeriodSeconds").int() == 1 {
        fields.insert("terminationGracePeriodSeconds".to_owned(), json!(grace));
    }
    value
}
