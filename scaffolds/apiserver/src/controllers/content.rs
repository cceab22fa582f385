//! The content of a terminating namespace, counted for the conditions of its status. The change of an object updates
//! only that object's share of the counts.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::{
    meta,
    store::{Key, Record},
};

const PODS: &str = "/pods";

/// The content of a namespace.
#[derive(Default)]
pub(super) struct Content {
    objects: HashMap<(Arc<str>, String), ObjectState>,
    /// All other objects wait until there are no Pods.
    pods: Left,
    others: Left,
}

/// The last known state of an object.
struct ObjectState {
    revision: u64,
    /// `None` if the object is known to be gone before its deletion appears in the feed.
    held: Option<Held>,
}

/// The contribution of an object to the counts.
struct Held {
    /// Whether the status reports it: a Pod that is only given time to stop is not.
    is_reported: bool,
    finalizers: Vec<String>,
}

/// The remaining objects: the Pods, or all others.
#[derive(Default)]
pub(super) struct Left {
    /// Objects, those included that the status does not report.
    count: usize,
    by_resource: BTreeMap<String, usize>,
    by_finalizer: BTreeMap<String, usize>,
}

impl Content {
    /// Records a state of an object, unless a later one is known. Returns whether the state was new and the object has
    /// yet to be deleted.
    pub fn put(&mut self, record: &Record) -> bool {
        let object = record.value();
        let finalizers = meta::texts(&object, "finalizers").into_iter().map(str::to_owned);
        let finalizers: Vec<String> = finalizers.collect();
        let grace = meta::number(&object, "deletionGracePeriodSeconds").unwrap_or_default();
        let held = Held {
            is_reported: !finalizers.is_empty() || grace <= 0,
            finalizers,
        };
        let state = ObjectState {
            revision: record.revision,
            held: Some(held),
        };
        self.set(&record.key, state) && !meta::is_deleting(&object)
    }

    /// Records that an object was found to be gone at a revision.
    pub fn take(&mut self, key: &Key, revision: u64) {
        self.set(key, ObjectState { revision, held: None });
    }

    /// Records the change that deleted an object.
    pub fn forget(&mut self, key: &Key, revision: u64) {
        self.take(key, revision);
        let place = place(key);
        if self.objects.get(&place).is_some_and(|it| it.held.is_none()) {
            self.objects.remove(&place);
        }
    }

    pub fn has_pods(&self) -> bool {
        self.pods.count > 0
    }

    pub fn is_empty(&self) -> bool {
        self.pods.count == 0 && self.others.count == 0
    }

    /// The objects that the conditions report: Pods while there are any, then all others.
    pub fn left(&self) -> &Left {
        if self.has_pods() { &self.pods } else { &self.others }
    }

    fn set(&mut self, key: &Key, state: ObjectState) -> bool {
        let known = self.objects.get(&place(key));
        if known.is_some_and(|it| it.revision > state.revision) {
            return false;
        }
        let old = known.and_then(|it| it.held.as_ref());
        let left = if is_pod(key) { &mut self.pods } else { &mut self.others };
        old.into_iter().for_each(|held| left.add(key, held, false));
        state.held.iter().for_each(|held| left.add(key, held, true));
        self.objects.insert(place(key), state);
        true
    }
}

/// Whether this is a Pod: Pods are deleted first.
pub(super) fn is_pod(key: &Key) -> bool {
    &*key.resource == PODS
}

fn place(key: &Key) -> (Arc<str>, String) {
    (Arc::clone(&key.resource), key.name.clone())
}

/// A condition of a namespace.
pub(super) struct NamespaceCondition {
    pub kind: &'static str,
    pub holds: bool,
    pub reason: &'static str,
    pub message: String,
}

impl Left {
    fn add(&mut self, key: &Key, held: &Held, is_more: bool) {
        count(&mut self.count, is_more);
        if !held.is_reported {
            return;
        }
        let (group, plural) = key.resource.split_once('/').unwrap_or_default();
        count_of(&mut self.by_resource, &format!("{plural}.{group}"), is_more);
        for finalizer in &held.finalizers {
            count_of(&mut self.by_finalizer, finalizer, is_more);
        }
    }

    /// The conditions that report the remaining objects, and the messages of refused deletions: one for each resource.
    pub fn conditions(&self, mut refusals: Vec<&str>) -> [NamespaceCondition; 5] {
        let list = |counts: &BTreeMap<String, usize>, word: &str| {
            let parts = counts
                .iter()
                .map(|(name, count)| format!("{name} {word} {count} resource instances"));
            parts.collect::<Vec<_>>().join(", ")
        };
        let condition = |kind, holds, reason, message| NamespaceCondition {
            kind,
            holds,
            reason,
            message,
        };
        let fine = |kind, reason, message: &str| condition(kind, false, reason, message.to_owned());
        let remaining = match self.by_resource.is_empty() {
            true => fine(
                "NamespaceContentRemaining",
                "ContentRemoved",
                "All content successfully removed",
            ),
            false => {
                let message = format!("Some resources are remaining: {}", list(&self.by_resource, "has"));
                condition("NamespaceContentRemaining", true, "SomeResourcesRemain", message)
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
                condition("NamespaceFinalizersRemaining", true, "SomeFinalizersRemain", message)
            }
        };
        let deletions = match refusals.len() {
            0 => {
                let message = "All content successfully deleted, may be waiting on finalization";
                fine("NamespaceDeletionContentFailure", "ContentDeleted", message)
            }
            count => {
                refusals.sort_unstable();
                let list = refusals.join(", ");
                let message = format!("Failed to delete all resource types, {count} remaining: {list}");
                condition(
                    "NamespaceDeletionContentFailure",
                    true,
                    "ContentDeletionFailed",
                    message,
                )
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
            deletions,
            remaining,
            finalizers,
        ]
    }
}

fn count(count: &mut usize, is_more: bool) {
    *count = if is_more {
        count.saturating_add(1)
    } else {
        count.saturating_sub(1)
    };
}

fn count_of(counts: &mut BTreeMap<String, usize>, name: &str, is_more: bool) {
    let of = counts.entry(name.to_owned()).or_default();
    count(of, is_more);
    if *of == 0 {
        counts.remove(name);
    }
}
