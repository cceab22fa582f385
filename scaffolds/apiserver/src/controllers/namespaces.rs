//! The end of a namespace: its Pods are deleted first, then all that is left; when nothing remains, it may go. Unlike the
//! real controller, which waits five seconds between two looks, this one goes on with every object that goes.
//!
//! What a namespace has is looked for once, when it terminates. From then on the changes tell.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use serde_json::{Value, json};

use super::{
    act,
    content::{Content, Left, is_pod},
};
use crate::{
    effects::Cluster,
    meta,
    state::Core,
    store::{Change, Key, Kind, Record},
};

/// Where namespaces are kept.
pub(super) const RESOURCE: &str = "/namespaces";
/// What this controller keeps a namespace by.
const FINALIZER: &str = "kubernetes";

/// The namespaces that terminate.
#[derive(Default)]
pub(super) struct Namespaces {
    ending: BTreeMap<String, Ending>,
    /// Those of them in which there is something to do.
    todo: VecDeque<String>,
}

/// One of them.
#[derive(Default)]
struct Ending {
    content: Content,
    /// What is yet to be deleted.
    pods: VecDeque<Key>,
    others: VecDeque<Key>,
    /// Whether it is among those with something to do.
    is_queued: bool,
}

impl Namespaces {
    /// Looks at a namespace that is new or has changed.
    pub fn seen(&mut self, core: &Core, name: &str) {
        if terminating(core, name).is_none() {
            self.ending.remove(name);
            return;
        }
        if !self.ending.contains_key(name) {
            let mut ending = Ending::default();
            for record in contents(core, name) {
                if ending.content.put(&record) {
                    ending.delete(record.key.clone());
                }
            }
            self.ending.insert(name.to_owned(), ending);
        }
        self.look_at(name);
    }

    /// Takes in a change of an object.
    pub fn follow(&mut self, core: &Core, change: &Change) {
        let key = &change.record.key;
        if change.kind == Kind::Deleted && &*key.resource == RESOURCE {
            self.ending.remove(&key.name);
        }
        let Some(ending) = self.ending.get_mut(&key.namespace) else {
            return;
        };
        if change.kind == Kind::Deleted {
            ending.content.forget(key, change.revision);
        } else if is_served(core, key) && ending.content.put(&change.record) {
            ending.delete(key.clone());
        }
        let name = key.namespace.clone();
        self.look_at(&name);
    }

    pub fn is_idle(&self) -> bool {
        self.todo.is_empty()
    }

    /// Deletes the next object, or says what stays when there is none to delete.
    pub async fn work(&mut self, cluster: &Arc<Cluster>) {
        let Some(name) = self.todo.pop_front() else { return };
        let Some(ending) = self.ending.get_mut(&name) else {
            return;
        };
        if let Some(key) = ending.next() {
            // One that is gone already, or kept by its finalizers, is as good as deleted here.
            let _ = act::delete(cluster, &key, &json!({"propagationPolicy": "Background"})).await;
            let revision = cluster.core.store.revision();
            match cluster.core.store.get(&key) {
                Some(record) => _ = ending.content.put(&record),
                None => ending.content.take(&key, revision),
            }
            self.todo.push_back(name);
            return;
        }
        ending.is_queued = false;
        end(cluster, &name, &ending.content).await;
    }

    fn look_at(&mut self, name: &str) {
        if let Some(ending) = self.ending.get_mut(name)
            && !ending.is_queued
        {
            ending.is_queued = true;
            self.todo.push_back(name.to_owned());
        }
    }
}

impl Ending {
    fn delete(&mut self, key: Key) {
        let queue = if is_pod(&key) { &mut self.pods } else { &mut self.others };
        queue.push_back(key);
    }

    /// What is to be deleted next: Pods, and when there are none any more, all else.
    fn next(&mut self) -> Option<Key> {
        match self.pods.pop_front() {
            None if !self.content.has_pods() => self.others.pop_front(),
            pod => pod,
        }
    }
}

/// Says what stays, and lets the namespace go when that is nothing.
async fn end(cluster: &Arc<Cluster>, name: &str, content: &Content) {
    let Some(namespace) = terminating(&cluster.core, name) else {
        return;
    };
    let Some(namespace) = tell(cluster, namespace, content.left()).await else {
        return;
    };
    // What came meanwhile is on its way here.
    if content.is_empty() && contents(&cluster.core, name).is_empty() {
        finalize(cluster, namespace).await;
    }
}

/// What is in a namespace and can be deleted.
fn contents(core: &Core, name: &str) -> Vec<Arc<Record>> {
    let mut records = core.store.contents(name);
    records.retain(|record| is_served(core, &record.key));
    records
}

fn is_served(core: &Core, key: &Key) -> bool {
    let resource = act::resource(core, &key.resource);
    resource.is_some_and(|it| it.namespaced && it.verbs.contains(&"delete"))
}

/// The namespace, if it terminates and waits for this controller.
fn terminating(core: &Core, name: &str) -> Option<Value> {
    let record = core.store.get(&Key::new(RESOURCE, "", name))?;
    let namespace: Value = serde_json::from_slice(&record.object).ok()?;
    let is_kept = finalizers(&namespace).iter().any(|it| it == FINALIZER);
    (meta::is_deleting(&namespace) && is_kept).then_some(namespace)
}

fn finalizers(namespace: &Value) -> Vec<String> {
    let list = namespace.pointer("/spec/finalizers").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// Writes into the status what stays; returns the namespace as it then is.
async fn tell(cluster: &Arc<Cluster>, mut namespace: Value, left: &Left) -> Option<Value> {
    let before = namespace
        .pointer("/status/conditions")
        .cloned()
        .unwrap_or_else(|| json!([]));
    let mut after = before.clone();
    for condition in left.conditions() {
        set(&mut after, condition, &meta::time::text(cluster.core.now()));
    }
    if before == after {
        return Some(namespace);
    }
    namespace["status"]["conditions"] = after;
    let key = Key::new(RESOURCE, "", meta::text(&namespace, "name"));
    let reply = act::put(cluster, (&key, "status"), &namespace).await.ok()?;
    serde_json::from_slice(&reply.object).ok()
}

/// The time of a condition is that of its last change of status, not of message.
fn set(conditions: &mut Value, (kind, holds, reason, message): (&str, bool, &str, String), now: &str) {
    let status = if holds { "True" } else { "False" };
    let new = |time: Value| json!({"type": kind, "status": status, "lastTransitionTime": time, "reason": reason, "message": message});
    let Some(list) = conditions.as_array_mut() else { return };
    match list.iter_mut().find(|it| it["type"] == kind) {
        Some(old) if old["status"] == status => *old = new(old["lastTransitionTime"].clone()),
        Some(old) => *old = new(json!(now)),
        None => list.push(new(json!(now))),
    }
}

/// Takes this controller's finalizer away.
async fn finalize(cluster: &Arc<Cluster>, mut namespace: Value) {
    let left: Vec<String> = finalizers(&namespace)
        .into_iter()
        .filter(|it| it != FINALIZER)
        .collect();
    namespace["spec"]["finalizers"] = json!(left);
    let key = Key::new(RESOURCE, "", meta::text(&namespace, "name"));
    // Whoever wrote it meanwhile made a change, and that is on its way here.
    let _ = act::put(cluster, (&key, "finalize"), &namespace).await;
}
