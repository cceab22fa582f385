//! Removes the fields that an applier no longer applies.

use std::{borrow::Cow, collections::BTreeMap};

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
    ///
    /// # Errors
    /// The reason that the object cannot be converted to the version of an entry.
    pub(super) fn prune(&self, merged: Value, owners: &Owners, last: Option<&Owned>) -> Result<Value, String> {
        let Some(last) = last.filter(|it| !it.set.is_empty()) else {
            return Ok(merged);
        };
        let Some(schema) = self.schema_of(&last.api_version) else {
            return Ok(merged);
        };
        let failed =
            |what: &str, why: String| format!("failed to convert {what} object to last applied version: {why}");
        let named = |set: &Set| set.with_named_fields(schema, Some(schema.root));
        let converted = self.convert(&merged, &last.api_version);
        let Some((_, merged)) = converted.map_err(|why| failed("merged", why))? else {
            return Ok(merged);
        };
        let given_up = named(&last.set);
        let mut pruned = remove(schema, &merged, &given_up);
        let kept = self.add_back_owned(&merged, pruned, owners, &last.api_version);
        pruned = kept.map_err(|why| format!("failed add back owned items: {why}"))?;
        let kept = self.bring(&pruned, &last.api_version);
        let kept = kept.map_err(|why| format!("failed add back dangling items: {}", failed("pruned", why)))?;
        let dangling = named(&fields(schema, &merged)).difference(&named(&fields(schema, &kept)));
        let pruned = remove(schema, &merged, &dangling.intersection(&given_up));
        Ok(self.bring(&pruned, self.api_version)?.into_owned())
    }

    /// Restores the fields that any manager owns, version by version, beginning with `first`. The result is in the
    /// version that comes last.
    fn add_back_owned(&self, merged: &Value, mut pruned: Value, owners: &Owners, first: &str) -> Result<Value, String> {
        let mut by_version: BTreeMap<&str, Set> = BTreeMap::new();
        for owned in owners.values() {
            let set = by_version.entry(&owned.api_version).or_default();
            *set = set.union(&owned.set);
        }
        let first = by_version.remove_entry(first);
        let mut merged = Cow::Borrowed(merged);
        for (version, owned) in first.into_iter().chain(by_version) {
            let Some(schema) = self.schema_of(version) else {
                continue;
            };
            let failed =
                |what: &str, why: String| format!("failed to convert {what} object at version {version}: {why}");
            let next = match self.bring(&merged, version).map_err(|why| failed("merged", why))? {
                Cow::Owned(next) => Some(next),
                Cow::Borrowed(_) => None,
            };
            if let Some(next) = next {
                merged = Cow::Owned(next);
            }
            let there = self.bring(&pruned, version).map_err(|why| failed("pruned", why))?;
            let named = |set: &Set| set.with_named_fields(schema, Some(schema.root));
            let kept = named(&fields(schema, &there)).union(&named(&owned));
            pruned = remove(schema, &merged, &named(&fields(schema, &merged)).difference(&kept));
        }
        Ok(pruned)
    }
}
