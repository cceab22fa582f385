//! The built-in kinds: names, shapes, defaults, validation and columns. Everything that can be recorded from a real
//! server is (`resources.txt`, `shapes.txt`); the rest stands here as rules, one room for each thing that has some.

mod apps;
mod at;
pub(crate) mod base64;
mod batch;
mod cells;
mod check;
mod core;
mod decode;
mod defaults;
mod definition;
mod empties;
mod events;
mod image;
mod kind;
mod names;
mod others;
mod prepare;
pub mod protobuf;
mod quantity;
mod service;
mod shapes;
pub(crate) mod time;
mod warn;
mod wire;

pub use definition::{definition, definitions};

use std::sync::Arc;

use serde_json::Value;

use crate::resource::Resource;
use kind::{BuiltIn, PLAIN, Rules};

/// Recorded, because other kinds refer to it, but not served: autoscaling/v1's conversion is not exact.
const NOT_SERVED: [(&str, &str); 1] = [("autoscaling", "v1")];

/// All built-in resources, in the order in which discovery lists them within each group and version.
pub fn resources() -> Vec<Resource> {
    let is_served = |named: &names::Named| !NOT_SERVED.contains(&(named.group.as_str(), named.version.as_str()));
    names::all().into_iter().filter(is_served).map(resource).collect()
}

/// What `serviceaccounts/NAME/token` reads: no resource of its own.
pub(crate) fn token_request() -> Resource {
    resource(names::resource(
        "authentication.k8s.io/v1 TokenRequest serviceaccounts token namespaced create",
    ))
}

fn resource(named: names::Named) -> Resource {
    let package = named
        .group
        .split('.')
        .next()
        .filter(|group| !group.is_empty())
        .unwrap_or("core");
    let definition = format!("{package}.{}.{}", named.version, named.names.kind);
    let strategy = BuiltIn::new(definition, &named, rules(&named));
    Resource {
        storage_version: named.version.clone(),
        group: named.group,
        version: named.version,
        names: named.names,
        namespaced: named.namespaced,
        verbs: named.verbs,
        subresources: named.subresources,
        storage_version_hash: named.storage_version_hash,
        strategy: Arc::new(strategy),
    }
}

fn rules(named: &names::Named) -> Rules {
    let kind = named.names.kind.as_str();
    let found = match named.group.as_str() {
        "" => core::rules(kind),
        "apps" => apps::rules(kind),
        "batch" => batch::rules(kind),
        group => others::rules(group, kind),
    };
    found.unwrap_or(PLAIN)
}

/// Makes `status` what an object begins with.
fn empty_status(definition: &str, object: &mut Value) {
    if let (Some(status), Some(fields)) = (decode::empty(definition, "status"), object.as_object_mut()) {
        fields.insert("status".to_owned(), status);
    }
}
