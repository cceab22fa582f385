//! The discovery documents from before aggregated discovery, which clients fetch one by one and curl still shows.

use super::{order, verbs};
use crate::{catalogue::Snapshot, resource::Resource};
use serde_json::{Map, Value, json};

/// `/api`. `address` is the server's host and port.
pub(super) fn core(address: &str) -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    })
}

/// `/apis`.
pub(super) fn groups(snapshot: &Snapshot) -> Value {
    let groups: Vec<Value> = order::groups(snapshot)
        .into_iter()
        .map(|it| summary(snapshot, it))
        .collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/GROUP`.
pub(super) fn group(snapshot: &Snapshot, group: &str) -> Option<Value> {
    if group.is_empty() || snapshot.versions(group).is_empty() {
        return None;
    }
    let mut document = summary(snapshot, group);
    document["kind"] = json!("APIGroup");
    document["apiVersion"] = json!("v1");
    Some(document)
}

fn summary(snapshot: &Snapshot, group: &str) -> Value {
    let versions = snapshot.versions(group);
    let version = |version: &&str| json!({"groupVersion": format!("{group}/{version}"), "version": version});
    json!({
        "name": group,
        "versions": versions.iter().map(version).collect::<Vec<_>>(),
        "preferredVersion": versions.first().map(version),
    })
}

/// `/api/v1` and `/apis/GROUP/VERSION`.
pub(super) fn resources(snapshot: &Snapshot, group: &str, version: &str) -> Option<Value> {
    let mut resources = snapshot.resources(group, version).peekable();
    let api_version = resources.peek()?.api_version();
    let resources: Vec<Value> = resources.flat_map(|it| entries(it)).collect();
    let mut document = json!({"kind": "APIResourceList", "groupVersion": api_version, "resources": resources});
    // Upstream omits the `apiVersion` in the list of the core group.
    if !group.is_empty() {
        document["apiVersion"] = json!("v1");
    }
    Some(document)
}

/// The entries of a resource and, after it, of its subresources.
fn entries(resource: &Resource) -> Vec<Value> {
    let mut entry = Map::new();
    let mut put = |key: &str, value: Value| _ = entry.insert(key.to_owned(), value);
    put("name", json!(resource.names.plural));
    put("singularName", json!(resource.names.singular));
    put("namespaced", json!(resource.namespaced));
    put("kind", json!(resource.names.kind));
    put("verbs", json!(verbs(resource)));
    for (key, list) in [
        ("shortNames", &resource.names.short_names),
        ("categories", &resource.names.categories),
    ] {
        if !list.is_empty() {
            put(key, json!(list));
        }
    }
    if !resource.storage_version_hash.is_empty() {
        put("storageVersionHash", json!(resource.storage_version_hash));
    }
    let mut all = vec![Value::Object(entry)];
    for it in &resource.subresources {
        let mut entry = json!({
            "name": format!("{}/{}", resource.names.plural, it.name), "singularName": "",
            "namespaced": resource.namespaced, "kind": it.kind, "verbs": it.verbs,
        });
        if (&it.group, &it.version) != (&resource.group, &resource.version) {
            entry["group"] = json!(it.group);
            entry["version"] = json!(it.version);
        }
        all.push(entry);
    }
    all
}
