//! The names that the definitions of each group have, and those definitions that have yet to get theirs: what a new one is
//! checked against, without reading all others.

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
    /// Takes in a definition as it is now, `None` when it is gone.
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

    /// The names that definitions of the same group have, those of this one among them.
    pub fn taken(&mut self, name: &str) -> &Taken {
        &self.0.entry(group(name).to_owned()).or_default().taken
    }

    /// The other definitions of the same group that lack names.
    pub fn unsettled(&self, name: &str) -> Vec<String> {
        let all = self.0.get(group(name)).map(|group| &group.unsettled);
        all.into_iter()
            .flatten()
            .filter(|other| *other != name)
            .cloned()
            .collect()
    }
}

/// A definition's name ends in its group.
fn group(name: &str) -> &str {
    name.split_once('.').map_or("", |(_, group)| group)
}
