//! What is known of earlier applies: the records of field ownership in the child, and what this process has sent.

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use serde_json::Value;

use super::{Child, name::fnv1a};
use crate::{Object, key::ObjectKey};

/// Between a field manager and what it has created.
const CREATED: char = '@';

/// The longest name of a field manager that Kubernetes accepts.
const MAX_MANAGER: usize = 128;

/// The name under which a child is created: the field manager's, and what the intent was. A process that comes later finds
/// both in the record of field ownership. Of a child that was made for the intent it has itself it knows that no field was
/// dropped since, though the record names what the server has added to it; and that each value stands which the record still
/// names, in whatever form the server keeps it: who changes a value takes it out of the record.
pub(super) fn creator(manager: &str, hash: u64) -> String {
    let name = format!("{manager}{CREATED}{hash:016x}");
    if name.len() > MAX_MANAGER {
        manager.to_owned()
    } else {
        name
    }
}

/// What this process last applied to each child: the intent's hash and the version that came of it. While both stand
/// nothing needs to be compared, and a value that the server stores in another form is not sent for ever.
#[derive(Default)]
pub(crate) struct Applies(Mutex<HashMap<(TypeId, ObjectKey), (u64, String)>>);

impl Applies {
    pub(super) fn remember<C: 'static>(&self, key: &ObjectKey, hash: u64, version: Option<&str>) {
        let mut applies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = (TypeId::of::<C>(), key.clone());
        match version {
            Some(version) => applies.insert(slot, (hash, version.to_owned())),
            None => applies.remove(&slot),
        };
    }

    pub(super) fn stands<C: 'static>(&self, key: &ObjectKey, hash: u64, version: Option<&str>) -> bool {
        let applies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        applies
            .get(&(TypeId::of::<C>(), key.clone()))
            .is_some_and(|(h, v)| *h == hash && version == Some(v))
    }

    pub(crate) fn forget<C: 'static>(&self, key: &ObjectKey) {
        self.remember::<C>(key, 0, None);
    }
}

/// Compared with that of other processes, of other versions too: see [`creator`].
pub(super) fn hash_of(intent: &Value) -> u64 {
    fnv1a(intent.to_string().as_bytes())
}

impl<C: Object> Child<'_, C> {
    /// The records of `live` with what this controller has created in the form of an apply.
    pub(super) fn as_applied(&self, live: &C) -> Vec<ManagedFieldsEntry> {
        let entries = live.meta().managed_fields.clone().unwrap_or_default();
        let (ours, mut others): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| self.is_ours(entry));
        // An `Apply` record of ours, if there is one already, is made anew by the apply that follows.
        if let Some(mut entry) = ours
            .into_iter()
            .find(|entry| entry.operation.as_deref() == Some("Update"))
        {
            entry.operation = Some("Apply".to_owned());
            entry.manager = Some(self.manager.to_owned());
            others.push(entry);
        }
        others
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
        let manager = entry.manager.as_deref().unwrap_or_default();
        let ours = manager.strip_prefix(self.manager);
        ours.is_some_and(|rest| rest.is_empty() || rest.starts_with(CREATED))
            && entry.subresource.as_deref().unwrap_or_default().is_empty()
    }
}
