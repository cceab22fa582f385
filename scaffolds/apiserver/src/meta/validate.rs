//! The errors in the metadata of an object.

use std::borrow::Cow;

use kubewright_machinery::{
    Cause,
    cause::Path,
    names::{self, Unit},
    object_meta,
};
use serde_json::Value;

use super::{finalizers, of, text, texts};
use crate::{ip, strategy::NameRule};

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
    causes.extend(object_meta::generation(of(object), &path));
    causes.extend(object_meta::changeable(of(object), &path));
    causes.extend(object_meta::finalizers::check(
        &texts(object, "finalizers"),
        &path.child("finalizers"),
    ));
    causes
}

/// The further requirements of built-in kinds for the names of finalizers.
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
        NameRule::PathSegment => names::path_segment(name, prefix),
        NameRule::Address => ip::not_canonical(name).map(Cow::into_owned).into_iter().collect(),
    }
}
