//! The subresource `ephemeralcontainers`: adds containers to a Pod that exists. Nothing else of the Pod changes, and none is removed.

use serde_json::Value;

use crate::kinds::{
    core::pod::{checks::whole, is_mirror, keep_metadata_and_status},
    edit::section,
    faults::Faults,
    kind::Part,
    located::Located,
};

const LIST: &str = "ephemeralContainers";

pub(in crate::kinds) const PART: Part = Part {
    name: "ephemeralcontainers",
    reset: &[],
    prepare,
    validate,
};

/// Keeps all but the ephemeral containers.
fn prepare(new: &mut Value, old: &Value) {
    let given = new.pointer(&format!("/spec/{LIST}")).cloned();
    new["spec"] = old["spec"].clone();
    keep_metadata_and_status(new, old);
    let Some(spec) = section(new, "spec") else { return };
    match given {
        Some(given) => _ = spec.insert(LIST.to_owned(), given),
        None => _ = spec.remove(LIST),
    }
}

fn validate(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    if is_mirror(old) {
        // Upstream, the path of the whole object is `[]`.
        return faults.forbidden(&old.called("[]"), "static pods do not support ephemeral containers");
    }
    whole(new, faults);
    let (given, before) = (new.get("spec").get(LIST), old.get("spec").get(LIST));
    for container in before.items() {
        let name = container.get("name").str();
        // Upstream a later container of the same name counts.
        let Some(now) = given.items().filter(|it| it.get("name").str() == name).last() else {
            let why = format!("existing ephemeral containers {name:?} may not be removed\n");
            faults.forbidden(&given, &why);
            continue;
        };
        if !now.is_like(&container) {
            let why = format!("existing ephemeral containers {name:?} may not be changed\n");
            faults.forbidden(&given, &why);
        }
    }
}
