//! The garbage collector: deletes what lost all its owners, and finishes deletions that orphan dependents or wait for
//! them.
//!
//! What it knows comes from the feed and may be a little old, so before it deletes it looks into the store: an owner is
//! gone when no object of that kind, name and uid is in the dependent's namespace (or, of a cluster-scoped kind, at all).
//! It deletes exactly the object that it looked at: by uid and resourceVersion. When that changed meanwhile, the change is
//! on its way in the feed, and the object is looked at again.

use std::collections::{HashSet, VecDeque};

use kubewright_schema::meta::owners::group_version;
use serde_json::{Value, json};

use super::{
    act,
    graph::{Graph, Node, Owner},
};
use crate::{
    meta::{
        self,
        finalizers::{FOREGROUND, ORPHAN},
    },
    registry::store_name,
    server::Core,
    store::{Key, Record},
};

/// The graph and what is to be looked at.
#[derive(Default)]
pub(super) struct Garbage {
    graph: Graph,
    queue: VecDeque<String>,
    queued: HashSet<String>,
}

/// What became of an owner.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    There,
    /// Its deletion waits for its dependents.
    Waiting,
    Gone,
    /// Its kind is not known, or it cannot be owned by such a one.
    Unknown,
}

impl Garbage {
    /// Takes in a new state of an object.
    pub fn seen(&mut self, record: &Record) {
        let Some(node) = Node::of(record) else { return };
        let old = if node.matters() {
            self.graph.set(node.clone())
        } else {
            self.graph.remove(&node.uid)
        };
        self.look_at(&node.uid);
        if node.waits() && !old.as_ref().is_some_and(Node::waits) {
            self.look_at_dependents(&node.uid);
        }
        let owners = node.owners.iter().chain(old.iter().flat_map(|old| &old.owners));
        let uids: Vec<String> = owners.map(|owner| owner.uid.clone()).collect();
        self.look_at_waiting(&uids);
    }

    /// Takes in that an object is gone.
    pub fn gone(&mut self, record: &Record) {
        let Some(last) = Node::of(record) else { return };
        let known = self.graph.remove(&last.uid).unwrap_or(last);
        self.look_at_dependents(&known.uid);
        let uids: Vec<String> = known.owners.iter().map(|owner| owner.uid.clone()).collect();
        self.look_at_waiting(&uids);
    }

    /// Looks at everything that is owned: there are kinds that there were not before.
    pub fn look_again(&mut self) {
        let owned: Vec<String> = self.graph.owned().map(|node| node.uid.clone()).collect();
        owned.iter().for_each(|uid| self.look_at(uid));
    }

    /// Does what there is to do.
    pub fn work(&mut self, core: &Core) {
        while let Some(uid) = self.queue.pop_front() {
            self.queued.remove(&uid);
            let Some(node) = self.graph.get(&uid).cloned() else {
                continue;
            };
            if node.is_deleting && node.has_orphan {
                self.orphan(core, &node);
            } else if node.waits() {
                self.finish(core, &node);
            } else if !node.is_deleting && !node.owners.is_empty() {
                self.judge(core, &node);
            }
        }
    }

    fn look_at(&mut self, uid: &str) {
        if self.graph.get(uid).is_some() && self.queued.insert(uid.to_owned()) {
            self.queue.push_back(uid.to_owned());
        }
    }

    fn look_at_dependents(&mut self, uid: &str) {
        let dependents: Vec<String> = self
            .graph
            .dependents(uid)
            .into_iter()
            .map(|node| node.uid.clone())
            .collect();
        dependents.iter().for_each(|uid| self.look_at(uid));
    }

    fn look_at_waiting(&mut self, uids: &[String]) {
        for uid in uids {
            if self.graph.get(uid).is_some_and(Node::waits) {
                self.look_at(uid);
            }
        }
    }

    /// Frees the dependents, then lets the object go.
    fn orphan(&self, core: &Core, node: &Node) {
        for dependent in self.graph.dependents(&node.uid) {
            if keep_owners(core, &dependent.key, &dependent.uid, &|owner| owner != node.uid).is_none() {
                return;
            }
        }
        remove_finalizer(core, node, ORPHAN);
    }

    /// Lets an object go when no dependent holds it back any more.
    fn finish(&self, core: &Core, node: &Node) {
        let holds = |owner: &Owner| owner.uid == node.uid && owner.blocks;
        let is_held = self
            .graph
            .dependents(&node.uid)
            .iter()
            .any(|it| it.owners.iter().any(holds));
        if !is_held {
            remove_finalizer(core, node, FOREGROUND);
        }
    }

    /// Deletes an object without owners, or takes those away from it that are gone. Looks at its owners as they are now:
    /// they may have been taken away since it was seen.
    fn judge(&self, core: &Core, seen: &Node) {
        let Some(record) = core.store.get(&seen.key) else {
            return;
        };
        let Some(node) = Node::of(&record).filter(|node| node.uid == seen.uid && !node.is_deleting) else {
            return;
        };
        let fates: Vec<(Fate, &Owner)> = node
            .owners
            .iter()
            .map(|owner| (fate(core, &node.key, owner), owner))
            .collect();
        let any = |fate: Fate| fates.iter().any(|(it, _)| *it == fate);
        if any(Fate::Unknown) || !(any(Fate::Waiting) || any(Fate::Gone)) {
            return;
        }
        if any(Fate::There) {
            let kept = |uid: &str| {
                let mut there = fates.iter().filter(|(fate, _)| *fate == Fate::There);
                there.any(|(_, owner)| owner.uid == uid)
            };
            // What went wrong was written by another meanwhile, and comes again.
            let _ = keep_owners(core, &node.key, &node.uid, &kept);
            return;
        }
        let waits = any(Fate::Waiting) && !self.graph.dependents(&node.uid).is_empty();
        let policy = match (waits, node.has_orphan, node.has_foreground) {
            (true, ..) | (false, false, true) => "Foreground",
            (false, true, _) => "Orphan",
            (false, false, false) => "Background",
        };
        let options = json!({
            "propagationPolicy": policy,
            "preconditions": {"uid": node.uid, "resourceVersion": record.revision.to_string()},
        });
        let _ = act::delete(core, &node.key, &options);
    }
}

/// What became of an owner of the object of `key`.
fn fate(core: &Core, key: &Key, owner: &Owner) -> Fate {
    let (group, version) = group_version(&owner.api_version);
    let snapshot = core.catalogue.snapshot();
    let Some(resource) = snapshot
        .resources(group, version)
        .find(|it| it.names.kind == owner.kind)
    else {
        return Fate::Unknown;
    };
    let namespace = if resource.namespaced {
        key.namespace.as_str()
    } else {
        ""
    };
    if resource.namespaced && namespace.is_empty() {
        return Fate::Unknown;
    }
    let Some((object, _)) = current(
        core,
        &Key::new(&store_name(resource), namespace, &owner.name),
        &owner.uid,
    ) else {
        return Fate::Gone;
    };
    let waits = meta::is_deleting(&object) && meta::texts(&object, "finalizers").contains(&FOREGROUND);
    if waits { Fate::Waiting } else { Fate::There }
}

/// The object of this uid as it is now, and its resourceVersion.
fn current(core: &Core, key: &Key, uid: &str) -> Option<(Value, String)> {
    let record = core.store.get(key)?;
    let object: Value = serde_json::from_slice(&record.object).ok()?;
    (meta::text(&object, "uid") == uid).then(|| (object, record.revision.to_string()))
}

/// Takes all owners away that are not to be kept; `None` when that did not go well.
fn keep_owners(core: &Core, key: &Key, uid: &str, kept: &dyn Fn(&str) -> bool) -> Option<()> {
    let Some((object, version)) = current(core, key, uid) else {
        return Some(());
    };
    let references = meta::of(&object).get("ownerReferences").and_then(Value::as_array);
    let owner = |reference: &&Value| kept(reference.get("uid").and_then(Value::as_str).unwrap_or_default());
    let left: Vec<&Value> = references.into_iter().flatten().filter(owner).collect();
    let left = if left.is_empty() { Value::Null } else { json!(left) };
    let patch = json!({"metadata": {"ownerReferences": left, "uid": uid, "resourceVersion": version}});
    act::merge(core, key, &patch).ok().map(|_| ())
}

fn remove_finalizer(core: &Core, node: &Node, finalizer: &str) {
    let Some((object, version)) = current(core, &node.key, &node.uid) else {
        return;
    };
    let left: Vec<&str> = meta::texts(&object, "finalizers")
        .into_iter()
        .filter(|it| *it != finalizer)
        .collect();
    let left = if left.is_empty() { Value::Null } else { json!(left) };
    let patch = json!({"metadata": {"finalizers": left, "uid": node.uid, "resourceVersion": version}});
    // What went wrong was written by another meanwhile, and comes again.
    let _ = act::merge(core, &node.key, &patch);
}
