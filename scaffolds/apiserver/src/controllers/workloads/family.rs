//! An index of dependents of one kind and of the owners that select them by labels: ReplicaSets and their Deployments, Pods
//! and the workloads that create them. An owner's dependents, and the owners that may adopt an orphan, are found without
//! visiting other objects.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use serde_json::Value;

use super::fields;
use crate::{
    meta,
    select::LabelSelector,
    store::{Key, Record},
};

/// The namespace, and a label by which owners select.
type Label = (String, String, String);
/// An object, by namespace and name.
type Name = (String, String);

/// The dependents of one kind, and their owners.
#[derive(Default)]
pub(super) struct Family {
    owners: HashMap<Key, Owner>,
    by_uid: HashMap<String, Key>,
    selecting: BTreeMap<Label, HashSet<Key>>,
    dependents: HashMap<Name, Dependent>,
    controlled: HashMap<String, BTreeSet<Name>>,
    orphans: BTreeMap<Label, BTreeSet<Name>>,
    /// Owners have all dependents that they select, whatever their controllers.
    is_by_selector: bool,
}

/// An owner.
struct Owner {
    uid: String,
    selector: LabelSelector,
    label: Label,
}

/// A dependent, or an orphan that may become one.
struct Dependent {
    record: Arc<Record>,
    /// The uid of its controller.
    controller: Option<String>,
}

/// The relation of a dependent to an owner.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Relation {
    /// Controlled and selected.
    Own,
    /// Controlled, and no longer selected.
    Strayed,
    /// Selected, and without a controller.
    Orphan,
}

impl Family {
    /// A family whose owners only select: each dependent is an orphan.
    pub fn by_selector() -> Self {
        Self {
            is_by_selector: true,
            ..Self::default()
        }
    }

    /// Adds or changes an owner with this selector.
    pub fn set_owner(&mut self, key: &Key, object: &Value, selector: &Value) {
        self.remove_owner(key);
        let first = selector["matchLabels"]
            .as_object()
            .and_then(|labels| labels.iter().next());
        let (name, value) = first.map_or(("", ""), |(name, value)| (name, value.as_str().unwrap_or_default()));
        let label = (key.namespace.clone(), name.to_owned(), value.to_owned());
        self.selecting.entry(label.clone()).or_default().insert(key.clone());
        let owner = Owner {
            uid: meta::text(object, "uid").to_owned(),
            selector: LabelSelector::of(selector),
            label,
        };
        self.by_uid.insert(owner.uid.clone(), key.clone());
        self.owners.insert(key.clone(), owner);
    }

    /// Removes an owner.
    pub fn remove_owner(&mut self, key: &Key) {
        if let Some(owner) = self.owners.remove(key) {
            self.by_uid.remove(&owner.uid);
            if let Some(keys) = self.selecting.get_mut(&owner.label) {
                keys.remove(key);
                if keys.is_empty() {
                    self.selecting.remove(&owner.label);
                }
            }
        }
    }

    /// Adds or changes a dependent; returns the owners that this concerns.
    pub fn set_dependent(&mut self, record: &Arc<Record>, object: &Value) -> HashSet<Key> {
        let mut concerned = self.remove_dependent(&record.key);
        let controller = fields::controller(object).filter(|_| !self.is_by_selector);
        let controller = controller.map(|owner| fields::text(owner, "/uid").to_owned());
        let name = named(&record.key);
        match &controller {
            Some(controller) => {
                _ = self
                    .controlled
                    .entry(controller.clone())
                    .or_default()
                    .insert(name.clone())
            }
            None => {
                for label in labels(record) {
                    self.orphans.entry(label).or_default().insert(name.clone());
                }
            }
        }
        let dependent = Dependent {
            record: Arc::clone(record),
            controller,
        };
        concerned.extend(self.concerned(&dependent));
        self.dependents.insert(name, dependent);
        concerned
    }

    /// Removes a dependent; returns the owners that this concerns.
    pub fn remove_dependent(&mut self, key: &Key) -> HashSet<Key> {
        let name = named(key);
        let Some(dependent) = self.dependents.remove(&name) else {
            return HashSet::new();
        };
        match &dependent.controller {
            Some(controller) => {
                if let Some(names) = self.controlled.get_mut(controller) {
                    names.remove(&name);
                    if names.is_empty() {
                        self.controlled.remove(controller);
                    }
                }
            }
            None => {
                for label in labels(&dependent.record) {
                    take(&mut self.orphans, &label, &name);
                }
            }
        }
        self.concerned(&dependent)
    }

    /// The dependents of an owner, and the orphans and strays that it has to adopt or to release.
    pub fn dependents(&self, key: &Key) -> Vec<(Relation, Arc<Record>)> {
        let Some(owner) = self.owners.get(key) else {
            return Vec::new();
        };
        let record = |name: &Name| self.dependents.get(name).map(|it| Arc::clone(&it.record));
        let own = self.controlled.get(&owner.uid).into_iter().flatten();
        let own = own
            .filter(|(namespace, _)| *namespace == key.namespace)
            .filter_map(record);
        let own = own.map(|record| match owner.selector.matches(record.labels()) {
            true => (Relation::Own, record),
            false => (Relation::Strayed, record),
        });
        let orphans = self.orphans.get(&owner.label).into_iter().flatten().filter_map(record);
        let orphans = orphans.filter(|record| owner.selector.matches(record.labels()));
        own.chain(orphans.map(|record| (Relation::Orphan, record))).collect()
    }

    /// The owners of this resource, in no order.
    pub fn owners(&self, resource: &str) -> Vec<Key> {
        self.owners
            .keys()
            .filter(|key| &*key.resource == resource)
            .cloned()
            .collect()
    }

    /// The controller of a dependent, if it is a known owner.
    pub fn owner_of(&self, key: &Key) -> Option<&Key> {
        self.by_uid.get(self.dependents.get(&named(key))?.controller.as_ref()?)
    }

    /// The owners that select an object.
    pub fn selecting(&self, record: &Record) -> HashSet<Key> {
        let labels = labels(record);
        let keys = labels.iter().filter_map(|label| self.selecting.get(label)).flatten();
        let matching = keys.filter(|key| {
            let owner = self.owners.get(*key);
            owner.is_some_and(|owner| owner.selector.matches(record.labels()))
        });
        matching.cloned().collect()
    }

    /// Its controller, or the owners that select it if it has none.
    fn concerned(&self, dependent: &Dependent) -> HashSet<Key> {
        match &dependent.controller {
            Some(controller) => self.by_uid.get(controller).cloned().into_iter().collect(),
            None => self.selecting(&dependent.record),
        }
    }
}

fn named(key: &Key) -> Name {
    (key.namespace.clone(), key.name.clone())
}

/// The labels under which an orphan is found: its own, and the empty one for selectors without `matchLabels`.
fn labels(record: &Record) -> Vec<Label> {
    let namespace = &record.key.namespace;
    let own = record.labels().iter();
    let own = own.map(|(name, value)| (namespace.clone(), name.clone(), value.clone()));
    own.chain([(namespace.clone(), String::new(), String::new())]).collect()
}

fn take(index: &mut BTreeMap<Label, BTreeSet<Name>>, label: &Label, name: &Name) {
    if let Some(names) = index.get_mut(label) {
        names.remove(name);
        if names.is_empty() {
            index.remove(label);
        }
    }
}
