//! Namespace deletion: deletes the Pods of a terminating namespace, then all other objects, and removes the finalizer
//! when none are left. The real controller checks every five seconds; this one continues after every deletion.
//!
//! After a refused deletion it reports the refusal in the status, and tries again with a growing delay.
//!
//! The content of a namespace is listed once, when it begins to terminate; changes update it from then on.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{
    act,
    content::{Content, NamespaceCondition, is_pod},
    isolated,
    retries::Retries,
};
use crate::{
    effects::Cluster,
    meta,
    state::Core,
    status::Status,
    store::{Change, ChangeKind, Key, Record},
};

/// The store's key of namespaces.
pub(super) const RESOURCE: &str = "/namespaces";
/// The finalizer in `spec.finalizers` that this controller removes.
const FINALIZER: &str = "kubernetes";

/// The terminating namespaces.
#[derive(Default)]
pub(super) struct Namespaces {
    ending: BTreeMap<String, Ending>,
    /// The terminating namespaces with work to do.
    todo: VecDeque<String>,
    /// The namespaces with a refused write.
    pub retries: Retries<String>,
}

/// One terminating namespace.
#[derive(Default)]
struct Ending {
    content: Content,
    /// The Pods that have yet to be deleted.
    pods: VecDeque<Key>,
    others: VecDeque<Key>,
    /// The objects whose deletion was refused, with the message.
    refused: BTreeMap<Key, String>,
    /// Whether the namespace is in the queue.
    is_queued: bool,
}

impl Namespaces {
    /// Processes a new or changed namespace.
    pub fn seen(&mut self, core: &Core, name: &str) {
        if terminating(core, name).is_none() {
            self.forget(name);
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

    /// Processes a change of an object.
    pub fn follow(&mut self, core: &Core, change: &Change) {
        let key = &change.record.key;
        if change.kind == ChangeKind::Deleted && &*key.resource == RESOURCE {
            self.forget(&key.name);
        }
        let Some(ending) = self.ending.get_mut(&key.namespace) else {
            return;
        };
        if change.kind == ChangeKind::Deleted {
            ending.content.forget(key, change.revision);
            ending.refused.remove(key);
        } else if is_served(core, key) && ending.content.put(&change.record) {
            ending.delete(key.clone());
        }
        let name = key.namespace.clone();
        self.look_at(&name);
    }

    pub fn is_idle(&self) -> bool {
        self.todo.is_empty()
    }

    /// Deletes the next object, or, if there is none, reports the remaining content.
    pub async fn work(&mut self, cluster: &Arc<Cluster>) {
        self.retry(cluster.core.now());
        let Some(name) = self.todo.pop_front() else { return };
        let Some(ending) = self.ending.get_mut(&name) else {
            return;
        };
        if let Some(key) = ending.next() {
            let options = json!({"propagationPolicy": "Background"});
            let done = isolated(act::delete(cluster, &key, &options)).await;
            let revision = cluster.core.store.revision();
            ending.refused.remove(&key);
            match (cluster.core.store.get(&key), done) {
                (None, _) => ending.content.take(&key, revision),
                (Some(record), done) => {
                    ending.content.put(&record);
                    if let Err(status) = done {
                        ending.refused.insert(key, status.message);
                    }
                }
            }
            self.todo.push_back(name);
            return;
        }
        ending.is_queued = false;
        match isolated(end(cluster, &name, ending)).await {
            Err(_) => self.retries.failed(&name, cluster.core.now()),
            _ if !ending.refused.is_empty() => self.retries.failed(&name, cluster.core.now()),
            _ => self.retries.forget(&name),
        }
    }

    /// Queues the namespaces that are due, and the objects whose deletion was refused.
    fn retry(&mut self, now: i64) {
        for name in self.retries.due(now) {
            if let Some(ending) = self.ending.get_mut(&name) {
                let refused: Vec<Key> = ending.refused.keys().cloned().collect();
                refused.into_iter().for_each(|key| ending.delete(key));
                self.look_at(&name);
            }
        }
    }

    fn forget(&mut self, name: &str) {
        self.ending.remove(name);
        self.retries.forget(&name.to_owned());
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

    /// The next object to delete: first the Pods, then all others.
    fn next(&mut self) -> Option<Key> {
        match self.pods.pop_front() {
            None if !self.content.has_pods() => self.others.pop_front(),
            pod => pod,
        }
    }

    /// The messages of refused deletions: the first of each resource.
    fn refusals(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let first = self.refused.iter().filter(|(key, _)| seen.insert(&key.resource));
        first.map(|(_, message)| message.as_str()).collect()
    }
}

/// Reports the remaining content, and removes the finalizer if there is none.
async fn end(cluster: &Arc<Cluster>, name: &str, ending: &Ending) -> Result<(), Status> {
    let Some(namespace) = terminating(&cluster.core, name) else {
        return Ok(());
    };
    let namespace = write_conditions(cluster, namespace, ending).await?;
    // Objects created meanwhile are still in the feed.
    if ending.content.is_empty() && contents(&cluster.core, name).is_empty() {
        finalize(cluster, namespace).await?;
    }
    Ok(())
}

/// The objects in a namespace that can be deleted.
fn contents(core: &Core, name: &str) -> Vec<Arc<Record>> {
    let (_, mut records) = core.store.contents(name);
    records.retain(|record| is_served(core, &record.key));
    records
}

fn is_served(core: &Core, key: &Key) -> bool {
    let resource = act::resource(core, &key.resource);
    resource.is_some_and(|it| it.namespaced && it.verbs.contains(&"delete"))
}

/// Whether a namespace exists and is not being deleted.
pub(super) fn is_active(core: &Core, name: &str) -> bool {
    let namespace = act::object(core, &Key::new(RESOURCE, "", name));
    namespace.is_some_and(|it| !meta::is_deleting(&it))
}

/// The namespace, if it is terminating and has this controller's finalizer.
fn terminating(core: &Core, name: &str) -> Option<Value> {
    let namespace = act::object(core, &Key::new(RESOURCE, "", name))?;
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

/// Writes the remaining content to the status; returns the namespace as it is then.
async fn write_conditions(cluster: &Arc<Cluster>, mut namespace: Value, ending: &Ending) -> Result<Value, Status> {
    let before = namespace
        .pointer("/status/conditions")
        .cloned()
        .unwrap_or_else(|| json!([]));
    let mut after = before.clone();
    for condition in ending.content.left().conditions(ending.refusals()) {
        set(&mut after, &condition, &time::text(cluster.core.now()));
    }
    if before == after {
        return Ok(namespace);
    }
    namespace["status"]["conditions"] = after;
    let key = Key::new(RESOURCE, "", meta::text(&namespace, "name"));
    let reply = act::put(cluster, &key, "status", &namespace).await?;
    Ok(serde_json::from_slice(&reply.object).unwrap_or_default())
}

/// Sets a condition. The time of its last transition changes with its status, not with its message.
fn set(conditions: &mut Value, condition: &NamespaceCondition, now: &str) {
    let NamespaceCondition {
        kind,
        holds,
        reason,
        message,
    } = condition;
    let status = if *holds { "True" } else { "False" };
    let new = |time: Value| json!({"type": kind, "status": status, "lastTransitionTime": time, "reason": reason, "message": message});
    let Some(list) = conditions.as_array_mut() else { return };
    match list.iter_mut().find(|it| it["type"] == *kind) {
        Some(old) if old["status"] == status => *old = new(old["lastTransitionTime"].clone()),
        Some(old) => *old = new(json!(now)),
        None => list.push(new(json!(now))),
    }
}

/// Removes this controller's finalizer.
async fn finalize(cluster: &Arc<Cluster>, mut namespace: Value) -> Result<(), Status> {
    let left: Vec<String> = finalizers(&namespace)
        .into_iter()
        .filter(|it| it != FINALIZER)
        .collect();
    namespace["spec"]["finalizers"] = json!(left);
    let key = Key::new(RESOURCE, "", meta::text(&namespace, "name"));
    act::put(cluster, &key, "finalize", &namespace).await?;
    Ok(())
}
