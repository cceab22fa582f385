//! Who owns whom, by uid.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::{
    meta::{
        self,
        finalizers::{FOREGROUND, ORPHAN},
    },
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
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Owner {
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub uid: String,
    /// Whether the owner's foreground deletion waits for this dependent.
    pub blocks: bool,
}

/// All objects that own or are owned, or are being deleted with regard to that.
#[derive(Default)]
pub(super) struct Graph {
    nodes: HashMap<String, Node>,
    dependents: HashMap<String, BTreeSet<String>>,
}

impl Node {
    /// The node of a record; `None` for what is no object.
    pub fn of(record: &Record) -> Option<Self> {
        let object: Value = serde_json::from_slice(&record.object).ok()?;
        let finalizers = meta::texts(&object, "finalizers");
        let owners = meta::of(&object).get("ownerReferences").and_then(Value::as_array);
        Some(Self {
            key: record.key.clone(),
            uid: meta::text(&object, "uid").to_owned(),
            owners: owners.into_iter().flatten().map(Owner::of).collect(),
            is_deleting: meta::is_deleting(&object),
            has_orphan: finalizers.contains(&ORPHAN),
            has_foreground: finalizers.contains(&FOREGROUND),
        })
    }

    /// Whether its deletion waits for its dependents.
    pub fn waits(&self) -> bool {
        self.is_deleting && self.has_foreground
    }
}

impl Owner {
    fn of(reference: &Value) -> Self {
        let text = |field: &str| {
            reference
                .get(field)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        Self {
            api_version: text("apiVersion"),
            kind: text("kind"),
            name: text("name"),
            uid: text("uid"),
            blocks: reference.get("blockOwnerDeletion") == Some(&Value::Bool(true)),
        }
    }
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
