//! The objects of a world, and their comparable form: without what differs from run to run.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::{Value, json};

use crate::{resource::Resource, server::ApiServer, store::Key};

/// The annotation and the label by which a user marks an object, and the type of a condition and the finalizer of other writers.
pub(super) const MARK: &str = "sim.kubewright.dev/foreign";

/// The mark of a comparable object that is created once.
pub(super) const CREATED_ONCE: &str = "<created once>";
/// The field manager of users.
pub(super) const USER: &str = "user";
/// The field manager of Kubernetes' own controllers.
const CONTROLLER_MANAGER: &str = "kube-controller-manager";

/// An object as stored.
#[derive(Clone)]
pub(super) struct Live {
    pub resource: Arc<Resource>,
    pub object: Value,
}

/// Comparable objects by kind and name.
pub(super) type State = BTreeMap<String, Value>;

impl Live {
    /// For example `ConfigMap default/sample`, or `FooBar.test.example.com default/sample`.
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
        let [namespace, name] = ["namespace", "name"].map(|field| text(&metadata[field]));
        let key = Key::new(&self.resource.store_name(), namespace, name);
        let record = server.core().store.get(&key);
        record.is_some_and(|record| record.value()["metadata"]["uid"] == metadata["uid"])
    }

    /// Whether it belongs to the CRDs' kinds.
    pub(super) fn is_custom(&self) -> bool {
        !self.resource.is_typed()
    }

    /// Whether a controller of Kubernetes itself made it, as ReplicaSets and their Pods, and the claims of a StatefulSet.
    fn is_of_kubernetes(&self) -> bool {
        let entries = self.object["metadata"]["managedFields"].as_array();
        let mut managers = entries.into_iter().flatten().map(|entry| text(&entry["manager"]));
        let is_made = managers.any(|manager| manager == CONTROLLER_MANAGER)
            && managers_but(&self.object, &[CONTROLLER_MANAGER, USER]).is_empty();
        let owners = self.object["metadata"]["ownerReferences"].as_array();
        let is_owned = owners.into_iter().flatten().any(|owner| {
            let group = group(text(&owner["apiVersion"]));
            owner["controller"] == true && (!group.contains('.') || group.ends_with(".k8s.io"))
        });
        is_made || is_owned
    }

    /// The beginning of its name, if the rest has no meaning: the server has generated it, or it numbers equal Pods.
    fn generated(&self) -> Option<&str> {
        let metadata = &self.object["metadata"];
        let is_pod = self.object["kind"] == "Pod" && !self.is_custom();
        let numbered = text(&metadata["name"]).rsplit_once('-').filter(|_| is_pod);
        metadata["generateName"]
            .as_str()
            .filter(|generated| !generated.is_empty())
            .or(numbered.map(|(base, _)| base))
    }

    /// Whether it is a Job that has ended, which is a record of what has happened.
    pub(super) fn has_ended(&self) -> bool {
        let conditions = self.object["status"]["conditions"].as_array();
        let is_end = |condition: &Value| {
            matches!(text(&condition["type"]), "Complete" | "Failed") && condition["status"] == "True"
        };
        self.object["kind"] == "Job" && !self.is_custom() && conditions.into_iter().flatten().any(is_end)
    }
}

/// The field managers of an object, but for these.
fn managers_but<'a>(object: &'a Value, but: &[&str]) -> BTreeSet<&'a str> {
    let entries = object["metadata"]["managedFields"].as_array();
    let managers = entries.into_iter().flatten().map(|entry| text(&entry["manager"]));
    managers.filter(|manager| !but.contains(manager)).collect()
}

fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// Kind, namespace and name; a kind of a CRD has its group, because two groups may have one of the same name.
pub(super) fn key(object: &Value) -> String {
    let metadata = &object["metadata"];
    let group = group(text(&object["apiVersion"]));
    let is_of_kubernetes = !group.contains('.') || group.ends_with(".k8s.io");
    let kind = match is_of_kubernetes {
        true => text(&object["kind"]).to_owned(),
        false => format!("{}.{group}", text(&object["kind"])),
    };
    let place = [text(&metadata["namespace"]), text(&metadata["name"])];
    let place: Vec<_> = place.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{kind} {}", place.join("/"))
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
        let is_older = server.core().store.changed(&name) <= version;
        if is_aside || is_older || resource.version != resource.storage_version || !seen.insert(name.clone()) {
            continue;
        }
        // The present state is always kept.
        let records = server.core().store.all(&name, "");
        for record in records.into_iter().filter(|record| record.revision > version) {
            let resource = resource.clone();
            let mut object = record.value();
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
        if let Some(generated) = live.generated() {
            name = name.replace(text(&live.object["metadata"]["name"]), &format!("{generated}*"));
            object["metadata"]["name"] = Value::Null;
        }
        strip(&mut object, live, volatile);
        name_values(&mut object, &uids);
        if let Some(metadata) = object["metadata"].as_object_mut() {
            let is_empty = |value: &Value| *value == json!({}) || *value == json!([]);
            metadata.retain(|_, value| !is_empty(value));
        }
        // The order in which owners came does not count.
        if let Some(Value::Array(owners)) = object.pointer_mut("/metadata/ownerReferences") {
            owners.sort_by_key(ToString::to_string);
        }
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
        if let Some(finalizers) = metadata.get_mut("finalizers").and_then(Value::as_array_mut) {
            finalizers.retain(|finalizer| finalizer != MARK);
        }
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
            annotations.retain(|name, _| !name.starts_with("deployment.kubernetes.io/"));
        }
    }
    if let Some(object) = object.as_object_mut()
        && !live.is_custom()
    {
        // Written by the controllers of Kubernetes.
        object.remove("status");
        if matches!(live.resource.names.kind.as_str(), "Pod" | "Job") {
            // Most of it cannot be changed: it is the spec of the time at which it was created.
            object.remove("spec");
        }
    }
    let conditions = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
    if let Some(conditions) = conditions {
        conditions.retain(|condition| condition["type"] != MARK);
        conditions.sort_by_key(|condition| text(&condition["type"]).to_owned());
    }
    if let Some(status) = object.get_mut("status") {
        observed(status, &generation);
        // A condition of another writer may have been the only one.
        if *status == json!({"conditions": []})
            && let Some(object) = object.as_object_mut()
        {
            object.remove("status");
        }
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
        Value::Object(fields) => {
            // An operator may pass the annotations and labels of an object on to its children.
            fields.remove(MARK);
            fields.values_mut().for_each(|value| name_values(value, uids));
        }
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
    text.len() >= 20 && [4, 10, 13].map(|at| bytes[at]) == *b"-T:" && bytes[..4].iter().all(u8::is_ascii_digit)
}

/// Marks what is created once, and belongs to users afterwards: differences of its contents do not count.
pub(super) fn mark_created_once<'a>(state: &mut State, keys: impl IntoIterator<Item = &'a String>) {
    for key in keys {
        if let Some(object) = state.get_mut(key) {
            *object = created_once(object);
        }
    }
}

pub(super) fn created_once(object: &Value) -> Value {
    json!({"kind": object["kind"], "metadata": object["metadata"], CREATED_ONCE: true})
}

#[cfg(test)]
mod tests {
    use super::{super::differences::differences, *};

    #[test]
    fn kinds_of_one_name_in_two_groups_have_different_keys() {
        let key = |api_version: &str| key(&json!({"apiVersion": api_version, "kind": "A", "metadata": {"name": "x"}}));
        assert_eq!(["v1", "batch/v1"].map(key), ["A x", "A x"]);
        assert_eq!(["one.io/v1", "two.io/v1"].map(key), ["A.one.io x", "A.two.io x"]);
    }

    #[test]
    fn contents_of_what_is_created_once_do_not_count_but_its_metadata_do() {
        let object = |owner: &str, text: &str| json!({"kind": "A", "metadata": {"owner": owner}, "data": text});
        let state = |object| State::from([("A x".to_owned(), object)]);
        let mut expected = state(object("me", "first"));
        assert_eq!(differences(&expected, &state(object("me", "edited"))).len(), 1);
        mark_created_once(&mut expected, [&"A x".to_owned()]);
        assert_eq!(differences(&expected, &state(object("me", "edited"))), [""; 0]);
        assert_eq!(differences(&expected, &state(object("another", "edited"))).len(), 1);
        assert_eq!(differences(&expected, &State::new()), ["A x is missing"]);
    }
}
