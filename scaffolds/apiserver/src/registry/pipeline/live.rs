//! The stored object that a write starts from, and its change in the store.

use bytes::Bytes;
use serde_json::{Value, json};

use super::Work;
use crate::{
    meta,
    registry::record::{self, Draft},
    status::Status,
    store::Key,
};

/// The present state of an object.
pub struct Live {
    pub key: Key,
    pub revision: u64,
    /// The text in the store.
    text: Bytes,
    /// The stored text decoded, if `object` differs from it.
    stored: Option<Value>,
    /// In the version of the request.
    pub object: Value,
}

impl Live {
    /// The object with this key, if it exists.
    ///
    /// # Errors
    /// 500 for a record that is not JSON.
    pub fn read(work: &Work, key: &Key) -> Result<Option<Self>, Status> {
        let Some(record) = work.core.store.get(key) else {
            return Ok(None);
        };
        let object = record::read(work.resource(), &record)?;
        let as_stored = record::is_as_stored(work.resource(), &record);
        let stored = (!as_stored).then(|| serde_json::from_slice(&record.object));
        Ok(Some(Self {
            key: key.clone(),
            revision: record.revision,
            text: record.object.clone(),
            stored: stored
                .transpose()
                .map_err(|error| Status::internal(&error.to_string()))?,
            object,
        }))
    }

    fn stored(&self) -> &Value {
        self.stored.as_ref().unwrap_or(&self.object)
    }

    /// Stores the next state if it differs, and returns its text if that is also the text of the answer. `None` when
    /// another writer came first.
    pub fn write(&self, work: &Work, new: &mut Value, dry_run: bool) -> Option<Option<Bytes>> {
        work.forget_empties(new);
        let other = record::settle(work.resource(), new);
        let stored = other.as_ref().unwrap_or(new);
        if stored == self.stored() {
            return Some(other.is_none().then(|| self.text.clone()));
        }
        if dry_run {
            return Some(None);
        }
        let draft = Draft::of(stored);
        let written = work
            .core
            .store
            .update(&self.key, self.revision, &|revision| draft.at(revision));
        let record = written.ok()?;
        meta::set(new, "resourceVersion", Some(json!(record.revision.to_string())));
        Some(other.is_none().then(|| record.object.clone()))
    }

    /// Deletes the object and returns its last state, with the revision of the deletion. `None` when another writer came
    /// first.
    pub fn delete(&self, work: &Work, dry_run: bool) -> Option<Value> {
        let mut last = self.object.clone();
        if dry_run {
            return Some(last);
        }
        let last_text = Draft::of(self.stored());
        let deleted = work
            .core
            .store
            .delete(&self.key, self.revision, &|revision| last_text.at(revision));
        let record = deleted.ok()?;
        work.resource().strategy.rules().release(&self.object, None);
        meta::set(&mut last, "resourceVersion", Some(json!(record.revision.to_string())));
        Some(last)
    }
}
