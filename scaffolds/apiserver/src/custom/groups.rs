//! The accepted names of each group's definitions, and the definitions whose names are not all accepted: a new
//! definition is checked against these without reading all others.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::names::{self, Taken};

/// All groups that have definitions.
#[derive(Default)]
pub(super) struct Groups(BTreeMap<String, Group>);

#[derive(Default)]
struct Group {
    /// The accepted names of each definition.
    accepted: BTreeMap<String, Value>,
    taken: Taken,
    unsettled: BTreeSet<String>,
}

impl Groups {
    /// Records the present state of a definition; `None` when it is deleted.
    pub fn put(&mut self, name: &str, crd: Option<&Value>) {
        let group = self.0.entry(group(name).to_owned()).or_default();
        group.unsettled.remove(name);
        if crd.is_some_and(|crd| !names::are_settled(crd)) {
            group.unsettled.insert(name.to_owned());
        }
        let names = crd.map(|crd| &crd["status"]["acceptedNames"]);
        if group.accepted.get(name) == names {
            return;
        }
        if let Some(old) = group.accepted.remove(name) {
            group.taken.count(&old, false);
        }
        if let Some(names) = names {
            group.taken.count(names, true);
            group.accepted.insert(name.to_owned(), names.clone());
        }
    }

    /// The names that the definitions of the same group have, including this one.
    pub fn taken(&mut self, name: &str) -> &Taken {
        &self.0.entry(group(name).to_owned()).or_default().taken
    }

    /// The other definitions of the same group whose names are not all accepted.
    pub fn unsettled(&self, name: &str) -> Vec<String> {
        let all = self.0.get(group(name)).map(|group| &group.unsettled);
        all.into_iter()
            .flatten()
            .filter(|other| *other != name)
            .cloned()
            .collect()
    }
}

/// The group of a definition, which its name ends in.
fn group(name: &str) -> &str {
    name.split_once('.').map_or("", |(_, group)| group)
}
