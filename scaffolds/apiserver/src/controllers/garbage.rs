//! The garbage collector: deletes objects whose owners are all gone, and completes deletions with the propagation
//! policies Orphan and Foreground.
//!
//! Its graph is built from the feed of changes and may be slightly out of date, so it reads the store before it
//! deletes: an owner is gone if no object of that kind, name and uid is in the dependent's namespace (or, for a
//! cluster-scoped kind, at all). It deletes exactly the object that it examined: with uid and resourceVersion as
//! preconditions. If the object has changed meanwhile, the change is still in the feed and causes another examination.
//!
//! After a change it examines the object, its owners that wait for it, and, when the object is deleted or begins to
//! wait for its dependents, these dependents. When a kind begins to be served, it examines the objects that wait for
//! that kind. After a refused write it examines the object again, with a growing delay. It examines no other objects,
//! however many have owners.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use kubewright_machinery::names::group_version;
use serde_json::json;

use super::{
    act,
    free::{self, keep_owners, remove_finalizer, unblock_owners},
    graph::{Graph, Node, OwnedObject, Owner, Uid},
    isolated,
    retries::Retries,
    waiting::Waiting,
};
use crate::{
    effects::Cluster,
    meta::finalizers::{FOREGROUND, ORPHAN},
    state::Core,
    status::Status,
    store::{Key, Record},
};

/// The number of dependents that are orphaned before other objects have their turn.
const FREED: usize = 64;

/// The graph, and the queue of objects to examine.
#[derive(Default)]
pub(super) struct Garbage {
    graph: Graph,
    queue: VecDeque<Uid>,
    queued: HashSet<Uid>,
    /// Owners that had dependents when their deletion was seen. When their kind is no longer served, no other owners
    /// are known to be gone.
    gone: HashMap<Uid, Gone>,
    waiting: Waiting,
    /// The objects about which a write was refused.
    pub retries: Retries<Uid>,
}

/// The evidence that an owner is gone.
enum Gone {
    /// Its deletion was seen.
    Seen { key: Key, kind: String },
    /// It was deleted while changes were missed. The references of its dependents had been found correct before.
    Missed,
}

/// The state of an owner.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    There,
    /// Its deletion waits for its dependents.
    Waiting,
    Gone,
    /// Its kind is not served.
    Unknown,
    /// It is namespaced, and the dependent is cluster-scoped.
    Impossible,
}

impl Garbage {
    /// Adds all existing objects: at the start, and after changes were missed.
    pub fn begin(&mut self, records: &[Arc<Record>]) {
        let before = std::mem::take(self);
        let judged = before.graph.nodes().filter(|node| !before.waiting.has(&node.uid));
        let owners = judged.flat_map(|node| &node.owners);
        let mut missed: HashSet<Uid> = owners.map(|edge| Arc::clone(&edge.owner)).collect();
        for record in records {
            if let Some(uid) = self.seen(record) {
                missed.remove(&uid);
            }
        }
        let missed = missed.into_iter().map(|uid| (uid, Gone::Missed));
        let gone = missed
            .chain(before.gone)
            .filter(|(uid, _)| self.graph.has_dependents(uid));
        self.gone = gone.collect();
    }

    /// Records a new state of an object; returns its uid.
    pub fn seen(&mut self, record: &Arc<Record>) -> Option<Uid> {
        let node = Node::of(record)?;
        let (uid, waits) = (Arc::clone(&node.uid), node.waits());
        if self
            .graph
            .get(&uid)
            .is_some_and(|it| it.record.revision > record.revision)
        {
            return Some(uid);
        }
        let mut owners: Vec<Uid> = node.owners.iter().map(|edge| Arc::clone(&edge.owner)).collect();
        let old = if node.matters() {
            self.graph.set(node)
        } else {
            self.retries.forget(&uid);
            self.graph.remove(&uid)
        };
        self.waiting.forget(&uid);
        self.look_at(&uid);
        if waits && !old.as_ref().is_some_and(Node::waits) {
            self.look_at_dependents(&uid);
        }
        owners.extend(
            old.iter()
                .flat_map(|old| &old.owners)
                .map(|edge| Arc::clone(&edge.owner)),
        );
        self.look_at_owners(&owners);
        Some(uid)
    }

    /// Records that an object is gone.
    pub fn gone(&mut self, record: &Record) {
        let Some(OwnedObject { kind, metadata }) = OwnedObject::of(record) else {
            return;
        };
        let uid = Uid::from(metadata.uid);
        let known = self.graph.remove(&uid);
        self.waiting.forget(&uid);
        self.retries.forget(&uid);
        if self.graph.has_dependents(&uid) {
            let key = record.key.clone();
            self.gone.insert(Arc::clone(&uid), Gone::Seen { key, kind });
        }
        self.look_at_dependents(&uid);
        let owners = known.iter().flat_map(|known| &known.owners);
        let owners: Vec<Uid> = owners.map(|edge| Arc::clone(&edge.owner)).collect();
        self.look_at_owners(&owners);
    }

    /// Queues the objects that waited for a kind that is served now.
    pub fn look_again(&mut self, core: &Core) {
        let ready = self.waiting.served(&core.catalogue.snapshot());
        ready.iter().for_each(|uid| self.look_at(uid));
    }

    pub fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    /// Examines the next object of the queue.
    pub async fn work(&mut self, cluster: &Arc<Cluster>) {
        for uid in self.retries.due(cluster.core.now()) {
            self.look_at(&uid);
        }
        let Some(uid) = self.queue.pop_front() else { return };
        self.queued.remove(&uid);
        let Some(node) = self.graph.get(&uid).cloned() else {
            return;
        };
        cluster.core.store.look(1);
        self.waiting.forget(&uid);
        let done = isolated(async {
            if node.orphans() {
                self.orphan(cluster, &node).await
            } else if node.waits() {
                self.finish(cluster, &node).await
            } else if !node.is_deleting && !node.owners.is_empty() {
                self.judge(cluster, &node).await
            } else {
                Ok(())
            }
        });
        match done.await {
            Ok(()) => self.retries.forget(&uid),
            Err(_) => {
                self.waiting.for_any(&uid);
                self.retries.failed(&uid, cluster.core.now());
            }
        }
    }

    fn look_at(&mut self, uid: &Uid) {
        if self.graph.get(uid).is_some() && self.queued.insert(Arc::clone(uid)) {
            self.queue.push_back(Arc::clone(uid));
        }
    }

    fn look_at_dependents(&mut self, uid: &Uid) {
        let dependents: Vec<Uid> = self.graph.dependents(uid).cloned().collect();
        dependents.iter().for_each(|uid| self.look_at(uid));
    }

    /// Queues the owners whose deletion waits for this dependent, and forgets deleted owners without remaining
    /// dependents.
    fn look_at_owners(&mut self, uids: &[Uid]) {
        for uid in uids {
            if self.graph.get(uid).is_some_and(|it| it.waits() || it.orphans()) {
                self.look_at(uid);
            }
            if self.gone.contains_key(uid) && !self.graph.has_dependents(uid) {
                self.gone.remove(uid);
            }
        }
    }

    /// Orphans some dependents, or, if there are none left, removes the finalizer.
    async fn orphan(&mut self, cluster: &Arc<Cluster>, node: &Node) -> Result<(), Status> {
        let some: Vec<Uid> = self.graph.dependents(&node.uid).take(FREED).cloned().collect();
        if some.is_empty() {
            return remove_finalizer(cluster, node, ORPHAN).await;
        }
        for uid in some {
            let Some(dependent) = self.graph.get(&uid).cloned() else {
                continue;
            };
            keep_owners(cluster, &dependent, &|owner| owner != &*node.uid).await?;
            // Its deletion is still in the feed; until it arrives, this dependent would be orphaned again and again.
            match free::current(&cluster.core, &dependent) {
                Some(record) => _ = Node::of(&record).map(|freed| self.graph.set(freed)),
                None => _ = self.graph.remove(&uid),
            }
        }
        self.look_at(&node.uid);
        Ok(())
    }

    /// Removes the finalizer of an object if no dependent blocks its deletion.
    async fn finish(&self, cluster: &Arc<Cluster>, node: &Node) -> Result<(), Status> {
        if self.graph.is_held(&node.uid) {
            return Ok(());
        }
        remove_finalizer(cluster, node, FOREGROUND).await
    }

    /// Deletes an object whose owners are all gone, or removes the references to those that are gone. Uses its present
    /// owner references: they may have changed since the object was queued.
    async fn judge(&mut self, cluster: &Arc<Cluster>, node: &Node) -> Result<(), Status> {
        let core = &cluster.core;
        let Some(record) = free::current(core, node) else {
            return Ok(());
        };
        let Some(OwnedObject { metadata, .. }) = OwnedObject::of(&record).filter(|it| !it.metadata.is_deleting())
        else {
            return Ok(());
        };
        let owners = metadata.owner_references.iter();
        let fates: Vec<(Fate, &Owner)> = owners
            .map(|owner| (self.fate(core, &record.key, owner), owner))
            .collect();
        let any = |fate: Fate| fates.iter().any(|(it, _)| *it == fate);
        if let Some((_, owner)) = fates.iter().find(|(fate, _)| *fate == Fate::Unknown) {
            self.waiting.for_kind(&node.uid, owner);
            return Ok(());
        }
        if any(Fate::Impossible) || !(any(Fate::Waiting) || any(Fate::Gone)) {
            return Ok(());
        }
        if any(Fate::There) {
            let kept = |uid: &str| {
                let mut there = fates.iter().filter(|(fate, _)| *fate == Fate::There);
                there.any(|(_, owner)| owner.uid == uid)
            };
            return keep_owners(cluster, node, &kept).await;
        }
        let waits = any(Fate::Waiting) && self.graph.has_dependents(&node.uid);
        if waits && self.may_be_in_a_circle(&metadata.owner_references, node) {
            // This change queues it again.
            return unblock_owners(cluster, node).await;
        }
        let policy = match (waits, metadata.has(ORPHAN), metadata.has(FOREGROUND)) {
            (true, ..) | (false, false, true) => "Foreground",
            (false, true, _) => "Orphan",
            (false, false, false) => "Background",
        };
        let options = json!({
            "propagationPolicy": policy,
            "preconditions": {"uid": &*node.uid, "resourceVersion": record.revision.to_string()},
        });
        match act::delete(cluster, &record.key, &options).await {
            // That change queues it again.
            Err(_) if act::has_changed(core, &record) => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Whether the object can be part of a circle of owners: it blocks the deletion of an owner, and the deletion of one of its
    /// dependents waits.
    fn may_be_in_a_circle(&self, owners: &[Owner], node: &Node) -> bool {
        let waits = |uid: &Uid| self.graph.get(uid).is_some_and(Node::waits);
        owners.iter().any(|owner| owner.blocks) && self.graph.dependents(&node.uid).any(waits)
    }

    /// The state of an owner of the object of `key`.
    fn fate(&self, core: &Core, key: &Key, owner: &Owner) -> Fate {
        let (group, version) = group_version(&owner.api_version);
        let snapshot = core.catalogue.snapshot();
        let Some(resource) = snapshot.kind(group, version, &owner.kind) else {
            let is_gone = |gone: &Gone| gone.is(key, group, owner);
            return match self.gone.get(owner.uid.as_str()).is_some_and(is_gone) {
                true => Fate::Gone,
                false => Fate::Unknown,
            };
        };
        if resource.namespaced && key.namespace.is_empty() {
            return Fate::Impossible;
        }
        let namespace = if resource.namespaced {
            key.namespace.as_str()
        } else {
            ""
        };
        let record = core
            .store
            .get(&Key::new(&resource.store_name(), namespace, &owner.name));
        let found = record.and_then(|record| OwnedObject::of(&record));
        match found.filter(|it| it.metadata.uid == owner.uid) {
            Some(object) if object.metadata.waits() => Fate::Waiting,
            Some(_) => Fate::There,
            None => Fate::Gone,
        }
    }
}

impl Gone {
    /// Whether this object is the owner that a dependent refers to.
    fn is(&self, dependent: &Key, group: &str, owner: &Owner) -> bool {
        let Self::Seen { key, kind } = self else { return true };
        let is_of_group = key.resource.split('/').next() == Some(group);
        let is_in_reach = ["", dependent.namespace.as_str()].contains(&key.namespace.as_str());
        is_of_group && is_in_reach && *kind == owner.kind && key.name == owner.name
    }
}
