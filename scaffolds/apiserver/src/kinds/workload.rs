//! The parts that the kinds that run Pods share: selectors, templates and counts of replicas.

use serde_json::{Value, json};

use crate::{
    kinds::{
        faults::Faults,
        format::label,
        kind::{Change, Warnings},
        labels::{is_sound, print_selector, selector, selects, shown},
        located::Located,
        pod::{template::pod_template, warnings},
        row::Row,
    },
    strategy::Scale,
};

/// The scale subresource of these kinds.
pub(in crate::kinds) fn scale() -> Scale {
    Scale {
        spec_replicas: ".spec.replicas".into(),
        status_replicas: ".status.replicas".into(),
        label_selector: Some(".spec.selector".into()),
    }
}

pub(in crate::kinds) const MISMATCH: &str = "`selector` does not match template `labels`";

/// Validates the selector, which must match the template's labels; one of the server's messages names the kind as
/// `kind`.
pub(in crate::kinds) fn selection(spec: &Located<'_>, kind: &str, faults: &mut Faults) {
    let at = spec.get("selector");
    if !at.is_set() {
        return faults.required(&at, "");
    }
    selector(&at, faults);
    if at.get("matchLabels").len() + at.get("matchExpressions").len() == 0 {
        let detail = format!("empty selector is invalid for {kind}");
        faults.invalid_as(&at, &shown(&at), &detail);
    }
}

pub(in crate::kinds) fn matches(spec: &Located<'_>, faults: &mut Faults) {
    let found = spec.at("template.metadata.labels");
    if !selects(&spec.get("selector"), &found) {
        faults.invalid(&found, MISMATCH);
    }
}

/// Validates the template of Pods that run forever.
pub(in crate::kinds) fn template(spec: &Located<'_>, kind: &str, faults: &mut Faults) {
    let at = spec.get("template");
    pod_template(&at, faults);
    forever(&at, kind, faults);
}

pub(in crate::kinds) fn forever(template: &Located<'_>, kind: &str, faults: &mut Faults) {
    let (policy, deadline) = (
        template.at("spec.restartPolicy"),
        template.at("spec.activeDeadlineSeconds"),
    );
    faults.one_of(&policy, &["Always"]);
    if deadline.is_set() {
        faults.forbidden(&deadline, &format!("activeDeadlineSeconds in {kind} is not Supported"));
    }
}

/// Whether a selector does not match every object.
pub(in crate::kinds) fn is_selective(spec: &Located<'_>) -> bool {
    let at = spec.get("selector");
    at.get("matchLabels").len() + at.get("matchExpressions").len() > 0
}

/// Validates the selector and the template of ReplicaSets and Deployments.
pub(in crate::kinds) fn replicated(spec: &Located<'_>, faults: &mut Faults) {
    let at = spec.get("selector");
    if !is_sound(&at) {
        return faults.invalid_as(&at, &shown(&at), "invalid label selector");
    }
    if !at.is_set() || is_selective(spec) {
        matches(spec, faults);
    }
    template(spec, "ReplicaSet", faults);
}

/// Checks that counts in a status are not negative.
pub(in crate::kinds) fn counts(status: &Located<'_>, names: &[&str], faults: &mut Faults) {
    for name in names {
        faults.not_negative(&status.get(name));
    }
}

/// Checks that a count is not greater than another one.
pub(in crate::kinds) fn not_more(count: &Located<'_>, than: &Located<'_>, detail: &str, faults: &mut Faults) {
    if count.int() > than.int() {
        faults.invalid_as(count, &count.int().to_string(), detail);
    }
}

/// Checks that counts in a status are not greater than the number of its replicas.
pub(in crate::kinds) fn not_more_than_replicas(status: &Located<'_>, names: &[&str], faults: &mut Faults) {
    for name in names {
        let detail = "cannot be greater than status.replicas";
        not_more(&status.get(name), &status.get("replicas"), detail, faults);
    }
}

pub(in crate::kinds) fn decrement(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let (now, before) = (new.get("collisionCount"), old.get("collisionCount"));
    if before.is_set() && (!now.is_set() || now.int() < before.int()) {
        faults.invalid_as(&now, &now.int().to_string(), "cannot be decremented");
    }
}

/// Warnings for kinds that have their template at `spec.template` and derive the names of Pods from their own.
pub(in crate::kinds) fn template_warnings(Change { new: at, old }: Change<'_, '_>) -> Warnings {
    let mut warnings = new_name_warnings(at, old);
    if is_another(Change { new: at, old }) {
        warnings::template(&at.at("spec.template"), &mut warnings);
    }
    warnings
}

pub(in crate::kinds) fn new_name_warnings(at: &Located<'_>, old: Option<&Located<'_>>) -> Warnings {
    match old {
        None => name_warnings(at, "Pod names and hostnames"),
        Some(_) => Vec::new(),
    }
}

/// Warnings about an object's name, with which the names of Pods and their hosts begin.
pub(in crate::kinds) fn name_warnings(at: &Located<'_>, use_: &str) -> Warnings {
    let sentences = label(at.at("metadata.name").str());
    if sentences.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "metadata.name: this is used in {use_}, which can result in surprising behavior; a DNS label is recommended: [{}]",
        sentences.join(" ")
    )]
}

/// Whether the object is new, or its spec has changed.
pub(in crate::kinds) fn is_another(Change { new, old }: Change<'_, '_>) -> bool {
    let generation = |at: &Located<'_>| at.at("metadata.generation").int();
    old.is_none_or(|old| generation(new) != generation(old))
}

pub(in crate::kinds) fn print_ready(row: &Row<'_>) -> String {
    format!(
        "{}/{}",
        row.get("status.readyReplicas").int(),
        row.get("spec.replicas").int()
    )
}

pub(in crate::kinds) fn with_containers(mut cells: Vec<Value>, row: &Row<'_>, selects: bool) -> Vec<Value> {
    cells.extend(print_containers(&row.get("spec.template.spec.containers")));
    if selects {
        cells.push(print_selector(&row.get("spec.selector")));
    }
    cells
}

pub(in crate::kinds) fn replica_cells(row: &Row<'_>) -> Vec<Value> {
    let (wanted, actual) = (row.int("spec.replicas"), row.int("status.replicas"));
    with_containers(
        vec![row.name(), wanted, actual, row.int("status.readyReplicas"), row.age()],
        row,
        true,
    )
}

/// Names and images of the containers.
pub(in crate::kinds) fn print_containers(at: &Located<'_>) -> [Value; 2] {
    let joined = |field: &str| {
        let texts: Vec<&str> = at.items().map(|container| container.get(field).str()).collect();
        json!(texts.join(","))
    };
    [joined("name"), joined("image")]
}
