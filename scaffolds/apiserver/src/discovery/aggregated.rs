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
    // The kind of a subresource or resource. Built-in kinds omit the group and version if these are those of the entry,
    // custom kinds do not.
    let kind = |group: &str, version: &str, kind: &str| match built_in && (group, version) == own {
        true => json!({"group": "", "version": "", "kind": kind}),
        false => json!({"group": group, "version": version, "kind": kind}),
    };
    let mut entry = json!({
        "resource": resource.names.plural,
        "responseKind": kind(&resource.group, &resource.version, &resource.names.kind),
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
        let subresource = |it: &Subresource| json!({"subresource": it.name, "responseKind": kind(&it.group, &it.version, &it.kind), "verbs": it.verbs});
        entry["subresources"] = resource.subresources.iter().map(subresource).collect();
    }
    entry
}
