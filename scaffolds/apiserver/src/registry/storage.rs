//! Where the real server keeps objects, in the words of answers that quote its etcd key.

use crate::{resource::Resource, store::Key};

/// The key that the real server has for an object. The names differ where they are older than the API; custom kinds and
/// CustomResourceDefinitions have their group in it. Recorded from answers to a PUT with another uid.
pub fn quoted(resource: &Resource, key: &Key) -> String {
    let plural = resource.names.plural.as_str();
    let directory = match (resource.group.as_str(), plural) {
        ("", "services") => "services/specs".to_owned(),
        ("", "endpoints") => "services/endpoints".to_owned(),
        ("", "nodes") => "minions".to_owned(),
        ("", "replicationcontrollers") => "controllers".to_owned(),
        ("networking.k8s.io", "ingresses") => "ingress".to_owned(),
        ("apiextensions.k8s.io", _) => format!("apiextensions.k8s.io/{plural}"),
        (group, _) if !resource.strategy.merges_strategically() => format!("{group}/{plural}"),
        _ => plural.to_owned(),
    };
    match key.namespace.as_str() {
        "" => format!("/registry/{directory}/{}", key.name),
        namespace => format!("/registry/{directory}/{namespace}/{}", key.name),
    }
}
