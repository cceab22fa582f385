//! What is wrong with the metadata of an object.

use kubewright_schema::{
    Cause,
    cause::Path,
    meta::{
        labels,
        names::{self, Unit},
        owners,
    },
};
use serde_json::{Map, Value};

use super::{finalizers, number, of, text, texts};
use crate::strategy::NameRule;

/// All rules but those of changes. `rule` is about the name; `namespaced` about the namespace.
pub fn validate(object: &Value, rule: NameRule, namespaced: bool) -> Vec<Cause> {
    let path = Path::new("metadata");
    let mut causes = named(object, rule, &path);
    let namespace = text(object, "namespace");
    let at = path.child("namespace");
    match (namespaced, namespace) {
        (true, "") => causes.push(at.required("")),
        (true, _) => causes.extend(
            names::label(namespace, Unit::Characters)
                .iter()
                .map(|it| at.invalid(namespace, it)),
        ),
        (false, "") => {}
        (false, _) => causes.push(at.forbidden("not allowed on this type")),
    }
    causes.extend(generation(object, &path));
    causes.extend(free(object, &path));
    causes.extend(kubewright_schema::meta::finalizers::check(
        &texts(object, "finalizers"),
        &path.child("finalizers"),
    ));
    causes
}

/// What built-in kinds require of the finalizers' names besides.
pub fn finalizer_names(object: &Value) -> Vec<Cause> {
    finalizers::standard(&texts(object, "finalizers"), &Path::new("metadata").child("finalizers"))
}

fn named(object: &Value, rule: NameRule, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (prefix, name) = (text(object, "generateName"), text(object, "name"));
    if !prefix.is_empty() {
        let at = path.child("generateName");
        causes.extend(name_faults(rule, prefix, true).iter().map(|it| at.invalid(prefix, it)));
    }
    let at = path.child("name");
    if name.is_empty() {
        causes.push(at.required("name or generateName is required"));
    } else {
        causes.extend(name_faults(rule, name, false).iter().map(|it| at.invalid(name, it)));
    }
    causes
}

/// With `prefix` more will follow.
fn name_faults(rule: NameRule, name: &str, prefix: bool) -> Vec<String> {
    let masked = if prefix {
        names::as_prefix(name)
    } else {
        name.to_owned()
    };
    match rule {
        NameRule::Subdomain => names::subdomain(&masked, Unit::Characters),
        NameRule::Label => names::label(&masked, Unit::Characters),
        NameRule::Label1035 => names::label_1035(&masked, Unit::Characters),
        NameRule::PathSegment => names::path_segment(name, prefix),
    }
}

pub(super) fn generation(object: &Value, path: &Path) -> Option<Cause> {
    let generation = number(object, "generation").filter(|it| *it < 0)?;
    Some(
        path.child("generation")
            .invalid(generation, "must be greater than or equal to 0"),
    )
}

/// Labels, annotations and owners, which clients may change at any time.
pub(super) fn free(object: &Value, path: &Path) -> Vec<Cause> {
    let none = Map::new();
    let entries = |field: &str| of(object).get(field).and_then(Value::as_object).unwrap_or(&none);
    let mut causes = labels::labels(entries("labels"), &path.child("labels"));
    causes.extend(labels::annotations(entries("annotations"), &path.child("annotations")));
    let references = of(object).get("ownerReferences").and_then(Value::as_array);
    let references = references.map(Vec::as_slice).unwrap_or_default();
    causes.extend(owners::check(references, &path.child("ownerReferences")));
    causes
}
