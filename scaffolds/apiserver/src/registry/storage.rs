//! Where objects are kept: in our store, and in the words of answers that quote the etcd key of the real server.

use crate::{resource::Resource, store::Key};

/// The resource in the store's keys: `/configmaps`, `apps/deployments`. All versions share one.
pub fn resource_key(resource: &Resource) -> String {
    resource.store_name()
}

/// The key of an object.
pub fn key(resource: &Resource, namespace: &str, name: &str) -> Key {
    Key {
        resource: resource_key(resource).into(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    }
}

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

/// The key of a namespace.
pub fn namespace(name: &str) -> Key {
    Key {
        resource: "/namespaces".into(),
        namespace: String::new(),
        name: name.to_owned(),
    }
}
