//! The objects of each resource as they are now, and the bells of those who watch it.

use std::{
    collections::{BTreeMap, HashMap, btree_map},
    ops::Bound,
    sync::Arc,
    task::Waker,
};

use super::{Change, Range, Record, bells::Bells, changes::Log, left::Left};

/// One shelf per resource that was ever written or watched.
#[derive(Default)]
pub(super) struct Shelves(HashMap<Arc<str>, Shelf>);

/// One resource.
#[derive(Default)]
pub(super) struct Shelf {
    objects: BTreeMap<Box<str>, Arc<Record>>,
    /// The revision of its last change.
    pub changed: u64,
    /// Its part of the history.
    pub log: Log,
    /// Its watchers.
    pub bells: Bells,
    /// How many objects its lists have.
    pub left: Left,
}

impl Shelves {
    pub fn get(&self, resource: &str) -> Option<&Shelf> {
        self.0.get(resource)
    }

    pub fn get_mut(&mut self, resource: &str) -> Option<&mut Shelf> {
        self.0.get_mut(resource)
    }

    /// The shelf of this resource, new if need be.
    pub fn entry(&mut self, resource: &Arc<str>) -> &mut Shelf {
        if !self.0.contains_key(resource) {
            self.0.insert(Arc::clone(resource), Shelf::default());
        }
        self.0.entry(Arc::clone(resource)).or_default()
    }

    /// All of them, by the names of their resources.
    pub fn all(&self) -> impl Iterator<Item = &Shelf> {
        let mut shelves: Vec<_> = self.0.iter().collect();
        shelves.sort_unstable_by_key(|(resource, _)| *resource);
        shelves.into_iter().map(|(_, shelf)| shelf)
    }

    /// All who wait for anything.
    pub fn everyone(&mut self) -> Vec<Waker> {
        self.0.values_mut().flat_map(|shelf| shelf.bells.everyone()).collect()
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

    /// Puts an object where it belongs, or takes it away.
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

    /// How many objects of a range, of whatever name, there are behind a path. Looks at none of them, but walks over them.
    pub fn behind(&self, range: &Range, path: &str) -> usize {
        self.places(range, &format!("{path}\0")).count()
    }

    /// The path of the one object that a range can have, where it can have no more than one.
    fn only(&self, range: &Range) -> Option<String> {
        let name = range.name.as_ref()?;
        // A resource has a namespace in all of its objects or in none.
        let is_namespaced = self
            .objects
            .values()
            .next()
            .is_some_and(|it| !it.key.namespace.is_empty());
        (range.namespace.is_some() || !is_namespaced).then(|| format!("{}{name}", range.prefix()))
    }

    /// What is in the range's namespace from a path on; no more than one object, where the range can have no more.
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
        // `0` comes after the slash that the prefix ends with.
        let end = prefix.strip_suffix('/').map(|namespace| format!("{namespace}0"));
        match end.as_deref() {
            // Behind the whole range, where a range of the map would panic.
            Some(end) if start >= end => self
                .objects
                .range::<str, _>((Bound::Included(end), Bound::Excluded(end))),
            Some(end) => self
                .objects
                .range::<str, _>((Bound::Included(start), Bound::Excluded(end))),
            None => self.objects.range::<str, _>((Bound::Included(start), Bound::Unbounded)),
        }
    }

    /// Adds a change to the history and shows it in the objects.
    pub fn apply(&mut self, path: &str, change: &Arc<Change>) {
        let left = match change.kind {
            super::Kind::Deleted => None,
            _ => Some(Arc::clone(&change.record)),
        };
        self.place(path, left);
        self.changed = change.revision;
        self.log.push(Arc::clone(change));
    }
}
