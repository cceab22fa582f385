//! Removes the fields that an applier no longer applies.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    managed::Owned,
    owned::fields,
    remove::remove,
    set::Set,
    updater::{Owners, Updater},
};

impl Updater<'_> {
    /// Removes the fields that the applier applied before, no longer applies, and no other manager owns.
    pub(super) fn prune(&self, merged: Value, owners: &Owners, last: Option<&Owned>) -> Value {
        let Some(last) = last.filter(|it| !it.set.is_empty()) else {
            return merged;
        };
        let Some(schema) = self.schema_of(&last.api_version) else {
            return merged;
        };
        let named = |set: &Set| set.with_named_fields(schema, Some(schema.root));
        let given_up = named(&last.set);
        let mut pruned = remove(schema, &merged, &given_up);
        pruned = self.add_back_owned(&merged, pruned, owners, &last.api_version);
        let dangling = named(&fields(schema, &merged)).difference(&named(&fields(schema, &pruned)));
        remove(schema, &merged, &dangling.intersection(&given_up))
    }

    /// Restores the fields that any manager owns, version by version, beginning with `first`.
    fn add_back_owned(&self, merged: &Value, mut pruned: Value, owners: &Owners, first: &str) -> Value {
        let mut by_version: BTreeMap<&str, Set> = BTreeMap::new();
        for owned in owners.values() {
            let set = by_version.entry(&owned.api_version).or_default();
            *set = set.union(&owned.set);
        }
        let first = by_version.remove_entry(first);
        for (version, owned) in first.into_iter().chain(by_version) {
            let Some(schema) = self.schema_of(version) else {
                continue;
            };
            let named = |set: &Set| set.with_named_fields(schema, Some(schema.root));
            let kept = named(&fields(schema, &pruned)).union(&named(&owned));
            pruned = remove(schema, merged, &named(&fields(schema, merged)).difference(&kept));
        }
        pruned
    }
}
