//! Create, update and delete: each is one change with a revision of its own.

use std::sync::Arc;

use bytes::Bytes;

use super::{Change, Key, Kind, Record, State, Store};

/// The object exists already.
#[derive(Clone, Debug)]
pub struct Exists(pub Arc<Record>);

/// The object is not in the expected state.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The present record; `None` if the object is gone.
    pub current: Option<Arc<Record>>,
}

impl Store {
    /// Adds an object. `object` gets the revision and returns the text that contains it; it is called at most once.
    ///
    /// # Errors
    /// The existing object.
    pub fn create(&self, key: &Key, object: &dyn Fn(u64) -> Bytes) -> Result<Arc<Record>, Exists> {
        self.change(key, |current| match current {
            Some(current) => Err(Exists(Arc::clone(current))),
            None => Ok((Kind::Created, object)),
        })
    }

    /// Replaces the object of revision `expected`.
    ///
    /// # Errors
    /// The present state of the object.
    pub fn update(&self, key: &Key, expected: u64, object: &dyn Fn(u64) -> Bytes) -> Result<Arc<Record>, Changed> {
        self.change(key, |current| is(current, expected).map(|()| (Kind::Updated, object)))
    }

    /// Deletes the object of revision `expected`. `last` gives its last state with the revision of the deletion, which
    /// watchers get.
    ///
    /// # Errors
    /// The present state of the object.
    pub fn delete(&self, key: &Key, expected: u64, last: &dyn Fn(u64) -> Bytes) -> Result<Arc<Record>, Changed> {
        self.change(key, |current| is(current, expected).map(|()| (Kind::Deleted, last)))
    }

    fn change<'a, E>(
        &self,
        key: &Key,
        decide: impl FnOnce(Option<&Arc<Record>>) -> Result<(Kind, &'a dyn Fn(u64) -> Bytes), E>,
    ) -> Result<Arc<Record>, E> {
        let mut state = self.lock();
        let path = key.path();
        let previous = state
            .shelves
            .get(&key.resource)
            .and_then(|shelf| shelf.get(&path))
            .cloned();
        let (kind, object) = decide(previous.as_ref())?;
        let revision = state.revision.saturating_add(1);
        let record = Arc::new(Record::new(key.clone(), revision, object(revision)));
        let change = Arc::new(Change {
            revision,
            kind,
            record: Arc::clone(&record),
            previous,
        });
        state.apply(&path, &change);
        // While the lock is held, so that changes reach the disk in order.
        let settled = self.take(&change);
        drop(state);
        if settled {
            self.inner.settle(revision);
        }
        Ok(record)
    }
}

impl State {
    fn apply(&mut self, path: &str, change: &Arc<Change>) {
        let key = &change.record.key;
        self.revision = change.revision;
        self.shelves.entry(&key.resource).apply(path, change);
        self.changes.push(change);
    }
}

fn is(current: Option<&Arc<Record>>, expected: u64) -> Result<(), Changed> {
    match current {
        Some(record) if record.revision == expected => Ok(()),
        other => Err(Changed {
            current: other.cloned(),
        }),
    }
}
