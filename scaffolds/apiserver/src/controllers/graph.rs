//! The graph of owners and dependents, by uid. A change of an object changes only its own edges, and a query touches
//! only the objects that it returns.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Bound,
    sync::Arc,
};

use serde::{Deserialize, de::IgnoredAny};

use crate::{
    meta::finalizers::{FOREGROUND, ORPHAN},
    store::Record,
};

/// An object's uid, shared by all references to it.
pub(super) type Uid = Arc<str>;

/// An object, with what its owners and its deletion need.
#[derive(Clone)]
pub(super) struct Node {
    pub uid: Uid,
    /// Its last known state: the store's own record while it is current, so it takes no extra memory.
    pub record: Arc<Record>,
    pub owners: Box<[Edge]>,
    pub is_deleting: bool,
    pub has_orphan: bool,
    pub has_foreground: bool,
}

/// An owner reference of an object.
#[derive(Clone)]
pub(super) struct Edge {
    pub owner: Uid,
    /// Whether the owner's foreground deletion waits for this dependent.
    pub blocks: bool,
}

/// The fields of an owner reference that identify the owner.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Owner {
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub uid: String,
    #[serde(rename = "blockOwnerDeletion")]
    pub blocks: bool,
}

/// All objects with owners, with dependents or in deletion, and their edges.
#[derive(Default)]
pub(super) struct Graph {
    nodes: HashMap<Uid, Node>,
    /// An edge from owner to dependent for each owner reference.
    edges: BTreeSet<(Uid, Uid)>,
    /// The edges whose dependent blocks the owner's foreground deletion.
    blocking: BTreeSet<(Uid, Uid)>,
}

/// The fields that are decoded of every object that changes.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct OwnedObject {
    pub kind: String,
    pub metadata: OwnerMetadata,
}

/// The fields of the metadata that concern owners and deletion.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct OwnerMetadata {
    pub uid: String,
    pub finalizers: Vec<String>,
    pub owner_references: Vec<Owner>,
    pub deletion_timestamp: Option<IgnoredAny>,
}

impl OwnerMetadata {
    pub fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    pub fn has(&self, finalizer: &str) -> bool {
        self.finalizers.iter().any(|it| it == finalizer)
    }

    /// Whether the deletion waits for the dependents.
    pub fn waits(&self) -> bool {
        self.is_deleting() && self.has(FOREGROUND)
    }
}

impl OwnedObject {
    /// Decodes a record; `None` if it is not an object.
    pub fn of(record: &Record) -> Option<Self> {
        record.read().ok()
    }
}

impl Node {
    /// The node of a record; `None` if it is not an object.
    pub fn of(record: &Arc<Record>) -> Option<Self> {
        let OwnedObject { metadata, .. } = OwnedObject::of(record)?;
        let edge = |owner: &Owner| Edge {
            owner: owner.uid.as_str().into(),
            blocks: owner.blocks,
        };
        Some(Self {
            record: Arc::clone(record),
            is_deleting: metadata.is_deleting(),
            has_orphan: metadata.has(ORPHAN),
            has_foreground: metadata.has(FOREGROUND),
            owners: metadata.owner_references.iter().map(edge).collect(),
            uid: metadata.uid.into(),
        })
    }

    /// Whether the graph needs the object. Most objects have no owners and are not being deleted.
    pub fn matters(&self) -> bool {
        self.is_deleting || !self.owners.is_empty()
    }

    /// Whether its deletion waits for its dependents.
    pub fn waits(&self) -> bool {
        self.is_deleting && self.has_foreground
    }

    /// Whether its dependents are to be orphaned before it is removed.
    pub fn orphans(&self) -> bool {
        self.is_deleting && self.has_orphan
    }
}

impl Graph {
    /// Records the present state of an object; returns the state known before.
    pub fn set(&mut self, node: Node) -> Option<Node> {
        let old = self.remove(&node.uid);
        for edge in &node.owners {
            let ends = (Arc::clone(&edge.owner), Arc::clone(&node.uid));
            if edge.blocks {
                self.blocking.insert(ends.clone());
            }
            self.edges.insert(ends);
        }
        self.nodes.insert(Arc::clone(&node.uid), node);
        old
    }

    /// Removes an object that is gone.
    pub fn remove(&mut self, uid: &str) -> Option<Node> {
        let node = self.nodes.remove(uid)?;
        for edge in &node.owners {
            let ends = (Arc::clone(&edge.owner), Arc::clone(&node.uid));
            self.blocking.remove(&ends);
            self.edges.remove(&ends);
        }
        Some(node)
    }

    pub fn get(&self, uid: &str) -> Option<&Node> {
        self.nodes.get(uid)
    }

    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values()
    }

    /// The objects that refer to this one as an owner.
    pub fn dependents(&self, uid: &Uid) -> impl Iterator<Item = &Uid> {
        of(&self.edges, uid)
    }

    pub fn has_dependents(&self, uid: &Uid) -> bool {
        of(&self.edges, uid).next().is_some()
    }

    /// Whether a dependent blocks the foreground deletion of this object.
    pub fn is_held(&self, uid: &Uid) -> bool {
        of(&self.blocking, uid).next().is_some()
    }
}

fn of<'a>(edges: &'a BTreeSet<(Uid, Uid)>, owner: &Uid) -> impl Iterator<Item = &'a Uid> {
    let first = (Arc::clone(owner), Uid::from(""));
    let from = edges.range((Bound::Included(first), Bound::Unbounded));
    let owner = Arc::clone(owner);
    from.take_while(move |ends| ends.0 == owner).map(|ends| &ends.1)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::json;

    use super::*;
    use crate::store::Key;

    fn node(uid: &str, owners: &[(&str, bool)]) -> Node {
        let owners: Vec<_> = owners
            .iter()
            .map(|(uid, blocks)| json!({"uid": uid, "blockOwnerDeletion": blocks}))
            .collect();
        let object = json!({"metadata": {"uid": uid, "ownerReferences": owners}}).to_string();
        Node::of(&Arc::new(Record::new(Key::new("/a", "n", uid), 1, Bytes::from(object)))).unwrap()
    }

    fn dependents(graph: &Graph, uid: &str) -> Vec<String> {
        graph.dependents(&uid.into()).map(|uid| uid.to_string()).collect()
    }

    #[test]
    fn edges_match_the_latest_state_of_each_object() {
        let mut graph = Graph::default();
        graph.set(node("b", &[("a", true), ("a2", false)]));
        graph.set(node("c", &[("a", false)]));
        assert_eq!(dependents(&graph, "a"), ["b", "c"]);
        assert_eq!(dependents(&graph, "a2"), ["b"]);
        assert!(graph.is_held(&"a".into()) && !graph.is_held(&"a2".into()));
        graph.set(node("b", &[("a", false)]));
        assert!(!graph.is_held(&"a".into()) && !graph.has_dependents(&"a2".into()));
        graph.remove("c");
        assert_eq!(dependents(&graph, "a"), ["b"]);
    }

    #[test]
    fn owners_with_a_common_uid_prefix_are_distinct() {
        let mut graph = Graph::default();
        graph.set(node("x", &[("ab", true)]));
        assert!(!graph.has_dependents(&"a".into()) && !graph.is_held(&"a".into()));
    }
}
