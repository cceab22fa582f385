//! Objects that the garbage collector cannot process now: an owner is of a kind that is not served, or a write failed.
//! The former wait until that kind is served, the latter until any kind begins to be served, or their next
//! attempt is due.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kubewright_machinery::names::group_version;

use super::graph::{Owner, Uid};
use crate::catalogue::Snapshot;

/// A kind as owner references name it.
#[derive(Clone, Default, Eq, Ord, PartialEq, PartialOrd)]
struct ReferencedKind {
    api_version: String,
    kind: String,
}

/// The waiting objects, by kind.
#[derive(Default)]
pub(super) struct Waiting {
    kinds: HashMap<Uid, ReferencedKind>,
    waiting: BTreeMap<ReferencedKind, BTreeSet<Uid>>,
}

impl Waiting {
    /// Makes an object wait for the kind of this owner.
    pub fn for_kind(&mut self, uid: &Uid, owner: &Owner) {
        let kind = ReferencedKind {
            api_version: owner.api_version.clone(),
            kind: owner.kind.clone(),
        };
        self.wait(uid, kind);
    }

    /// Makes an object wait for any change of the served kinds.
    pub fn for_any(&mut self, uid: &Uid) {
        self.wait(uid, ReferencedKind::default());
    }

    fn wait(&mut self, uid: &Uid, kind: ReferencedKind) {
        self.forget(uid);
        self.waiting.entry(kind.clone()).or_default().insert(uid.clone());
        self.kinds.insert(uid.clone(), kind);
    }

    pub fn has(&self, uid: &str) -> bool {
        self.kinds.contains_key(uid)
    }

    /// Removes an object that is gone, or will be processed again.
    pub fn forget(&mut self, uid: &str) {
        let Some(kind) = self.kinds.remove(uid) else { return };
        if let Some(waiting) = self.waiting.get_mut(&kind) {
            waiting.remove(uid);
            if waiting.is_empty() {
                self.waiting.remove(&kind);
            }
        }
    }

    /// Removes and returns the objects that no longer have to wait, given the kinds that are served now.
    pub fn served(&mut self, snapshot: &Snapshot) -> Vec<Uid> {
        let is_served = |kind: &ReferencedKind| {
            let (group, version) = group_version(&kind.api_version);
            kind.kind.is_empty() || snapshot.kind(group, version, &kind.kind).is_some()
        };
        let served: Vec<ReferencedKind> = self.waiting.keys().filter(|kind| is_served(kind)).cloned().collect();
        let ready: Vec<Uid> = served
            .iter()
            .filter_map(|kind| self.waiting.remove(kind))
            .flatten()
            .collect();
        for uid in &ready {
            self.kinds.remove(uid);
        }
        ready
    }
}
