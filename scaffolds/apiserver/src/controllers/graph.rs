//! Who owns whom, by uid.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, de::IgnoredAny};

use crate::{
    meta::finalizers::{FOREGROUND, ORPHAN},
    store::{Key, Record},
};

/// An object, as far as owners matter.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub key: Key,
    pub uid: String,
    pub owners: Vec<Owner>,
    pub is_deleting: bool,
    pub has_orphan: bool,
    pub has_foreground: bool,
}

/// A reference to an owner.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Owner {
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub uid: String,
    /// Whether the owner's foreground deletion waits for this dependent.
    #[serde(rename = "blockOwnerDeletion")]
    pub blocks: bool,
}

/// All objects that are owned or being deleted, and who depends on whom.
#[derive(Default)]
pub(super) struct Graph {
    nodes: HashMap<String, Node>,
    dependents: HashMap<String, BTreeSet<String>>,
}

impl Node {
    /// The node of a record; `None` for what is no object.
    pub fn of(record: &Record) -> Option<Self> {
        let Object { metadata } = serde_json::from_slice(&record.object).ok()?;
        let has = |finalizer: &str| metadata.finalizers.iter().any(|it| it == finalizer);
        Some(Self {
            key: record.key.clone(),
            is_deleting: metadata.deletion_timestamp.is_some(),
            has_orphan: has(ORPHAN),
            has_foreground: has(FOREGROUND),
            owners: metadata.owner_references,
            uid: metadata.uid,
        })
    }

    /// Whether there is anything to know of it. Of most objects there is not: those are only owned by nobody.
    pub fn matters(&self) -> bool {
        self.is_deleting || !self.owners.is_empty()
    }

    /// Whether its deletion waits for its dependents.
    pub fn waits(&self) -> bool {
        self.is_deleting && self.has_foreground
    }
}

/// What is read of every object that changes.
#[derive(Deserialize)]
struct Object {
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Metadata {
    uid: String,
    finalizers: Vec<String>,
    owner_references: Vec<Owner>,
    deletion_timestamp: Option<IgnoredAny>,
}

impl Graph {
    /// Takes in an object as it is now; returns it as it was known.
    pub fn set(&mut self, node: Node) -> Option<Node> {
        for owner in &node.owners {
            self.dependents
                .entry(owner.uid.clone())
                .or_default()
                .insert(node.uid.clone());
        }
        let old = self.nodes.insert(node.uid.clone(), node.clone());
        if let Some(old) = &old {
            let kept = |owner: &Owner| node.owners.iter().any(|it| it.uid == owner.uid);
            old.owners
                .iter()
                .filter(|owner| !kept(owner))
                .for_each(|owner| self.part(&owner.uid, &old.uid));
        }
        old
    }

    /// Forgets an object that is gone.
    pub fn remove(&mut self, uid: &str) -> Option<Node> {
        let node = self.nodes.remove(uid)?;
        node.owners.iter().for_each(|owner| self.part(&owner.uid, uid));
        Some(node)
    }

    fn part(&mut self, owner: &str, dependent: &str) {
        if let Some(dependents) = self.dependents.get_mut(owner) {
            dependents.remove(dependent);
            if dependents.is_empty() {
                self.dependents.remove(owner);
            }
        }
    }

    pub fn get(&self, uid: &str) -> Option<&Node> {
        self.nodes.get(uid)
    }

    /// The objects that name this one as an owner.
    pub fn dependents(&self, uid: &str) -> Vec<&Node> {
        let uids = self.dependents.get(uid).into_iter().flatten();
        uids.filter_map(|uid| self.nodes.get(uid)).collect()
    }

    /// All that name owners.
    pub fn owned(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values().filter(|node| !node.owners.is_empty())
    }
}
