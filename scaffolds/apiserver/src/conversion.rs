//! The conversion of a custom kind, as strategies have it: a function that brings an object to another version, and the
//! objects that were brought there. What the function does is known below, in `converters`.
//!
//! Converted objects are kept for as long as the records of which they were made: lists and watches do not convert an
//! object twice. Upstream's watch cache of each version does that.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::{status::Status, store::Record};

/// The number of entries at which entries of discarded records are removed for the first time.
const LEAST: usize = 256;

/// Brings an object to a version of its group.
pub type Call = dyn Fn(Value, &str) -> BoxFuture<'static, Result<Value, Status>> + Send + Sync;

/// The conversion of objects of one definition. A definition whose spec changes gets a new one, which remembers nothing.
pub struct Conversion {
    /// `None` if no client can be made of the configuration.
    call: Option<Box<Call>>,
    memory: Mutex<Entries>,
}

impl Conversion {
    /// A conversion by this function, which gets objects of other versions only.
    pub fn new(call: Box<Call>) -> Self {
        Self {
            call: Some(call),
            memory: Mutex::default(),
        }
    }

    /// The conversion of a kind whose webhook has a configuration of which no client can be made.
    pub fn impossible() -> Self {
        Self {
            call: None,
            memory: Mutex::default(),
        }
    }

    /// Refuses requests for a kind that can never be converted.
    ///
    /// # Errors
    /// 500, as upstream, which does not say why.
    pub fn check(&self) -> Result<(), Status> {
        self.caller().map(drop)
    }

    fn caller(&self) -> Result<&Call, Status> {
        let call = self.call.as_deref();
        call.ok_or_else(|| Status::internal("error resolving resource"))
    }

    /// Brings an object to a version of its group. One that is in that version already is returned unchanged.
    ///
    /// # Errors
    /// The Status with which a request is refused that needs the object.
    pub async fn convert(&self, object: Value, api_version: &str) -> Result<Value, Status> {
        match object.get("apiVersion").and_then(Value::as_str) == Some(api_version) {
            true => Ok(object),
            false => (self.caller()?)(object, api_version).await,
        }
    }

    /// The object of a record in another version, as it was brought there before.
    pub fn remembered(&self, record: &Arc<Record>, api_version: &str) -> Option<Arc<Record>> {
        let entries = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let found = entries.by_record.get(&address(record))?;
        let entry = found.iter().find(|entry| entry.api_version == api_version)?;
        Some(Arc::clone(&entry.converted))
    }

    /// Keeps the object of a record in another version, for as long as the record itself is kept. The first one stays.
    pub fn remember(&self, record: &Arc<Record>, api_version: &str, object: Bytes) -> Arc<Record> {
        let mut entries = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        entries.tidy();
        let found = entries.by_record.entry(address(record)).or_default();
        if let Some(entry) = found.iter().find(|entry| entry.api_version == api_version) {
            return Arc::clone(&entry.converted);
        }
        let converted = Arc::new(Record::new(record.key.clone(), record.revision, object));
        found.push(CachedConversion {
            record: Arc::downgrade(record),
            api_version: api_version.to_owned(),
            converted: Arc::clone(&converted),
        });
        converted
    }
}

#[derive(Default)]
struct Entries {
    /// By the record's address, which belongs to that record for as long as the entry exists.
    by_record: HashMap<usize, Vec<CachedConversion>>,
    /// The number of records at which entries are removed next.
    limit: usize,
}

struct CachedConversion {
    record: Weak<Record>,
    api_version: String,
    converted: Arc<Record>,
}

impl Entries {
    /// Removes the entries of records that nobody has any more, each time their number has doubled.
    fn tidy(&mut self) {
        if self.by_record.len() < self.limit.max(LEAST) {
            return;
        }
        self.by_record
            .retain(|_, entries| entries.iter().any(|entry| entry.record.strong_count() > 0));
        self.limit = 2 * self.by_record.len();
    }
}

fn address(record: &Arc<Record>) -> usize {
    Arc::as_ptr(record).addr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Key;

    fn nothing() -> Conversion {
        Conversion::new(Box::new(|object, _| Box::pin(async { Ok(object) })))
    }

    fn record(name: usize) -> Arc<Record> {
        Arc::new(Record::new(
            Key::new("g/things", "", &name.to_string()),
            1,
            Bytes::new(),
        ))
    }

    #[test]
    fn an_object_is_remembered_for_its_version() {
        let (it, one, other) = (nothing(), record(1), record(2));
        it.remember(&one, "g/v2", Bytes::from_static(b"two"));
        it.remember(&one, "g/v3", Bytes::from_static(b"three"));
        assert_eq!(it.remembered(&one, "g/v2").unwrap().object, "two");
        assert_eq!(it.remembered(&one, "g/v3").unwrap().object, "three");
        assert!(it.remembered(&one, "g/v4").is_none());
        assert!(it.remembered(&other, "g/v2").is_none());
    }

    #[test]
    fn objects_of_discarded_records_are_forgotten() {
        let (it, kept) = (nothing(), record(0));
        it.remember(&kept, "g/v2", Bytes::from_static(b"kept"));
        for name in 1..10 * LEAST {
            it.remember(&record(name), "g/v2", Bytes::new());
        }
        assert!(it.memory.lock().unwrap().by_record.len() <= 2 * LEAST);
        assert_eq!(it.remembered(&kept, "g/v2").unwrap().object, "kept");
    }
}
