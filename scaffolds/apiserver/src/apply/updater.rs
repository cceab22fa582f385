//! Who owns what after a write, and what an apply makes of an object: the core of structured-merge-diff.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    compare::{Comparison, compare},
    conflict::Conflict,
    error::Error,
    managed::{Manager, Owned},
    merge::merge,
    owned::fields,
    reconcile::reconcile,
    remove::remove,
    schema::Schema,
    set::Set,
    typed::describe,
    value::same,
};

pub(super) type Owners = BTreeMap<Manager, Owned>;

/// What a write is looked at with.
pub(super) struct Updater<'a> {
    pub(super) schema: &'a Schema,
    pub(super) api_version: &'a str,
    pub(super) versions: &'a dyn Fn(&str) -> Option<&'a Schema>,
    /// What this endpoint resets: nobody comes to own it here, nor loses it.
    pub(super) reset: Set,
    /// The same for entries in other versions.
    pub(super) reset_elsewhere: Set,
}

/// What came of an apply: `None` for an object that stays as it is.
pub(super) type Applied = (Option<Value>, Owners);

impl<'a> Updater<'a> {
    /// After `writer` turned `live` into `new`.
    pub(super) fn update(&self, live: &Value, new: &Value, owners: Owners, writer: &Manager) -> Result<Owners, Error> {
        let owners = self.reconcile(owners);
        let (mut owners, comparison) = self.move_ownership(live, new, owners, (writer, true))?;
        let before = owners.remove(writer).unwrap_or_default();
        let set = before
            .set
            .difference(&comparison.removed)
            .union(&comparison.changed())
            .without(&self.reset);
        if !set.is_empty() {
            let owned = Owned {
                set,
                api_version: self.api_version.to_owned(),
            };
            owners.insert(writer.clone(), owned);
        }
        Ok(owners)
    }

    /// Lays `config` over `live` for `applier` (and whether it forces its way).
    pub(super) fn apply(
        &self,
        live: &Value,
        config: &Value,
        owners: Owners,
        (applier, force): (&Manager, bool),
    ) -> Result<Applied, Error> {
        let mut owners = self.reconcile(owners);
        let merged =
            merge(self.schema, live, config).map_err(|it| internal("failed to merge config", &describe(&it)))?;
        let set = fields(self.schema, config).without(&self.reset);
        let owned = Owned {
            set,
            api_version: self.api_version.to_owned(),
        };
        let last = owners.insert(applier.clone(), owned);
        let new = self.prune(merged, &owners, last.as_ref());
        let (owners, _) = self.move_ownership(live, &new, owners, (applier, force))?;
        Ok(((!same(live, &new)).then_some(new), owners))
    }

    fn reconcile(&self, owners: Owners) -> Owners {
        let each = |(manager, mut owned): (Manager, Owned)| {
            let schema = self.schema_of(&owned.api_version)?;
            owned.set = reconcile(schema, &owned.set);
            Some((manager, owned))
        };
        owners.into_iter().filter_map(each).collect()
    }

    fn schema_of(&self, api_version: &str) -> Option<&'a Schema> {
        if api_version == self.api_version {
            Some(self.schema)
        } else {
            (self.versions)(api_version)
        }
    }

    /// Takes from everyone but `writer` what changed and what is gone. Without force, fields that change and are
    /// someone's are conflicts.
    fn move_ownership(
        &self,
        live: &Value,
        new: &Value,
        mut owners: Owners,
        (writer, force): (&Manager, bool),
    ) -> Result<(Owners, Comparison), Error> {
        let own = difference(self.schema, live, new)?.without(&self.reset);
        let mut others: BTreeMap<String, Comparison> = BTreeMap::new();
        let mut conflicts = Vec::new();
        for (manager, owned) in owners.iter_mut().filter(|(manager, _)| *manager != writer) {
            let comparison = if owned.api_version == self.api_version {
                &own
            } else {
                let Some(schema) = self.schema_of(&owned.api_version) else {
                    continue;
                };
                if !others.contains_key(&owned.api_version) {
                    let difference = difference(schema, live, new)?.without(&self.reset_elsewhere);
                    others.insert(owned.api_version.clone(), difference);
                }
                &others[&owned.api_version]
            };
            let lost = owned.set.intersection(&comparison.changed());
            conflicts.extend(lost.paths().into_iter().map(|path| Conflict {
                manager: manager.clone(),
                path,
            }));
            owned.set = owned.set.difference(&lost).difference(&comparison.removed);
        }
        if !force && !conflicts.is_empty() {
            return Err(Error::Conflict(conflicts));
        }
        // An applier's entry without a field goes too.
        owners.retain(|_, owned| !owned.set.is_empty());
        Ok((owners, own))
    }

    /// Takes out what the applier had applied before, does not apply any more, and nobody else owns.
    fn prune(&self, merged: Value, owners: &Owners, last: Option<&Owned>) -> Value {
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

    /// Puts back what some entry owns, version by version, beginning with `first`.
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

fn difference(schema: &Schema, live: &Value, new: &Value) -> Result<Comparison, Error> {
    compare(schema, live, new).map_err(|it| internal("failed to compare objects", &describe(&it)))
}

fn internal(what: &str, why: &str) -> Error {
    Error::Internal(format!("{what}: {why}"))
}
