//! The present objects of each resource, with its part of the history and the bells of its watchers.

use std::{
    collections::{BTreeMap, HashMap, btree_map},
    ops::Bound,
    sync::Arc,
};

use super::{Change, Range, Record, bells::Bells, changes::Log, left::Left};

/// One shelf for each resource that was ever written or watched.
#[derive(Default)]
pub(super) struct Shelves(HashMap<Arc<str>, Shelf>);

/// The state of one resource.
#[derive(Default)]
pub(super) struct Shelf {
    objects: BTreeMap<Box<str>, Arc<Record>>,
    /// The revision of its last change.
    pub changed: u64,
    /// Its part of the history.
    pub log: Log,
    /// The bells of its watchers.
    pub bells: Bells,
    /// The numbers of objects in its namespaces and after the pages of its lists.
    pub left: Left,
}

impl Shelves {
    pub fn get(&self, resource: &str) -> Option<&Shelf> {
        self.0.get(resource)
    }

    pub fn get_mut(&mut self, resource: &str) -> Option<&mut Shelf> {
        self.0.get_mut(resource)
    }

    /// The shelf of this resource, created if it does not exist.
    pub fn entry(&mut self, resource: &Arc<str>) -> &mut Shelf {
        if !self.0.contains_key(resource) {
            self.0.insert(Arc::clone(resource), Shelf::default());
        }
        self.0.entry(Arc::clone(resource)).or_default()
    }

    /// All shelves, by the names of their resources.
    pub fn all(&self) -> impl Iterator<Item = &Shelf> {
        let mut shelves: Vec<_> = self.0.iter().collect();
        shelves.sort_unstable_by_key(|(resource, _)| *resource);
        shelves.into_iter().map(|(_, shelf)| shelf)
    }
}

impl Shelf {
    pub fn get(&self, path: &str) -> Option<&Arc<Record>> {
        self.objects.get(path)
    }

    /// All objects, in order.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Record>> {
        self.objects.values()
    }

    /// Inserts, replaces or removes the object at a path.
    pub fn place(&mut self, path: &str, record: Option<Arc<Record>>) {
        if let Some(record) = record {
            let namespace = record.key.namespace.clone();
            if self.objects.insert(path.into(), record).is_none() {
                self.left.came(&namespace);
            }
        } else if let Some(gone) = self.objects.remove(path) {
            self.left.went(&gone.key.namespace);
        }
    }

    /// The objects of a range from a path on, in order.
    pub fn from(&self, range: &Range, path: &str) -> impl Iterator<Item = (&str, &Arc<Record>)> {
        self.places(range, path).map(|(path, record)| (path.as_ref(), record))
    }

    /// The number of objects of a range, ignoring its name, after a path. Iterates over the objects without reading them.
    pub fn behind(&self, range: &Range, path: &str) -> usize {
        self.places(range, &format!("{path}\0")).count()
    }

    /// The path of the only object that the range can have; `None` if it can have several.
    fn only(&self, range: &Range) -> Option<String> {
        let name = range.name.as_ref()?;
        // Either all objects of a resource have a namespace or none has.
        let is_namespaced = self
            .objects
            .values()
            .next()
            .is_some_and(|it| !it.key.namespace.is_empty());
        (range.namespace.is_some() || !is_namespaced).then(|| format!("{}{name}", range.prefix()))
    }

    /// The entries in the range's namespace from a path on; at most one entry, if the range can have only one.
    fn places(&self, range: &Range, path: &str) -> btree_map::Range<'_, Box<str>, Arc<Record>> {
        if let Some(only) = self.only(range) {
            let only = only.as_str();
            let end = if path > only {
                Bound::Excluded(only)
            } else {
                Bound::Included(only)
            };
            return self.objects.range::<str, _>((Bound::Included(only), end));
        }
        let prefix = range.prefix();
        let start = if path > prefix.as_str() { path } else { &prefix };
        // `0` is the character after the slash that ends the prefix.
        let end = prefix.strip_suffix('/').map(|namespace| format!("{namespace}0"));
        match end.as_deref() {
            // The start is after the range. A start after the end would panic.
            Some(end) if start >= end => self
                .objects
                .range::<str, _>((Bound::Included(end), Bound::Excluded(end))),
            Some(end) => self
                .objects
                .range::<str, _>((Bound::Included(start), Bound::Excluded(end))),
            None => self.objects.range::<str, _>((Bound::Included(start), Bound::Unbounded)),
        }
    }

    /// Adds a change to the history, and applies it to the objects.
    pub fn apply(&mut self, path: &str, change: &Arc<Change>) {
        let left = match change.kind {
            super::ChangeKind::Deleted => None,
            _ => Some(Arc::clone(&change.record)),
        };
        self.place(path, left);
        self.changed = change.revision;
        self.log.push(Arc::clone(change));
    }
}
