//! Ephemeral containers, which are added to a Pod that runs, to look into it.

use std::collections::BTreeSet;

use crate::kinds::{
    faults::Faults,
    located::Located,
    pod::{container::any, context::PodContext},
};

const NOT_HERE: &str = "cannot be set for an Ephemeral Container";
/// Fields of other containers that ephemeral ones must not have, in the order of upstream's struct.
const OTHERS: [&str; 9] = [
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];

/// Validates the ephemeral containers of a Pod's spec.
pub(super) fn ephemeral_containers(spec: &Located<'_>, around: &PodContext<'_>, faults: &mut Faults) {
    let lists = ["containers", "initContainers"].map(|list| spec.get(list));
    let others: BTreeSet<&str> = lists
        .iter()
        .flat_map(Located::items)
        .map(|it| it.get("name").str())
        .collect();
    let mut names = others.clone();
    for container in spec.get("ephemeralContainers").items() {
        any(&container, around, faults);
        let (name, image) = (container.get("name"), container.get("image"));
        if image.str().trim() != image.str() {
            faults.invalid(&image, "must not have leading or trailing whitespace");
        }
        if !names.insert(name.str()) {
            faults.duplicate(&name);
        }
        let target = container.get("targetContainerName");
        if !target.str().is_empty() && !others.contains(target.str()) {
            faults.not_found(&target);
        }
        for other in OTHERS.map(|name| container.get(name)).iter().filter(|it| has(it)) {
            faults.forbidden(other, NOT_HERE);
        }
        for mount in container.get("volumeMounts").items() {
            for path in ["subPath", "subPathExpr"].map(|name| mount.get(name)) {
                if !path.str().is_empty() {
                    faults.forbidden(&path, NOT_HERE);
                }
            }
        }
    }
}

/// Whether a field is set; `resources` without amounts are not.
fn has(field: &Located<'_>) -> bool {
    match field.value.as_object() {
        Some(fields) if field.path.ends_with(".resources") => !fields.is_empty(),
        _ => field.is_set(),
    }
}
