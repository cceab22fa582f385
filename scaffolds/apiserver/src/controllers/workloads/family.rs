//! An index of owners of one kind that select their dependents by labels: Deployments and their ReplicaSets, ReplicaSets
//! and their Pods. An owner's dependents, and the owners that may adopt an orphan, are found without visiting others.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
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

/// The owners and the dependents of one pair of kinds.
#[derive(Default)]
pub(super) struct Family {
    owners: HashMap<Name, Owner>,
    selecting: BTreeMap<Label, BTreeSet<Name>>,
    dependents: HashMap<Name, Dependent>,
    controlled: HashMap<String, BTreeSet<Name>>,
    orphans: BTreeMap<Label, BTreeSet<Name>>,
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
    controller: Option<Controller>,
}

/// The controller of an object.
#[derive(Clone)]
struct Controller {
    name: String,
    uid: String,
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
    /// Adds or changes an owner.
    pub fn set_owner(&mut self, key: &Key, object: &Value) {
        self.remove_owner(key);
        let selector = &object["spec"]["selector"];
        let first = selector["matchLabels"]
            .as_object()
            .and_then(|labels| labels.iter().next());
        let (name, value) = first.map_or(("", ""), |(name, value)| (name, value.as_str().unwrap_or_default()));
        let label = (key.namespace.clone(), name.to_owned(), value.to_owned());
        self.selecting.entry(label.clone()).or_default().insert(named(key));
        let owner = Owner {
            uid: meta::text(object, "uid").to_owned(),
            selector: LabelSelector::of(selector),
            label,
        };
        self.owners.insert(named(key), owner);
    }

    /// Removes an owner.
    pub fn remove_owner(&mut self, key: &Key) {
        if let Some(owner) = self.owners.remove(&named(key)) {
            take(&mut self.selecting, &owner.label, &named(key));
        }
    }

    /// Adds or changes a dependent; returns the names of the owners that this concerns, in its namespace.
    pub fn set_dependent(&mut self, record: &Arc<Record>, object: &Value) -> BTreeSet<String> {
        let mut concerned = self.remove_dependent(&record.key);
        let text = |owner: &Value, field: &str| owner[field].as_str().unwrap_or_default().to_owned();
        let controller = fields::controller(object).map(|owner| Controller {
            name: text(owner, "name"),
            uid: text(owner, "uid"),
        });
        let name = named(&record.key);
        match &controller {
            Some(controller) => {
                _ = self
                    .controlled
                    .entry(controller.uid.clone())
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

    /// Removes a dependent; returns the names of the owners that this concerns, in its namespace.
    pub fn remove_dependent(&mut self, key: &Key) -> BTreeSet<String> {
        let name = named(key);
        let Some(dependent) = self.dependents.remove(&name) else {
            return BTreeSet::new();
        };
        match &dependent.controller {
            Some(controller) => {
                if let Some(names) = self.controlled.get_mut(&controller.uid) {
                    names.remove(&name);
                    if names.is_empty() {
                        self.controlled.remove(&controller.uid);
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
        let Some(owner) = self.owners.get(&named(key)) else {
            return Vec::new();
        };
        let record = |name: &Name| self.dependents.get(name).map(|it| Arc::clone(&it.record));
        let own = self.controlled.get(&owner.uid).into_iter().flatten().filter_map(record);
        let own = own.map(|record| match owner.selector.matches(record.labels()) {
            true => (Relation::Own, record),
            false => (Relation::Strayed, record),
        });
        let orphans = self.orphans.get(&owner.label).into_iter().flatten().filter_map(record);
        let orphans = orphans.filter(|record| owner.selector.matches(record.labels()));
        own.chain(orphans.map(|record| (Relation::Orphan, record))).collect()
    }

    /// The controller of a dependent, if it is a known owner.
    pub fn owner_of(&self, key: &Key) -> Option<&str> {
        let controller = self.dependents.get(&named(key))?.controller.as_ref()?;
        self.owner(&key.namespace, controller)
    }

    fn owner<'a>(&self, namespace: &str, controller: &'a Controller) -> Option<&'a str> {
        let owner = self.owners.get(&(namespace.to_owned(), controller.name.clone()))?;
        (owner.uid == controller.uid).then_some(&controller.name)
    }

    /// Its controller, or the owners that select it if it has none.
    fn concerned(&self, dependent: &Dependent) -> BTreeSet<String> {
        let namespace = &dependent.record.key.namespace;
        if let Some(controller) = &dependent.controller {
            return self
                .owner(namespace, controller)
                .map(str::to_owned)
                .into_iter()
                .collect();
        }
        let labels = labels(&dependent.record);
        let names = labels.iter().filter_map(|label| self.selecting.get(label)).flatten();
        let matching = names.filter(|name| {
            let owner = self.owners.get(*name);
            owner.is_some_and(|owner| owner.selector.matches(dependent.record.labels()))
        });
        matching.map(|(_, name)| name.clone()).collect()
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
