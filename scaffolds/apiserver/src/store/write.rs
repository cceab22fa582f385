//! Create, update and delete: each is one change with a revision of its own.

use std::sync::Arc;

use bytes::Bytes;

use super::{Change, ChangeKind, Key, Record, Store, StoreState};

/// The object exists already.
#[derive(Clone, Copy, Debug)]
pub struct Exists;

/// The object is not in the expected state.
#[derive(Clone, Copy, Debug)]
pub struct Changed;

impl Store {
    /// Adds an object. `object` is told the revision and gives the text with it inside; it is called once at most.
    ///
    /// # Errors
    /// When there is one already.
    pub fn create(&self, key: &Key, object: &dyn Fn(u64) -> Bytes) -> Result<Arc<Record>, Exists> {
        self.change(key, |current| match current {
            Some(_) => Err(Exists),
            None => Ok((ChangeKind::Created, object)),
        })
    }

    /// Replaces the object of revision `expected`.
    ///
    /// # Errors
    /// When it has another revision, or is gone.
    pub fn update(&self, key: &Key, expected: u64, object: &dyn Fn(u64) -> Bytes) -> Result<Arc<Record>, Changed> {
        self.change(key, |current| {
            is(current, expected).map(|()| (ChangeKind::Updated, object))
        })
    }

    /// Takes away the object of revision `expected`. `last` gives its last state, with the revision of the deletion: that
    /// is what watchers get.
    ///
    /// # Errors
    /// When it has another revision, or is gone.
    pub fn delete(&self, key: &Key, expected: u64, last: &dyn Fn(u64) -> Bytes) -> Result<Arc<Record>, Changed> {
        self.change(key, |current| {
            is(current, expected).map(|()| (ChangeKind::Deleted, last))
        })
    }

    fn change<'a, E>(
        &self,
        key: &Key,
        decide: impl FnOnce(Option<&Arc<Record>>) -> Result<(ChangeKind, &'a dyn Fn(u64) -> Bytes), E>,
    ) -> Result<Arc<Record>, E> {
        let mut state = self.lock();
        let path = key.path();
        let previous = state
            .shelves
            .get(&key.resource)
            .and_then(|shelf| shelf.get(&path))
            .cloned();
        let (kind, object) = decide(previous.as_ref())?;
        let present = state.revision;
        state.age.pass(present);
        let revision = present.saturating_add(1);
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

impl StoreState {
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
        _ => Err(Changed),
    }
}
