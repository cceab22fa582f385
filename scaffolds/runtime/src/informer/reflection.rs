//! The rules by which watch events, relists and our own writes become store contents and deltas. Pure state: no clock,
//! no I/O, no calls of handlers.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use tokio::time::Instant;

use super::{
    delta::Delta,
    membership::{Join, Membership},
    merge::{Fresh, is_newer, merge, number, supersedes, take_all_away, take_away},
    place::WatchRequest,
};
use crate::{
    key::ObjectKey,
    store::{Invalid, ResourceVersion, Store},
};

/// The progress of each watch, and our own writes that no watch has shown yet.
///
/// Resource versions are compared as numbers, which the API server guarantees for its own kinds and for custom
/// resources. If a version is not a number (some aggregated servers), the watch takes precedence, and our own writes
/// are not merged.
#[derive(Debug)]
pub(super) struct Reflection<K> {
    store: Store<K>,
    sources: Vec<WatchState>,
    pub(super) membership: Membership,
    /// Our own writes that were merged before a watch showed them.
    unseen: HashMap<ObjectKey, Unseen>,
    /// Counts started lists and merged writes, to determine which came first.
    tick: u64,
}

/// One watch.
#[derive(Debug)]
struct WatchState {
    place: WatchRequest,
    /// The names that a list in progress has shown so far, and the tick of its start.
    listing: Option<(u64, HashSet<ObjectKey>)>,
    listed_once: bool,
    /// The number of objects in namespaces that are not chosen, in the list in progress.
    passed_by: usize,
    /// The API server does not serve the kind.
    absent: bool,
    /// The newest version that this watch has shown: an older object that is not in the store is gone.
    progress: u64,
}

#[derive(Debug)]
struct Unseen {
    version: u64,
    tick: u64,
    since: Instant,
}

/// An object that cannot be decoded.
#[derive(Debug)]
pub(super) struct Broken {
    pub metadata: Box<ObjectMeta>,
    pub error: Arc<str>,
}

impl<K: Resource + Clone> Reflection<K> {
    pub(super) fn new(store: Store<K>, places: Vec<WatchRequest>) -> Self {
        let source = |place| WatchState {
            place,
            listing: None,
            listed_once: false,
            passed_by: 0,
            absent: false,
            progress: 0,
        };
        Self {
            store,
            sources: places.into_iter().map(source).collect(),
            membership: Membership::default(),
            unseen: HashMap::new(),
            tick: 0,
        }
    }

    /// A list starts, or restarts.
    pub(super) fn list_begins(&mut self, source: usize) {
        self.tick += 1;
        let started = &mut self.sources[source];
        (started.listing, started.passed_by) = (Some((self.tick, HashSet::new())), 0);
        self.membership.list_begins(&started.place);
    }

    /// A list or a watch shows a valid object.
    pub(super) fn shown(&mut self, source: usize, fresh: Fresh<K>) -> Vec<Delta<K>> {
        let key = ObjectKey::of(&fresh.object);
        let initial = self.note(source, &key, fresh.object.meta());
        if !self.membership.admits(key.namespace()) {
            return Vec::new();
        }
        merge(&mut self.store.write(), key, fresh, initial).unwrap_or_default()
    }

    /// Whether there are own writes that no watch has shown yet.
    pub(super) fn awaits_any(&self) -> bool {
        !self.unseen.is_empty()
    }

    /// Whether this version is an own write that no watch has shown yet.
    pub(super) fn awaits(&self, metadata: &ObjectMeta) -> bool {
        let version = metadata.resource_version.as_deref().and_then(number);
        let write = self.unseen.get(&key_of(metadata));
        write.is_some_and(|write| version == Some(write.version))
    }

    /// A list or a watch shows an own write: its text is stored in its place. Returns the text if the store has another version
    /// by now, or would have other records; then the object is to be decoded.
    pub(super) fn echoed(
        &mut self,
        source: usize,
        metadata: &ObjectMeta,
        text: Box<str>,
        has_records: bool,
    ) -> Result<(), Box<str>> {
        let key = key_of(metadata);
        let contents = self.store.read();
        let stored = contents
            .version(&key)
            .is_some_and(|version| version == metadata.resource_version.as_deref().into());
        if !stored || contents.has_records(&key) != has_records || !self.membership.admits(key.namespace()) {
            return Err(text);
        }
        drop(contents);
        self.note(source, &key, metadata);
        self.store.write().pack_json(&key, text);
        Ok(())
    }

    /// A list or a watch shows an undecodable object.
    pub(super) fn shown_broken(&mut self, source: usize, broken: Broken) -> Vec<Delta<K>> {
        let metadata = &broken.metadata;
        let key = key_of(metadata);
        self.note(source, &key, metadata);
        if self.membership.admits(key.namespace()) {
            self.store_broken(key, broken)
        } else {
            Vec::new()
        }
    }

    fn store_broken(&mut self, key: ObjectKey, broken: Broken) -> Vec<Delta<K>> {
        let Broken { metadata, error } = broken;
        let mut contents = self.store.write();
        let mut deltas = Vec::new();
        let mut last = None;
        if let Some(old) = contents.object(&key) {
            if !supersedes(&metadata, old.meta()) {
                return deltas;
            }
            last = contents.remove(&key);
        } else if let Some(old) = contents.invalid(&key) {
            if !supersedes(&metadata, &old.metadata()) {
                return deltas;
            }
            last = contents.remove_invalid(&key).and_then(|old| old.last);
        }
        // The version delivered last is of another object of the same name, which is gone.
        if last.as_ref().is_some_and(|last| last.meta().uid != metadata.uid) {
            deltas.extend(last.take().map(Delta::Deleted));
        }
        let (uid, version) = (metadata.uid, metadata.resource_version);
        contents.set_invalid(
            key.clone(),
            Invalid {
                error: error.clone(),
                uid,
                version,
                last,
            },
        );
        deltas.push(Delta::Invalid { key, error });
        deltas
    }

    /// A watch shows that an object was deleted; `metadata` is of its last state.
    pub(super) fn gone(&mut self, source: usize, metadata: &ObjectMeta) -> Vec<Delta<K>> {
        let key = key_of(metadata);
        self.note(source, &key, metadata);
        self.membership.gone(&key, metadata);
        let mut contents = self.store.write();
        // What our own write stored since stays: a successor of the same name, or the same object, if it only left the
        // selector for a moment. A deletion has a newer version than every state of its object. Versions that are not numbers
        // have no order: the event about the same object takes precedence.
        let outlives = |uid: &Option<String>, version: &Option<String>| {
            let [old, gone] = [version, &metadata.resource_version].map(|version| version.as_deref().into());
            let has_order = matches!((old, gone), (ResourceVersion::Number(_), ResourceVersion::Number(_)));
            (has_order || *uid != metadata.uid) && is_newer(old, gone)
        };
        let is_outlived = match contents.object(&key) {
            Some(old) => outlives(&old.meta().uid, &old.meta().resource_version),
            None => contents
                .invalid(&key)
                .is_some_and(|old| outlives(&old.uid, &old.version)),
        };
        if is_outlived {
            return Vec::new();
        }
        take_away(&mut contents, &key)
    }

    /// A list is complete: objects that it did not show are gone, except our own writes for which it may be too old.
    /// Also returns whether this was the first list of this watch.
    pub(super) fn list_ends(&mut self, source: usize) -> (Vec<Delta<K>>, bool) {
        let Some((begun, listed)) = self.sources[source].listing.take() else {
            return (Vec::new(), false);
        };
        let source = &mut self.sources[source];
        self.membership.list_ends(&source.place);
        let first = !std::mem::replace(&mut source.listed_once, true);
        source.absent = false;
        let unseen = &mut self.unseen;
        let mut contents = self.store.write();
        let missing = contents.keys_where(|key| {
            let is_older = || unseen.get(key).is_none_or(|write| write.tick < begun);
            source.place.covers(key) && !listed.contains(key) && is_older()
        });
        missing.iter().for_each(|key| _ = unseen.remove(key));
        (take_all_away(&mut contents, &missing), first)
    }

    /// Every source starts again with a list, which counts as its first, unless the API server does not serve the kind.
    /// Returns these sources.
    pub(super) fn start_over(&mut self) -> Vec<usize> {
        let sources = self.sources.iter_mut().enumerate();
        let served = sources.filter(|(_, source)| !source.absent);
        let restart = |(number, source): (usize, &mut WatchState)| {
            (source.listing, source.listed_once) = (None, false);
            number
        };
        served.map(restart).collect()
    }

    /// The API server does not serve the kind: all objects are gone. The next list counts as the first.
    pub(super) fn vanish(&mut self, source: usize) -> Vec<Delta<K>> {
        let source = &mut self.sources[source];
        self.membership.list_ends(&source.place);
        (source.listing, source.listed_once, source.absent) = (None, false, true);
        let place = source.place.clone();
        self.drop_all(|key| place.covers(key))
    }

    /// Removes the objects and own writes for which `holds` returns true.
    fn drop_all(&mut self, holds: impl Fn(&ObjectKey) -> bool) -> Vec<Delta<K>> {
        self.unseen.retain(|key, _| !holds(key));
        let mut contents = self.store.write();
        let gone = contents.keys_where(holds);
        take_all_away(&mut contents, &gone)
    }

    /// Merges the response to our own write. `None` if the object does not belong in this store, else the changes: none
    /// if the store is at least as new.
    pub(super) fn written(&mut self, object: K, now: Instant) -> Option<Vec<Delta<K>>> {
        let key = ObjectKey::of(&object);
        if !self.membership.admits(key.namespace()) {
            return None;
        }
        let source = self
            .sources
            .iter()
            .find(|source| source.place.covers(&key) && !source.absent)?;
        let version = number(object.meta().resource_version.as_deref()?)?;
        let mut contents = self.store.write();
        let known = contents.contains(&key) || contents.invalid(&key).is_some();
        if !known && version <= source.progress {
            // The watch is past this write and has no such object: it has been deleted since.
            return Some(Vec::new());
        }
        let fresh = Fresh { object, text: None };
        let Some(deltas) = merge(&mut contents, key.clone(), fresh, false) else {
            return Some(Vec::new());
        };
        self.tick += 1;
        let (tick, since) = (self.tick, now);
        self.unseen.insert(key, Unseen { version, tick, since });
        Some(deltas)
    }

    /// Begins to store the objects of a namespace.
    pub(super) fn join_begins(&mut self, namespace: &str) -> Join {
        let key = ObjectKey::new(Some(namespace), "");
        let source = self.sources.iter().find(|source| source.place.covers(&key));
        let (absent, listing) = source.map_or((true, false), |source| (source.absent, source.is_listing()));
        self.membership.join(namespace, absent, listing)
    }

    /// The list with this number, of a namespace that joins, shows an object.
    pub(super) fn join_shows(&mut self, list: u64, shown: Result<Fresh<K>, Broken>) -> Vec<Delta<K>> {
        match shown {
            Ok(fresh) if self.membership.lists(list, fresh.object.meta()) => {
                let key = ObjectKey::of(&fresh.object);
                merge(&mut self.store.write(), key, fresh, true).unwrap_or_default()
            }
            Err(broken) if self.membership.lists(list, &broken.metadata) => {
                self.store_broken(key_of(&broken.metadata), broken)
            }
            _ => Vec::new(),
        }
    }

    /// Stores no objects of this namespace any more, and drops those that are stored.
    pub(super) fn leave(&mut self, namespace: &str) -> Vec<Delta<K>> {
        match self.membership.leave(namespace) {
            true => self.drop_all(|key| key.namespace() == Some(namespace)),
            false => Vec::new(),
        }
    }

    /// The number of objects that the list in progress has delivered.
    pub(super) fn listed(&self, source: usize) -> usize {
        let source = &self.sources[source];
        let listing = source.listing.as_ref();
        listing.map_or(0, |(_, listed)| listed.len() + source.passed_by)
    }

    /// Whether the source has not been listed yet, or is being listed again.
    pub(super) fn is_listing(&self, source: usize) -> bool {
        self.sources[source].is_listing()
    }

    /// Whether one of our own writes, merged before `deadline`, was never shown by this watch.
    pub(super) fn misses_write(&self, source: usize, deadline: Instant) -> bool {
        let place = &self.sources[source].place;
        self.unseen
            .iter()
            .any(|(key, write)| write.since < deadline && place.covers(key))
    }

    /// The stored objects, as they are delivered to a late subscriber.
    pub(super) fn replay(&self) -> Vec<Delta<K>> {
        let contents = self.store.read();
        let objects = contents.all().into_iter();
        let objects = objects.map(|object| Delta::Added { object, initial: true });
        let invalid = contents.invalids();
        let invalid = invalid.map(|(key, invalid)| Delta::Invalid {
            key: key.clone(),
            error: invalid.error.clone(),
        });
        objects.chain(invalid).collect()
    }

    /// Records that a watch has shown `key`; returns whether that was in its first list.
    fn note(&mut self, source: usize, key: &ObjectKey, metadata: &ObjectMeta) -> bool {
        let version = metadata.resource_version.as_deref().and_then(number);
        let source = &mut self.sources[source];
        source.progress = source.progress.max(version.unwrap_or(0));
        let admitted = self.membership.admits(key.namespace());
        match &mut source.listing {
            Some((_, listed)) if admitted => _ = listed.insert(key.clone()),
            Some(_) => source.passed_by += 1,
            None => {}
        }
        if self
            .unseen
            .get(key)
            .is_some_and(|write| version.is_none_or(|version| version >= write.version))
        {
            self.unseen.remove(key);
        }
        !source.listed_once
    }
}

pub(super) fn key_of(metadata: &ObjectMeta) -> ObjectKey {
    ObjectKey::new(
        metadata.namespace.as_deref(),
        metadata.name.as_deref().unwrap_or_default(),
    )
}

impl WatchState {
    /// Whether its first list, or a later one, is incomplete.
    fn is_listing(&self) -> bool {
        !self.listed_once || self.listing.is_some()
    }
}
