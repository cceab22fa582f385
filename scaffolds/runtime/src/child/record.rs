//! What earlier applies did: the child's `managedFields`, and what this process has sent.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use serde_json::Value;

use super::{Child, name::fnv1a};
use crate::{
    error::{Error, Result},
    informer::managed::fields,
    intent,
    key::ObjectKey,
    kind::KindId,
    object::AnyObject,
};

/// Separates the field manager from the hash of the intent.
const CREATED: char = '@';

/// The longest name of a field manager that Kubernetes accepts.
const MAX_MANAGER: usize = 128;

/// The field manager under which a child is created: the controller's field manager and the hash of the intent. A later
/// process reads both from `managedFields`: if the hash is that of its own intent, no field has been dropped since,
/// although the record contains fields that the server added. It compares the values itself.
pub(super) fn creator(manager: &str, hash: u64) -> String {
    let name = format!("{manager}{CREATED}{hash:016x}");
    if name.len() > MAX_MANAGER {
        manager.to_owned()
    } else {
        name
    }
}

/// What this process last applied to each child, by owner. The result need not be applied again, although the server
/// may store a value in another form than the intent has.
#[derive(Default)]
pub(crate) struct Applies(Mutex<HashMap<ObjectKey, HashMap<Slot, Last>>>);

/// A child's kind and name.
type Slot = (KindId, ObjectKey);

struct Last {
    /// The intent's hash.
    intent: u64,
    /// The resource version of the result: while the child has it, nothing needs to be compared.
    version: String,
    /// The hash of the resulting values, if they differ from those of the intent.
    values: Option<u64>,
}

impl Applies {
    /// Removes the entry of a child that is gone.
    pub(crate) fn forget(&self, kind: &KindId, owner: &ObjectKey, child: &ObjectKey) {
        let mut applies = self.lock();
        if let Some(children) = applies.get_mut(owner) {
            children.remove(&(kind.clone(), child.clone()));
            if children.is_empty() {
                applies.remove(owner);
            }
        }
    }

    /// Removes the entries of an owner that is gone.
    pub(crate) fn forget_owner(&self, owner: &ObjectKey) {
        self.lock().remove(owner);
    }

    /// Adds an entry as an apply of this child would.
    #[cfg(test)]
    pub(crate) fn note(&self, kind: &KindId, owner: &ObjectKey, child: &ObjectKey) {
        let last = Last {
            intent: 0,
            version: "1".to_owned(),
            values: None,
        };
        let mut applies = self.lock();
        let children = applies.entry(owner.clone()).or_default();
        children.insert((kind.clone(), child.clone()), last);
    }

    /// The numbers of owners and of children with an entry.
    #[cfg(test)]
    pub(crate) fn count(&self) -> (usize, usize) {
        let applies = self.lock();
        (applies.len(), applies.values().map(HashMap::len).sum())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ObjectKey, HashMap<Slot, Last>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A child as JSON, with this controller's `managedFields` entries.
pub(super) struct View {
    object: Value,
    /// Our entry; `None` if there is none, or more than one.
    pub(super) owned: Option<Owned>,
    records: Vec<Value>,
}

pub(super) struct Owned {
    pub(super) manager: String,
    fields: Value,
}

impl View {
    /// Whether the child has every value of the intent.
    pub(super) fn stands(&self, intent: &Value) -> bool {
        intent::stands(intent, &self.object, self.fields())
    }

    /// Whether we own a field that the intent does not name.
    pub(super) fn drops(&self, intent: &Value) -> bool {
        intent::drops(intent, self.fields())
    }

    /// All of our entries.
    pub(super) fn records(&self) -> &[Value] {
        &self.records
    }

    /// The child without these entries, and without the fields that every write changes.
    pub(super) fn beyond(mut self, records: &[Value]) -> Value {
        for record in records {
            intent::beyond(&mut self.object, record);
        }
        if let Some(metadata) = self.object["metadata"].as_object_mut() {
            for field in ["generation", "managedFields", "resourceVersion"] {
                metadata.remove(field);
            }
        }
        self.object
    }

    /// The hash of the child's values in the fields that the intent names.
    fn values(&self, intent: &Value) -> u64 {
        hash_of(&intent::selected(intent, &self.object, self.fields()))
    }

    fn fields(&self) -> &Value {
        self.owned.as_ref().map_or(&Value::Null, |owned| &owned.fields)
    }
}

/// Other processes compare this hash too, also of other versions: see [`creator`].
pub(super) fn hash_of(intent: &Value) -> u64 {
    fnv1a(intent.to_string().as_bytes())
}

impl<C: AnyObject> Child<'_, C> {
    pub(super) fn view(&self, object: &C) -> Result<View> {
        let mut owned: Vec<_> = self
            .entries(object)
            .filter_map(|entry| {
                let manager = entry.manager.clone().unwrap_or_default();
                let fields = fields(entry)?.into_owned();
                Some(Owned { manager, fields })
            })
            .collect();
        let records = owned.iter().map(|owned| owned.fields.clone()).collect();
        Ok(View {
            object: serde_json::to_value(object).map_err(Error::retry)?,
            owned: if owned.len() == 1 { owned.pop() } else { None },
            records,
        })
    }

    /// Remembers the result of an apply or a create.
    pub(super) fn remember(&self, hash: u64, written: &C) -> Result<()> {
        let Some(version) = written.meta().resource_version.clone() else {
            return Ok(());
        };
        let view = self.view(written)?;
        let last = Last {
            intent: hash,
            version,
            values: (!view.stands(&self.intent)).then(|| view.values(&self.intent)),
        };
        let mut applies = self.applies.lock();
        let children = applies.entry(self.owner_key.clone()).or_default();
        children.insert(self.slot(), last);
        Ok(())
    }

    /// Whether the child still has the resource version that resulted from this intent.
    pub(super) fn last_made(&self, hash: u64, version: Option<&str>) -> bool {
        self.last(|last| last.intent == hash && version == Some(&last.version))
    }

    /// Whether the child has the values that resulted from this intent before.
    pub(super) fn last_came_to(&self, hash: u64, view: &View) -> bool {
        self.last(|last| last.intent == hash && last.values == Some(view.values(&self.intent)))
    }

    fn last(&self, holds: impl FnOnce(&Last) -> bool) -> bool {
        let applies = self.applies.lock();
        let last = applies
            .get(self.owner_key)
            .and_then(|children| children.get(&self.slot()));
        last.is_some_and(holds)
    }

    fn slot(&self) -> Slot {
        (self.requests.kind().id().clone(), self.key.clone())
    }

    /// The `managedFields` of `live`, with the fields that this controller created recorded as applied.
    pub(super) fn as_applied(&self, live: &C) -> Vec<ManagedFieldsEntry> {
        let entries = live.meta().managed_fields.clone().unwrap_or_default();
        let (ours, mut others): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| self.is_ours(entry));
        // The apply that follows replaces our `Apply` entry, if there is one.
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
