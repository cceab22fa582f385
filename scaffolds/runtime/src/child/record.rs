//! The record of earlier applies: the child's `managedFields`, and the requests of this process.

use std::{collections::HashMap, sync::Mutex};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use serde_json::Value;

use super::{
    Child,
    name::{CREATED, hash_of},
    view::{ManagerEntry, View},
};
use crate::{
    error::{Error, Result},
    informer::managed,
    intent::fields,
    isolate::lock,
    key::ObjectKey,
    kind::KindId,
    object::AnyObject,
};

/// The last intent that this process applied to each child, by owner. The result need not be applied again, although the server
/// may store a value in another form than the intent has.
#[derive(Default)]
pub(crate) struct Applies(Mutex<HashMap<ObjectKey, Children>>);

/// The children of one owner, sorted. Most owners have one or a few, for which a map takes four times as much memory.
#[derive(Default)]
struct Children(Vec<(Slot, Last)>);

/// A child's kind and name.
type Slot = (KindId, ObjectKey);

#[derive(Clone, Default)]
pub(super) struct Last {
    /// The intent's hash.
    pub intent: u64,
    /// The resource version of the result: while the child has it, nothing needs to be compared.
    pub version: Box<str>,
    /// The hash of the resulting values, if they differ from the intent's.
    pub values: Option<u64>,
    /// The hash of the fields that we own and the intent does not name: the server has added them.
    pub surplus: u64,
}

impl Applies {
    /// Removes the entry of a child that is gone.
    pub(crate) fn forget(&self, kind: &KindId, owner: &ObjectKey, child: &ObjectKey) {
        let mut applies = lock(&self.0);
        if let Some(children) = applies.get_mut(owner) {
            children.remove(&(kind.clone(), child.clone()));
            if children.0.is_empty() {
                applies.remove(owner);
            }
        }
    }

    /// Removes the entries of an owner that is gone.
    pub(crate) fn forget_owner(&self, owner: &ObjectKey) {
        lock(&self.0).remove(owner);
    }

    /// Adds an entry as an apply of this child would.
    #[cfg(test)]
    pub(crate) fn note(&self, kind: &KindId, owner: &ObjectKey, child: &ObjectKey) {
        let mut applies = lock(&self.0);
        let children = applies.entry(owner.clone()).or_default();
        children.insert((kind.clone(), child.clone()), Last::default());
    }

    /// The numbers of owners and of children with an entry.
    #[cfg(test)]
    pub(crate) fn count(&self) -> (usize, usize) {
        let applies = lock(&self.0);
        (applies.len(), applies.values().map(|children| children.0.len()).sum())
    }
}

impl Children {
    fn get(&self, slot: &Slot) -> Option<&Last> {
        let at = self.position(slot).ok()?;
        Some(&self.0[at].1)
    }

    fn insert(&mut self, slot: Slot, last: Last) {
        match self.position(&slot) {
            Ok(at) => self.0[at].1 = last,
            Err(at) => {
                if self.0.is_empty() {
                    // Otherwise the first element gets room for four.
                    self.0.reserve_exact(1);
                }
                self.0.insert(at, (slot, last));
            }
        }
    }

    fn remove(&mut self, slot: &Slot) {
        if let Ok(at) = self.position(slot) {
            self.0.remove(at);
        }
    }

    /// The position of the child, or the position to insert it.
    fn position(&self, slot: &Slot) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| other.cmp(slot))
    }
}

impl<C: AnyObject> Child<'_, C> {
    pub(super) fn view(&self, object: &C) -> Result<View> {
        let entries: Vec<_> = self
            .entries(object)
            .filter_map(|entry| {
                Some(ManagerEntry {
                    manager: entry.manager.clone().unwrap_or_default(),
                    applied: entry.operation.as_deref() == Some("Apply"),
                    fields: managed::fields(entry)?.into_owned(),
                })
            })
            .collect();
        Ok(View::new(serde_json::to_value(object).map_err(Error::retry)?, entries))
    }

    /// The fields of all other field managers, if `object` has all of its `managedFields`.
    pub(super) fn of_others(&self, object: &C) -> Value {
        let mut all = Value::Null;
        for entry in object.meta().managed_fields.iter().flatten() {
            if !self.is_ours(entry)
                && let Some(fields) = managed::fields(entry)
            {
                fields::add(&mut all, fields.into_owned());
            }
        }
        all
    }

    /// Whether another field manager owns any field, of which a cached object shows no more than that.
    pub(super) fn has_others(&self, object: &C) -> bool {
        let mut entries = object.meta().managed_fields.iter().flatten();
        entries.any(|entry| !self.is_ours(entry) && entry.subresource.as_deref().unwrap_or_default().is_empty())
    }

    /// Remembers the result of an apply or a create, of which `view` is the JSON.
    pub(super) fn remember(&self, hash: u64, written: &C, view: &View) {
        let Some(version) = written.meta().resource_version.as_deref() else {
            return;
        };
        let last = Last {
            intent: hash,
            version: version.into(),
            values: (!view.meets(&self.intent)).then(|| view.values(&self.intent)),
            surplus: hash_of(&view.surplus(&self.intent, None)),
        };
        let mut applies = lock(&self.applies.0);
        let children = applies.entry(self.owner_key.clone()).or_default();
        children.insert(self.slot(), last);
    }

    /// Whether the child still has the resource version that resulted from this intent.
    pub(super) fn last_made(&self, hash: u64, version: Option<&str>) -> bool {
        self.last()
            .is_some_and(|last| last.intent == hash && version == Some(&*last.version))
    }

    /// The last write of the child by this process.
    pub(super) fn last(&self) -> Option<Last> {
        let applies = lock(&self.applies.0);
        applies.get(self.owner_key)?.get(&self.slot()).cloned()
    }

    fn slot(&self) -> Slot {
        (self.requests.kind().id().clone(), self.key.clone())
    }

    pub(super) fn entries<'c>(&'c self, object: &'c C) -> impl Iterator<Item = &'c ManagedFieldsEntry> {
        object
            .meta()
            .managed_fields
            .iter()
            .flatten()
            .filter(|entry| self.is_ours(entry))
    }

    fn is_ours(&self, entry: &ManagedFieldsEntry) -> bool {
        is_of(self.manager, entry) && entry.subresource.as_deref().unwrap_or_default().is_empty()
    }
}

/// Whether an entry is of this field manager, or of one that creates for it.
fn is_of(manager: &str, entry: &ManagedFieldsEntry) -> bool {
    let rest = entry.manager.as_deref().unwrap_or_default().strip_prefix(manager);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(CREATED))
}

/// Whether this controller has written an object, by the entries of controllers that `is_known` to the operator. `None` if there is no such
/// entry: another operator has written it, or a controller of a former name.
pub(crate) fn has_written<C: AnyObject>(manager: &str, object: &C, is_known: impl Fn(&str) -> bool) -> Option<bool> {
    let operator = &manager[..=manager.find('/')?];
    let entries = object.meta().managed_fields.iter().flatten();
    let of_known = entries.filter(|entry| {
        let name = entry.manager.as_deref().unwrap_or_default().strip_prefix(operator);
        name.is_some_and(|name| is_known(name.split(CREATED).next().unwrap_or_default()))
    });
    of_known
        .map(|entry| is_of(manager, entry))
        .reduce(|one, other| one || other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_children_of_an_owner_are_found_replaced_and_removed_by_kind_and_name() {
        use k8s_openapi::api::core::v1::{ConfigMap, Secret};

        use crate::kind::Kind;

        let (maps, secrets) = (Kind::<ConfigMap>::of(), Kind::<Secret>::of());
        let slot = |kind: &KindId, name: &str| (kind.clone(), ObjectKey::new(Some("default"), name));
        let slots = ["b", "a", "c"].map(|name| [slot(maps.id(), name), slot(secrets.id(), name)]);
        let last = |intent| Last {
            intent,
            ..Last::default()
        };
        let mut children = Children::default();
        let intents = |children: &Children| {
            slots
                .each_ref()
                .map(|both| both.each_ref().map(|slot| Some(children.get(slot)?.intent)))
        };
        for (at, slot) in slots.iter().flatten().enumerate() {
            children.insert(slot.clone(), last(at as u64));
            assert!(at > 0 || children.0.capacity() == 1, "room for more than one child");
        }
        assert_eq!(
            intents(&children),
            [[Some(0), Some(1)], [Some(2), Some(3)], [Some(4), Some(5)]]
        );
        children.insert(slots[1][0].clone(), last(9));
        children.remove(&slots[0][1]);
        children.remove(&slots[0][1]);
        assert_eq!(
            intents(&children),
            [[Some(0), None], [Some(9), Some(3)], [Some(4), Some(5)]]
        );
        assert_eq!(children.0.len(), 5);
    }
}
