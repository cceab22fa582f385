//! A child as the API server has it, and which of its fields are this controller's.

use std::borrow::Cow;

use serde_json::Value;

use super::name::{CREATED, Creator, hash_of};
use crate::intent::{self, fields};

/// A child as JSON, with this controller's `managedFields` entries.
pub(super) struct View {
    object: Value,
    entries: Vec<ManagerEntry>,
    /// The fields of all these entries, if there are several.
    owned: Option<Value>,
}

pub(super) struct ManagerEntry {
    pub manager: String,
    /// Whether the fields were applied, so that the next apply removes those that it does not name.
    pub applied: bool,
    pub fields: Value,
}

impl View {
    pub(super) fn new(object: Value, entries: Vec<ManagerEntry>) -> Self {
        Self {
            object,
            owned: (entries.len() > 1).then(|| joined(entries.iter()).into_owned()),
            entries,
        }
    }

    /// The fields of all entries.
    fn owned(&self) -> &Value {
        let one = self.entries.first().map(|entry| &entry.fields);
        self.owned.as_ref().or(one).unwrap_or(&Value::Null)
    }

    /// Whether any field is recorded as ours.
    pub(super) fn is_recorded(&self) -> bool {
        !self.entries.is_empty()
    }

    /// Whether any field is recorded as applied.
    pub(super) fn is_applied(&self) -> bool {
        self.entries.iter().any(|entry| entry.applied)
    }

    /// Whether an entry has the fields of an intent that has this creator.
    pub(super) fn is_made_by(&self, creator: &Creator) -> bool {
        self.entries.iter().any(|entry| creator.is(&entry.manager))
    }

    /// Whether the child has every value of the intent.
    pub(super) fn meets(&self, intent: &Value) -> bool {
        intent::is_met(intent, &self.object, self.owned())
    }

    /// The fields that we own and the intent does not name.
    ///
    /// Once anything is applied, the entry of the create does not count: its fields are applied too, but for those that
    /// the server added. Nor does the entry of an intent with the same fields, whose creator is `made`.
    pub(super) fn surplus(&self, intent: &Value, made: Option<&Creator>) -> Value {
        let applied = self.is_applied();
        let counts = |entry: &&ManagerEntry| {
            let created = entry.manager.contains(CREATED);
            entry.applied || !(applied && created || made.is_some_and(|made| made.is(&entry.manager)))
        };
        fields::surplus(intent, joined(self.entries.iter().filter(counts)).as_ref())
    }

    /// Whether we own fields that the intent does not name.
    pub(super) fn has_surplus(&self, intent: &Value) -> bool {
        !self.surplus(intent, None).is_null()
    }

    /// The fields that an apply does not remove.
    pub(super) fn kept_by_apply(&self) -> Cow<'_, Value> {
        joined(self.entries.iter().filter(|entry| !entry.applied))
    }

    /// The operations that bring the child to the intent and remove `gone`; `None` if only an apply can.
    pub(super) fn steps(&self, intent: &Value, gone: &Value) -> Option<Vec<Value>> {
        intent::steps(intent, &self.object, self.owned(), gone)
    }

    /// Whether `self`, the response to a write, contains changes that others made after `known`.
    pub(super) fn shows_others(mut self, mut known: Self) -> bool {
        let [mut before, mut after] = [&mut known, &mut self].map(|view| std::mem::take(&mut view.object));
        for object in [&mut before, &mut after] {
            beyond(object, [known.owned(), self.owned()]);
        }
        before != after
    }

    /// The hash of the child's values in the fields that the intent names.
    pub(super) fn values(&self, intent: &Value) -> u64 {
        hash_of(&intent::selected(intent, &self.object, self.owned()))
    }
}

/// Removes these fields, and those that every write changes.
fn beyond(object: &mut Value, owned: [&Value; 2]) {
    for fields in owned {
        intent::beyond(object, fields);
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in ["generation", "managedFields", "resourceVersion"] {
            metadata.remove(field);
        }
    }
}

/// The fields of several entries; the fields of a single entry, as most children have, are not copied.
fn joined<'e>(mut entries: impl Iterator<Item = &'e ManagerEntry>) -> Cow<'e, Value> {
    let Some(first) = entries.next() else {
        return Cow::Owned(Value::Null);
    };
    entries.fold(Cow::Borrowed(&first.fields), |mut all, entry| {
        fields::add(all.to_mut(), entry.fields.clone());
        all
    })
}
