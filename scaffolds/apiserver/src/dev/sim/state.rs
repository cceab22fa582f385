//! The objects of a world, and their comparable form: without what differs from run to run.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::{Map, Value, json};

use crate::{
    resource::Resource,
    server::ApiServer,
    store::{Key, Range},
};

/// The annotation by which a user marks an object, and the type of a condition of another writer.
pub(super) const MARK: &str = "sim.kubewright.dev/foreign";

/// An object as stored.
#[derive(Clone)]
pub(super) struct Live {
    pub resource: Arc<Resource>,
    pub object: Value,
}

/// Comparable objects by kind and name.
pub(super) type State = BTreeMap<String, Value>;

impl Live {
    /// For example `ConfigMap default/sample`.
    pub(super) fn key(&self) -> String {
        key(&self.object)
    }

    pub(super) fn uid(&self) -> &str {
        text(&self.object["metadata"]["uid"])
    }

    /// The path of requests for it.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.collection(), text(&self.object["metadata"]["name"]))
    }

    pub(super) fn collection(&self) -> String {
        let api_version = text(&self.object["apiVersion"]);
        let prefix = if api_version.contains('/') { "/apis" } else { "/api" };
        let namespace = match text(&self.object["metadata"]["namespace"]) {
            "" => String::new(),
            namespace => format!("/namespaces/{namespace}"),
        };
        format!("{prefix}/{api_version}{namespace}/{}", self.resource.names.plural)
    }

    /// Whether the object of this uid still exists.
    pub(super) fn exists(&self, server: &ApiServer) -> bool {
        let metadata = &self.object["metadata"];
        let key = Key::new(
            &self.resource.store_name(),
            text(&metadata["namespace"]),
            text(&metadata["name"]),
        );
        let record = server.core().store.get(&key);
        let object = record.map(|record| serde_json::from_slice::<Value>(&record.object).unwrap_or_default());
        object.is_some_and(|object| object["metadata"]["uid"] == metadata["uid"])
    }

    /// Whether it belongs to the CRDs' kinds.
    pub(super) fn is_custom(&self) -> bool {
        !self.resource.is_typed()
    }

    /// Whether a controller of Kubernetes itself made it, as ReplicaSets and their Pods.
    fn is_of_kubernetes(&self) -> bool {
        let owners = self.object["metadata"]["ownerReferences"].as_array();
        owners.into_iter().flatten().any(|owner| {
            let api_version = text(&owner["apiVersion"]);
            let group = api_version.split_once('/').map_or("", |(group, _)| group);
            owner["controller"] == true && (!group.contains('.') || group.ends_with(".k8s.io"))
        })
    }
}

pub(super) fn key(object: &Value) -> String {
    let metadata = &object["metadata"];
    let place = [text(&metadata["namespace"]), text(&metadata["name"])];
    let place: Vec<_> = place.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{} {}", text(&object["kind"]), place.join("/"))
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// All objects that have changed since this version, but for events, leases, and what Kubernetes itself makes of others.
pub(super) fn since(server: &ApiServer, version: u64) -> Vec<Live> {
    let snapshot = server.catalogue().snapshot();
    let mut seen = BTreeSet::new();
    let mut lives = Vec::new();
    for resource in snapshot.all() {
        let name = resource.store_name();
        let is_aside = matches!(resource.names.kind.as_str(), "Event" | "Lease");
        if is_aside || resource.version != resource.storage_version || !seen.insert(name.clone()) {
            continue;
        }
        // The present state is always kept.
        let page = server.core().store.list(&Range::new(&name, ""), None, None, 0);
        let records = page.map(|page| page.records).unwrap_or_default();
        for record in records.into_iter().filter(|record| record.revision > version) {
            let resource = resource.clone();
            let mut object: Value = serde_json::from_slice(&record.object).unwrap_or_default();
            if object["kind"].is_null() {
                object["kind"] = json!(resource.names.kind);
                object["apiVersion"] = json!(resource.api_version());
            }
            lives.push(Live { resource, object });
        }
    }
    lives.retain(|live| !live.is_of_kubernetes());
    lives
}

/// The comparable form of objects. Values at the pointers in `volatile` are left out.
pub(super) fn comparable(lives: &[Live], volatile: &[String]) -> State {
    let uids: BTreeMap<_, _> = lives.iter().map(|live| (live.uid(), live.key())).collect();
    let mut named: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for live in lives {
        let mut object = live.object.clone();
        let mut name = live.key();
        let generated = text(&live.object["metadata"]["generateName"]);
        if !generated.is_empty() {
            name = name.replace(text(&live.object["metadata"]["name"]), &format!("{generated}*"));
            object["metadata"]["name"] = Value::Null;
        }
        strip(&mut object, live, volatile);
        name_values(&mut object, &uids);
        named.entry(name).or_default().push(object);
    }
    let mut state = State::new();
    for (name, mut objects) in named {
        objects.sort_by_key(ToString::to_string);
        for (n, object) in objects.into_iter().enumerate() {
            let number = if n == 0 { String::new() } else { format!(" #{}", n + 1) };
            state.insert(format!("{name}{number}"), object);
        }
    }
    state
}

/// Values of other systems: the uids of objects in them, and in their names, become the names of these objects.
pub(super) fn without_uids(values: impl Iterator<Item = (String, Value)>, lives: &[Live]) -> State {
    let uids: BTreeMap<_, _> = lives.iter().map(|live| (live.uid(), live.key())).collect();
    let named = values.map(|(name, mut value)| {
        name_values(&mut value, &uids);
        let name = uids
            .iter()
            .fold(name, |name, (uid, key)| name.replace(uid, &format!("<uid of {key}>")));
        (name, value)
    });
    named.collect()
}

fn strip(object: &mut Value, live: &Live, volatile: &[String]) {
    let generation = object["metadata"]["generation"].clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in [
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "deletionTimestamp",
            "generation",
            "managedFields",
        ] {
            metadata.remove(field);
        }
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.retain(|name, _| name != MARK && !name.starts_with("deployment.kubernetes.io/"));
        }
        if metadata.get("annotations").is_some_and(|it| it == &json!({})) {
            metadata.remove("annotations");
        }
    }
    if let Some(object) = object.as_object_mut()
        && !live.is_custom()
    {
        // Written by the controllers of Kubernetes.
        object.remove("status");
    }
    let conditions = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
    if let Some(conditions) = conditions {
        conditions.retain(|condition| condition["type"] != MARK);
        conditions.sort_by_key(|condition| text(&condition["type"]).to_owned());
    }
    if let Some(status) = object.get_mut("status") {
        observed(status, &generation);
    }
    for pointer in volatile {
        if let Some(value) = object.pointer_mut(pointer) {
            *value = json!("<volatile>");
        }
    }
}

/// Generations that a status names become `present` if they are.
fn observed(value: &mut Value, generation: &Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if name == "observedGeneration" && value == generation {
                    *value = json!("<present>");
                } else {
                    observed(value, generation);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| observed(item, generation)),
        _ => {}
    }
}

/// Replaces uids by the names of their objects, and times.
fn name_values(value: &mut Value, uids: &BTreeMap<&str, String>) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|value| name_values(value, uids)),
        Value::Array(items) => items.iter_mut().for_each(|item| name_values(item, uids)),
        Value::String(text) => {
            if let Some(name) = uids.get(text.as_str()) {
                *text = format!("<uid of {name}>");
            } else if is_time(text) {
                "<time>".clone_into(text);
            }
        }
        _ => {}
    }
}

fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.len() >= 20
        && bytes[4] == b'-'
        && bytes[10] == b'T'
        && bytes[13] == b':'
        && bytes[..4].iter().all(u8::is_ascii_digit)
}

/// The differences, one in each line.
pub(super) fn differences(expected: &State, found: &State) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, object) in expected {
        match found.get(name) {
            None => lines.push(format!("{name} is missing")),
            Some(other) => compare(&mut lines, &ComparedField { name, pointer: "" }, object, other),
        }
    }
    let strange = found.keys().filter(|name| !expected.contains_key(*name));
    lines.extend(strange.map(|name| format!("{name} exists, and should not")));
    lines
}

struct ComparedField<'a> {
    name: &'a str,
    pointer: &'a str,
}

fn compare(lines: &mut Vec<String>, place: &ComparedField<'_>, expected: &Value, found: &Value) {
    let ComparedField { name, pointer } = place;
    if expected == found {
        return;
    }
    match (expected, found) {
        (Value::Object(one), Value::Object(other)) => {
            let fields: BTreeSet<_> = one.keys().chain(other.keys()).collect();
            for field in fields {
                let get = |fields: &Map<String, Value>| fields.get(field).cloned().unwrap_or_default();
                let pointer = format!("{pointer}/{field}");
                compare(
                    lines,
                    &ComparedField {
                        name,
                        pointer: &pointer,
                    },
                    &get(one),
                    &get(other),
                );
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (n, (one, other)) in one.iter().zip(other).enumerate() {
                let pointer = format!("{pointer}/{n}");
                compare(
                    lines,
                    &ComparedField {
                        name,
                        pointer: &pointer,
                    },
                    one,
                    other,
                );
            }
        }
        (_, Value::Null) => lines.push(format!("{name}: `{pointer}` is missing, and should be {expected}")),
        (Value::Null, _) => lines.push(format!("{name}: `{pointer}` is {found}, and should not exist")),
        _ => lines.push(format!("{name}: `{pointer}` is {found}, and should be {expected}")),
    }
}
