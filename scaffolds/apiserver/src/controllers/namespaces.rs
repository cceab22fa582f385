//! The end of a namespace: its Pods are deleted first, then all that is left; when nothing remains, it may go. Unlike the
//! real controller, which waits five seconds between two looks, this one looks again with every object that goes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::act;
use crate::{
    meta,
    registry::store_name,
    server::Core,
    store::{Key, Range, Record},
};

/// Where namespaces are kept.
pub(super) const RESOURCE: &str = "/namespaces";
const PODS: &str = "/pods";
/// What this controller keeps a namespace by.
const FINALIZER: &str = "kubernetes";

/// What is left in a namespace.
#[derive(Default)]
struct Left {
    /// Whether there is anything at all.
    is_something: bool,
    by_resource: BTreeMap<String, usize>,
    by_finalizer: BTreeMap<String, usize>,
}

/// Brings a namespace that terminates nearer to its end.
pub(super) fn end(core: &Core, name: &str) {
    let Some(namespace) = terminating(core, name) else {
        return;
    };
    let left = empty(core, name);
    let Some(namespace) = tell(core, namespace, &left) else {
        return;
    };
    if !left.is_something {
        finalize(core, namespace);
    }
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

/// Deletes what is in a namespace, and says what stays for now.
fn empty(core: &Core, name: &str) -> Left {
    let mut left = Left::default();
    delete_all(core, PODS, name);
    left.count(core, PODS, name);
    if left.is_something {
        return left;
    }
    for resource in resources(core) {
        delete_all(core, &resource, name);
        left.count(core, &resource, name);
    }
    left
}

/// Where namespaced objects are kept that can be deleted.
fn resources(core: &Core) -> BTreeSet<String> {
    let snapshot = core.catalogue.snapshot();
    let deletable = snapshot
        .all()
        .filter(|it| it.namespaced && it.verbs.contains(&"delete"));
    deletable.map(|resource| store_name(resource)).collect()
}

fn delete_all(core: &Core, resource: &str, namespace: &str) {
    for record in all(core, resource, namespace) {
        // One that is gone already, or kept by its finalizers, is as good as deleted here.
        let _ = act::delete(core, &record.key, &json!({"propagationPolicy": "Background"}));
    }
}

fn all(core: &Core, resource: &str, namespace: &str) -> Vec<std::sync::Arc<Record>> {
    let page = core.store.list(&Range::new(resource, namespace), None, None, 0);
    page.map(|page| page.records).unwrap_or_default()
}

impl Left {
    /// Pods that are only given time to stop hold the namespace, but are not told of.
    fn count(&mut self, core: &Core, resource: &str, namespace: &str) {
        let (group, plural) = resource.split_once('/').unwrap_or_default();
        for record in all(core, resource, namespace) {
            self.is_something = true;
            let object: Value = serde_json::from_slice(&record.object).unwrap_or_default();
            let finalizers = meta::texts(&object, "finalizers");
            if finalizers.is_empty() && meta::number(&object, "deletionGracePeriodSeconds").unwrap_or_default() > 0 {
                continue;
            }
            *self.by_resource.entry(format!("{plural}.{group}")).or_default() += 1;
            for finalizer in finalizers {
                *self.by_finalizer.entry(finalizer.to_owned()).or_default() += 1;
            }
        }
    }

    fn conditions(&self) -> [(&'static str, bool, &'static str, String); 5] {
        let list = |counts: &BTreeMap<String, usize>, word: &str| {
            let parts = counts
                .iter()
                .map(|(name, count)| format!("{name} {word} {count} resource instances"));
            parts.collect::<Vec<_>>().join(", ")
        };
        let fine = |kind, reason, message: &str| (kind, false, reason, message.to_owned());
        let remaining = match self.by_resource.is_empty() {
            true => fine(
                "NamespaceContentRemaining",
                "ContentRemoved",
                "All content successfully removed",
            ),
            false => {
                let message = format!("Some resources are remaining: {}", list(&self.by_resource, "has"));
                ("NamespaceContentRemaining", true, "SomeResourcesRemain", message)
            }
        };
        let finalizers = match self.by_finalizer.is_empty() {
            true => {
                let message = "All content-preserving finalizers finished";
                fine("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", message)
            }
            false => {
                let list = list(&self.by_finalizer, "in");
                let message = format!("Some content in the namespace has finalizers remaining: {list}");
                ("NamespaceFinalizersRemaining", true, "SomeFinalizersRemain", message)
            }
        };
        [
            fine(
                "NamespaceDeletionDiscoveryFailure",
                "ResourcesDiscovered",
                "All resources successfully discovered",
            ),
            fine(
                "NamespaceDeletionGroupVersionParsingFailure",
                "ParsedGroupVersions",
                "All legacy kube types successfully parsed",
            ),
            fine(
                "NamespaceDeletionContentFailure",
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization",
            ),
            remaining,
            finalizers,
        ]
    }
}

/// Writes into the status what stays; returns the namespace as it then is.
fn tell(core: &Core, mut namespace: Value, left: &Left) -> Option<Value> {
    let before = namespace
        .pointer("/status/conditions")
        .cloned()
        .unwrap_or_else(|| json!([]));
    let mut after = before.clone();
    for condition in left.conditions() {
        set(&mut after, condition, &meta::time::text(core.now()));
    }
    if before == after {
        return Some(namespace);
    }
    namespace["status"]["conditions"] = after;
    let key = Key::new(RESOURCE, "", meta::text(&namespace, "name"));
    let reply = act::put(core, (&key, "status"), &namespace).ok()?;
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
fn finalize(core: &Core, mut namespace: Value) {
    let left: Vec<String> = finalizers(&namespace)
        .into_iter()
        .filter(|it| it != FINALIZER)
        .collect();
    namespace["spec"]["finalizers"] = json!(left);
    let key = Key::new(RESOURCE, "", meta::text(&namespace, "name"));
    // Whoever wrote it meanwhile made a change, and that is on its way here.
    let _ = act::put(core, (&key, "finalize"), &namespace);
}
