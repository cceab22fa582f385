//! How often metadata is looked at. Upstream's registry and upstream's kinds both validate it, each kind in its own way,
//! and clients see every objection as often as it was found: in `details.causes`, not in the message.

use kubewright_schema::Cause;
use serde_json::Value;

use super::{finalizer_names, update, validate};
use crate::{resource::Resource, strategy::NameRule};

/// What a kind itself does at an update of the object, after the registry: each letter one look.
///
/// `U` the rules of changes, `V` all others, `n` the finalizers' names. Recorded from a real server by PUTs of objects
/// with one bad label, annotation, owner or finalizer each.
fn own(resource: &Resource) -> &'static str {
    if !resource.strategy.merges_strategically() {
        return "U";
    }
    match (resource.group.as_str(), resource.names.plural.as_str()) {
        ("", "configmaps" | "secrets" | "serviceaccounts" | "pods" | "endpoints" | "persistentvolumeclaims")
        | ("networking.k8s.io", "ingresses" | "ingressclasses") => "UnVn",
        ("", "nodes" | "namespaces")
        | ("apps", "controllerrevisions")
        | ("batch", "jobs")
        | ("rbac.authorization.k8s.io" | "storage.k8s.io", _) => "VnUn",
        ("", "persistentvolumes") => "VnVn",
        ("", "limitranges") | ("discovery.k8s.io", _) => "Vn",
        ("", "events") | ("policy", _) => "",
        ("coordination.k8s.io" | "apiextensions.k8s.io", _) => "U",
        _ => "Un",
    }
}

/// The same at an update of the status, or of what finalizes a namespace.
fn own_of_part(resource: &Resource) -> &'static str {
    match (resource.group.as_str(), resource.names.plural.as_str()) {
        _ if !resource.strategy.merges_strategically() => "U",
        ("apiextensions.k8s.io", _) => "U",
        ("batch", "cronjobs") | ("policy", _) => "",
        _ => "Un",
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
pub fn updated((resource, subresource): (&Resource, &str), new: &Value, old: &Value) -> Vec<Cause> {
    let own = match subresource {
        "" | "scale" => own(resource),
        _ => own_of_part(resource),
    };
    let mut causes = validate(new, NameRule::PathSegment, resource.namespaced);
    causes.extend(update(new, old));
    for look in own.chars() {
        causes.extend(match look {
            'U' => update(new, old),
            'V' => validate(new, resource.strategy.name_rule(), resource.namespaced),
            _ => finalizer_names(new),
        });
    }
    causes
}
