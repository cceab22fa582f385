//! Aggregated discovery: all groups, versions and resources in one document, which clients request first.

use super::{order, verbs};
use crate::{
    catalogue::Snapshot,
    resource::{Resource, Subresource},
};
use serde_json::{Value, json};

/// The document of `/api` (the core group) or `/apis` (all others).
pub(super) fn document(snapshot: &Snapshot, core: bool) -> Value {
    let groups = if core { vec![""] } else { order::groups(snapshot) };
    let items: Vec<Value> = groups.into_iter().map(|it| group(snapshot, it)).collect();
    json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items,
    })
}

fn group(snapshot: &Snapshot, name: &str) -> Value {
    let metadata = if name.is_empty() {
        json!({})
    } else {
        json!({"name": name})
    };
    let versions: Vec<Value> = snapshot
        .versions(name)
        .into_iter()
        .map(|version| {
            let built_in = snapshot.is_built_in(name);
            let resources: Vec<Value> = snapshot
                .resources(name, version)
                .map(|it| resource(it, built_in))
                .collect();
            json!({"version": version, "resources": resources, "freshness": "Current"})
        })
        .collect();
    json!({"metadata": metadata, "versions": versions})
}

fn resource(resource: &Resource, built_in: bool) -> Value {
    let own = (resource.group.as_str(), resource.version.as_str());
    let mut entry = json!({
        "resource": resource.names.plural,
        "responseKind": kind(own, own, &resource.names.kind, built_in),
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.names.singular,
        "verbs": verbs(resource),
    });
    for (key, list) in [
        ("shortNames", &resource.names.short_names),
        ("categories", &resource.names.categories),
    ] {
        if !list.is_empty() {
            entry[key] = json!(list);
        }
    }
    if !resource.subresources.is_empty() {
        let subresource = |it: &Subresource| {
            let kind = kind(own, (&it.group, &it.version), &it.kind, built_in);
            json!({"subresource": it.name, "responseKind": kind, "verbs": it.verbs})
        };
        entry["subresources"] = resource.subresources.iter().map(subresource).collect();
    }
    entry
}

/// The kind of a subresource or resource. Built-in kinds omit the group and version if these are those of the entry,
/// custom kinds do not.
fn kind(own: (&str, &str), other: (&str, &str), kind: &str, built_in: bool) -> Value {
    let (group, version) = if built_in && own == other { ("", "") } else { other };
    json!({"group": group, "version": version, "kind": kind})
}
