//! The subresource `resize`: changes how much CPU and memory the containers of a Pod may use. Nothing else of the Pod changes.

use serde_json::{Map, Value};

use crate::kinds::{
    core::pod::{checks::whole, is_mirror, keep_metadata_and_status, level, prepare::quality},
    faults::{Faults, quoted},
    kind::Part,
    located::Located,
};

pub(in crate::kinds) const PART: Part = Part {
    name: "resize",
    reset: &[],
    prepare,
    validate,
};

const LISTS: [&str; 2] = ["initContainers", "containers"];
/// The resources that may change.
const RESIZABLE: [&str; 2] = ["cpu", "memory"];

/// Keeps all but the resources and policies of the containers. Containers that came, left or moved are left to the validation.
fn prepare(new: &mut Value, old: &Value) {
    let count = |pod: &Value, list: &str| pod["spec"][list].as_array().map_or(0, Vec::len);
    if LISTS.iter().any(|list| count(new, list) != count(old, list)) {
        return;
    }
    let given = std::mem::replace(&mut new["spec"], old["spec"].clone());
    for list in LISTS {
        let now = new["spec"].get_mut(list).and_then(Value::as_array_mut);
        let (Some(now), Some(given)) = (now, given[list].as_array()) else {
            continue;
        };
        if now.iter().zip(given).any(|(now, given)| now["name"] != given["name"]) {
            now.clone_from(given);
            continue;
        }
        for (now, given) in now.iter_mut().zip(given) {
            copy(now, given, &["resources", "resizePolicy"]);
        }
    }
    // A Pod without resources of its own keeps those that it has.
    if !given["resources"].is_null() {
        copy(&mut new["spec"], &given, &["resources"]);
    }
    level::fill(new);
    keep_metadata_and_status(new, old);
}

fn copy(into: &mut Value, from: &Value, names: &[&str]) {
    let Some(fields) = into.as_object_mut() else { return };
    for name in names {
        match from.get(*name) {
            Some(value) => _ = fields.insert((*name).to_owned(), value.clone()),
            None => _ = fields.remove(*name),
        }
    }
}

fn validate(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let windows = old.at("spec.os.name").str() == "windows";
    if is_mirror(old) || windows {
        let which = if is_mirror(old) { "static" } else { "windows" };
        // Upstream, the path of the whole object is `[]`.
        return faults.forbidden(&old.called("[]"), &format!("{which} pods cannot be resized"));
    }
    let (spec, before) = (new.get("spec"), old.get("spec"));
    if !are_in_order(&spec, &before, faults) {
        return;
    }
    whole(new, faults);
    let class = old.at("status.qosClass").str();
    let class = if class.is_empty() { quality(&before) } else { class };
    if class != quality(&spec) {
        let why = "Pod QOS Class may not change as a result of resizing";
        faults.invalid_as(&spec, &quoted(new.at("status.qosClass").str()), why);
    }
    if !supports_resize(old) {
        faults.forbidden(&spec, "Pod running on node without support for resize");
    }
    let (mine, its) = (spec.get("resources"), before.get("resources"));
    if amounts(&mine) + amounts(&its) > 0 {
        pod_level(&mine, &its, &spec, faults);
    }
    containers(&spec, &before, faults);
    // Of the rest of the spec, only this can differ, and is not compared above.
    if faults.is_empty() && amounts(&mine) + amounts(&its) == 0 && mine.is_set() != its.is_set() {
        faults.forbidden(&spec, "only cpu and memory resources are mutable");
    }
}

/// The number of requests and limits.
fn amounts(resources: &Located<'_>) -> usize {
    resources.get("requests").len() + resources.get("limits").len()
}

/// Whether the node of the first container that runs reports resources. Without one, that is assumed.
fn supports_resize(pod: &Located<'_>) -> bool {
    let mut statuses = pod.at("status.containerStatuses").items();
    let first = statuses.find(|status| status.at("state.running").is_set());
    first.is_none_or(|status| status.get("resources").is_set())
}

/// The resources of the Pod as a whole.
fn pod_level(new: &Located<'_>, old: &Located<'_>, spec: &Located<'_>, faults: &mut Faults) {
    if old.is_set() && !new.is_set() {
        return faults.forbidden(new, "pod-level resources cannot be removed");
    }
    for list in ["requests", "limits"].into_iter().filter(|_| old.is_set()) {
        if is_removed(&new.get(list), &old.get(list)) {
            faults.forbidden(&new.get(list), &format!("pod-level resource {list} cannot be removed"));
        }
    }
    if fixed(new) != fixed(old) {
        faults.forbidden(spec, "only cpu and memory resources are mutable at pod-level");
    }
}

/// Checks that the same containers are in the same places.
fn are_in_order(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) -> bool {
    let before = faults.len();
    for list in ["containers", "initContainers"] {
        let (now, then) = (new.get(list), old.get(list));
        if now.len() != then.len() {
            faults.forbidden(&now, &format!("{list} may not be added or removed on resize"));
            continue;
        }
        for (now, then) in now.items().zip(then.items()) {
            let name = now.get("name");
            if name.str() != then.get("name").str() {
                faults.forbidden(&name, &format!("{list} may not be renamed or reordered on resize"));
            }
        }
    }
    faults.len() == before
}

fn containers(spec: &Located<'_>, before: &Located<'_>, faults: &mut Faults) {
    let pairs = |list: &str| spec.get(list).items().zip(before.get(list).items()).collect::<Vec<_>>();
    for (now, then) in LISTS.iter().flat_map(|list| pairs(list)) {
        let (now, then) = (now.get("resources"), then.get("resources"));
        for list in ["requests", "limits"] {
            if is_removed(&now.get(list), &then.get(list)) {
                faults.forbidden(&now.get(list), &format!("resource {list} cannot be removed"));
            }
        }
    }
    for (now, then) in pairs("containers") {
        if !is_only_resized(&now, &then) {
            faults.forbidden(spec, "only cpu and memory resources are mutable");
        }
    }
    for (now, then) in pairs("initContainers") {
        if !is_only_resized(&now, &then) {
            faults.forbidden(
                &now,
                "only cpu and memory resources for init or sidecar containers are mutable",
            );
        }
        let is_sidecar = now.get("restartPolicy").str() == "Always";
        if is_sidecar || now.is_like(&then) {
            continue;
        }
        let restarts = |policy: &Located<'_>| policy.get("restartPolicy").str() == "RestartContainer";
        for _ in now.get("resizePolicy").items().filter(restarts) {
            let why = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
            faults.forbidden(&now, why);
        }
    }
}

/// Whether a name of the old amounts is missing, or there are fewer.
fn is_removed(new: &Located<'_>, old: &Located<'_>) -> bool {
    old.len() > new.len() || old.entries().any(|(name, _)| !new.get(name).is_set())
}

/// Whether nothing but CPU and memory of a container has changed.
fn is_only_resized(new: &Located<'_>, old: &Located<'_>) -> bool {
    let rest = |container: &Located<'_>| {
        let mut fields = container.value.as_object().cloned().unwrap_or_default();
        fields.remove("resources");
        Value::Object(fields)
    };
    let same = Located::root(&rest(new)).is_like(&Located::root(&rest(old)));
    // Claims of resources count as changed, as upstream, which drops them before it compares.
    let claims = old.get("resources").get("claims").len() > 0;
    same && !claims && fixed(&new.get("resources")) == fixed(&old.get("resources"))
}

/// The requests and limits that a resize may not change.
fn fixed(resources: &Located<'_>) -> [Map<String, Value>; 2] {
    ["requests", "limits"].map(|list| {
        let amounts = resources.get(list);
        let kept = amounts.entries().filter(|(name, _)| !RESIZABLE.contains(name));
        kept.map(|(name, amount)| (name.to_owned(), amount.value.clone()))
            .collect()
    })
}
