//! The core of structured-merge-diff: computes the owners after a write, and the result of an apply.

use std::{borrow::Cow, collections::BTreeMap};

use kubewright_machinery::go::quote;
use kubewright_schema::typed::{Duplicates, Schema, describe, merge, same, validate};
use serde_json::Value;

use super::{
    compare::{Comparison, compare},
    conflict::Conflict,
    error::Error,
    managed::{Manager, Owned},
    owned::fields,
    reconcile::reconcile,
    set::Set,
    writer::{Convert, kind},
};

/// An object in a version, and the schema of that version.
type Versioned<'a, 'o> = (&'a Schema, Cow<'o, Value>);

pub(super) type Owners = BTreeMap<Manager, Owned>;

/// The context of a write.
pub(super) struct Updater<'a> {
    pub(super) schema: &'a Schema,
    pub(super) api_version: &'a str,
    pub(super) kind: &'a str,
    pub(super) versions: &'a dyn Fn(&str) -> Option<&'a Schema>,
    pub(super) convert: Option<&'a Convert<'a>>,
    /// The fields that this endpoint resets: no manager gains or loses them here.
    pub(super) reset: Set,
    /// The same for entries in other versions.
    pub(super) reset_elsewhere: Set,
}

/// The writer, and whether it takes over fields of other managers.
#[derive(Clone, Copy)]
pub(super) struct Claim<'a> {
    pub(super) manager: &'a Manager,
    pub(super) force: bool,
}

/// The result of an apply; the object is `None` if it does not change.
pub(super) type Applied = (Option<Value>, Owners);

impl<'a> Updater<'a> {
    /// The owners after `writer` changed `live` to `new`.
    pub(super) fn update(&self, live: &Value, new: &Value, owners: Owners, writer: &Manager) -> Result<Owners, Error> {
        let owners = self.reconcile(live, owners)?;
        let claim = Claim {
            manager: writer,
            force: true,
        };
        let (mut owners, comparison) = self.move_ownership(live, new, owners, claim)?;
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

    /// Lays `config` over `live` for an applier.
    pub(super) fn apply(
        &self,
        live: &Value,
        config: &Value,
        owners: Owners,
        claim: Claim<'_>,
    ) -> Result<Applied, Error> {
        let mut owners = self.reconcile(live, owners)?;
        let merged =
            merge(self.schema, live, config).map_err(|it| internal("failed to merge config", &describe(&it)))?;
        let set = fields(self.schema, config).without(&self.reset);
        let owned = Owned {
            set,
            api_version: self.api_version.to_owned(),
        };
        let last = owners.insert(claim.manager.clone(), owned);
        let new = self
            .prune(merged, &owners, last.as_ref())
            .map_err(|it| internal("failed to prune fields", &it))?;
        let (owners, _) = self.move_ownership(live, &new, owners, claim)?;
        Ok(((!same(live, &new)).then_some(new), owners))
    }

    fn reconcile(&self, live: &Value, owners: Owners) -> Result<Owners, Error> {
        let mut out = Owners::new();
        for (manager, mut owned) in owners {
            if let Some((schema, _)) = self.convert(live, &owned.api_version).map_err(Error::Internal)? {
                owned.set = reconcile(schema, owned.set);
                out.insert(manager, owned);
            }
        }
        Ok(out)
    }

    /// An object in a version, with the schema of that version; `None` for a version that the kind no longer has.
    pub(super) fn convert<'o>(
        &self,
        object: &'o Value,
        api_version: &str,
    ) -> Result<Option<Versioned<'a, 'o>>, String> {
        let Some(schema) = self.schema_of(api_version) else {
            return if self.schema.structs {
                Ok(None)
            } else {
                Err(self.no_version(api_version))
            };
        };
        if api_version == self.api_version {
            return Ok(Some((schema, Cow::Borrowed(object))));
        }
        let object = self.bring(object, api_version)?;
        // Unlike an object in its own version, a converted one must not have duplicate items.
        match validate(schema, &object, Duplicates::Refused).as_slice() {
            [] => Ok(Some((schema, object))),
            problems => Err(describe(problems)),
        }
    }

    /// An object in a version that the kind has.
    pub(super) fn bring<'o>(&self, object: &'o Value, api_version: &str) -> Result<Cow<'o, Value>, String> {
        let is_there = object.get("apiVersion").and_then(Value::as_str) == Some(api_version);
        match self.convert {
            Some(convert) if !is_there => convert(object, api_version).map(Cow::Owned),
            _ => Ok(Cow::Borrowed(object)),
        }
    }

    fn no_version(&self, api_version: &str) -> String {
        let group = |it: &str| it.split_once('/').map(|(group, _)| group.to_owned());
        if group(api_version) == group(self.api_version) {
            return format!("request to convert CR to an invalid group/version: {api_version}");
        }
        let (from, to) = (kind(self.api_version, self.kind), quote(api_version));
        format!("{from} is unstructured and is not suitable for converting to {to}")
    }

    pub(super) fn schema_of(&self, api_version: &str) -> Option<&'a Schema> {
        if api_version == self.api_version {
            Some(self.schema)
        } else {
            (self.versions)(api_version)
        }
    }

    /// Takes from everyone but the writer what changed and what is gone. Without force, fields that change and are
    /// someone's are conflicts.
    fn move_ownership(
        &self,
        live: &Value,
        new: &Value,
        mut owners: Owners,
        claim: Claim<'_>,
    ) -> Result<(Owners, Comparison), Error> {
        let own = difference(self.schema, live, new)?.without(&self.reset);
        let mut others: BTreeMap<String, Comparison> = BTreeMap::new();
        let mut conflicts = Vec::new();
        for (manager, owned) in owners.iter_mut().filter(|(manager, _)| *manager != claim.manager) {
            let comparison = if owned.api_version == self.api_version {
                &own
            } else {
                let old = self.bring(live, &owned.api_version);
                let old = old.map_err(|it| internal("failed to convert old object", &it))?;
                let new = self.convert(new, &owned.api_version);
                let new = new.map_err(|it| internal("failed to convert new object", &it))?;
                let Some((schema, new)) = new else { continue };
                if !others.contains_key(&owned.api_version) {
                    let difference = difference(schema, &old, &new)?.without(&self.reset_elsewhere);
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
        if !claim.force && !conflicts.is_empty() {
            return Err(Error::Conflict(conflicts));
        }
        // An applier's entry without fields is removed too.
        owners.retain(|_, owned| !owned.set.is_empty());
        Ok((owners, own))
    }
}

fn difference(schema: &Schema, live: &Value, new: &Value) -> Result<Comparison, Error> {
    compare(schema, live, new).map_err(|it| internal("failed to compare objects", &describe(&it)))
}

fn internal(what: &str, why: &str) -> Error {
    Error::Internal(format!("{what}: {why}"))
}
