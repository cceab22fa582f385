//! How often metadata is looked at. Upstream's registry and upstream's kinds both validate it, each kind in its own way,
//! and clients see every objection as often as it was found: in `details.causes`, not in the message.

use kubewright_schema::Cause;
use serde_json::Value;

use super::{finalizer_names, update, validate};
use crate::{resource::Resource, strategy::NameRule};

/// What a kind itself does at an update, after the registry: each letter one look.
///
/// `U` the rules of changes, `V` all others, `n` the finalizers' names. Recorded from a real server by PUTs of objects
/// with a bad label, annotation, owner and finalizer.
fn own(resource: &Resource) -> &'static str {
    match (resource.group.as_str(), resource.names.plural.as_str()) {
        ("", "services" | "nodes" | "persistentvolumes" | "namespaces") | ("apps" | "networking.k8s.io", _) => "Un",
        ("", _) => "UnVn",
        ("rbac.authorization.k8s.io" | "batch", _) => "VnUn",
        ("policy", _) => "",
        _ => "U",
    }
}

/// Whether the kind wants finalizers without a domain to be Kubernetes' own.
fn names_finalizers(resource: &Resource) -> bool {
    own(resource).contains('n')
}

/// What is wrong with the metadata of a new object.
pub fn created(resource: &Resource, object: &Value) -> Vec<Cause> {
    let mut causes = validate(object, resource.strategy.name_rule(), resource.namespaced);
    if names_finalizers(resource) {
        causes.extend(finalizer_names(object));
    }
    causes
}

/// What is wrong with the metadata of a changed object, before what the kind has against the rest of it.
pub fn updated(resource: &Resource, new: &Value, old: &Value) -> Vec<Cause> {
    let mut causes = validate(new, NameRule::PathSegment, resource.namespaced);
    causes.extend(update(new, old));
    for look in own(resource).chars() {
        causes.extend(match look {
            'U' => update(new, old),
            'V' => validate(new, resource.strategy.name_rule(), resource.namespaced),
            _ => finalizer_names(new),
        });
    }
    causes
}
