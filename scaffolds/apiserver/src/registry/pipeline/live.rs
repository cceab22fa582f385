//! The stored object that a write starts from, and its change in the store.

use bytes::Bytes;
use serde_json::{Value, json};

use super::Work;
use crate::{
    meta,
    registry::{
        convert,
        record::{self, Draft},
        storage::{self, Target},
    },
    status::Status,
    store::{Key, Record},
};

/// An object that was stored.
pub enum Stored {
    /// As it is in memory; its text, if it is also the stored text.
    Here(Option<Bytes>),
    /// As this object, from which a webhook makes the one that readers get.
    Elsewhere(Value),
}

/// The present state of an object.
pub struct Live {
    pub key: Key,
    pub revision: u64,
    /// The text in the store.
    text: Bytes,
    /// The stored text decoded, if `object` differs from it.
    pub stored: Option<Value>,
    /// In the version of the request.
    pub object: Value,
}

impl Live {
    /// The object with this key, if it exists.
    ///
    /// # Errors
    /// 500 for a record that is not JSON, or that a webhook cannot convert.
    pub async fn read(work: &Work<'_>, key: &Key) -> Result<Option<Self>, Status> {
        let Some(record) = work.core.store.get(key) else {
            return Ok(None);
        };
        let object = convert::read(work.resource(), &record).await?;
        Self::of(work, key, &record, object).map(Some)
    }

    /// Like [`Live::read`], for an update: an object that was converted before is not converted again.
    ///
    /// # Errors
    /// As for [`Live::read`].
    pub async fn known(work: &Work<'_>, key: &Key) -> Result<Option<Self>, Status> {
        let Some(record) = work.core.store.get(key) else {
            return Ok(None);
        };
        let converted = match work.resource().rules().conversion() {
            Some(_) => &convert::one(work.resource(), &record).await?,
            None => &record,
        };
        let object = record::read(work.resource(), converted)?;
        Self::of(work, key, &record, object).map(Some)
    }

    /// Like [`Live::read`], as stored where a webhook would convert.
    ///
    /// # Errors
    /// 500 for a record that is not JSON.
    pub fn read_unconverted(work: &Work, key: &Key) -> Result<Option<Self>, Status> {
        let Some(record) = work.core.store.get(key) else {
            return Ok(None);
        };
        let object = record::read(work.resource(), &record)?;
        Self::of(work, key, &record, object).map(Some)
    }

    fn of(work: &Work, key: &Key, record: &Record, object: Value) -> Result<Self, Status> {
        let as_stored = record::is_as_stored(work.resource(), record);
        let stored = (!as_stored).then(|| record.read()).transpose()?;
        Ok(Self {
            key: key.clone(),
            revision: record.revision,
            text: record.object.clone(),
            stored,
            object,
        })
    }

    fn stored(&self) -> &Value {
        self.stored.as_ref().unwrap_or(&self.object)
    }

    /// Takes the fields that a write does not concern from the store: another version of a built-in kind may lose something
    /// of them. `other` is the next state in the storage version, if that is another one.
    pub fn keep_stored(&self, work: &Work, other: &mut Option<Value>, concerns: impl Fn(&str) -> bool) {
        let other = other.as_mut().and_then(Value::as_object_mut);
        let Some(other) = other.filter(|_| work.is_built_in()) else {
            return;
        };
        let stored = self.stored().as_object().into_iter().flatten();
        let kept = stored.filter(|(field, _)| !concerns(field));
        other.extend(kept.map(|(field, value)| (field.clone(), value.clone())));
    }

    /// Stores the next state if it differs. `other` is that state in the storage version, if that is another one. `None`
    /// when another writer came first.
    ///
    /// # Errors
    /// 500 for a state that is too large.
    pub fn write(
        &self,
        work: &Work,
        new: &mut Value,
        other: Option<Value>,
        dry_run: bool,
    ) -> Result<Option<Stored>, Status> {
        let is_converted = convert::is_converted(work.resource());
        let stored = other.as_ref().unwrap_or(new);
        if stored == self.stored() {
            return Ok(Some(match other {
                Some(other) if is_converted => Stored::Elsewhere(other),
                Some(_) => Stored::Here(None),
                None => Stored::Here(Some(self.text.clone())),
            }));
        }
        let (mut text, mut other) = (None, other);
        if !dry_run {
            let target = Target {
                key: &self.key,
                revision: self.revision,
            };
            let draft = storage::draft(work, &target, new, &mut other)?;
            let written = work
                .core
                .store
                .update(&self.key, self.revision, &|revision| draft.at(revision));
            let Ok(record) = written else { return Ok(None) };
            let revision = json!(record.revision.to_string());
            if let Some(other) = &mut other {
                meta::set(other, "resourceVersion", Some(revision.clone()));
            }
            meta::set(new, "resourceVersion", Some(revision));
            text = other.is_none().then(|| record.object.clone());
        }
        Ok(Some(match other.filter(|_| is_converted) {
            Some(other) => Stored::Elsewhere(other),
            None => Stored::Here(text),
        }))
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
