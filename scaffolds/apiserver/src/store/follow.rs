//! A stream of the changes of all resources, in order. Controllers use it, because they do not know in advance which
//! kinds there will be.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use super::{Change, Compacted, Range, Record, Store, StoreState};

/// The maximum number of changes in a batch, so that a follower yields between batches.
const BATCH: usize = 256;

/// The changes of all resources after a revision. Like a watch it is a position in the history and not a queue, so its
/// cost does not depend on how far its reader lags.
pub struct Follow {
    store: Store,
    follower: u64,
    position: u64,
}

impl Store {
    /// All objects at one moment, ordered by resource and key, and every change after it.
    pub fn follow(&self) -> (Vec<Arc<Record>>, Follow) {
        let mut state = self.lock();
        let records: Vec<Arc<Record>> = state.shelves.all().flat_map(|shelf| shelf.all().cloned()).collect();
        let (follower, position) = (state.next_follower(), state.revision);
        state.looked = state.looked.saturating_add(records.len() as u64);
        drop(state);
        let follow = Follow {
            store: self.clone(),
            follower,
            position,
        };
        (records, follow)
    }

    /// All objects of a namespace, of all resources, at the returned revision.
    pub fn contents(&self, namespace: &str) -> (u64, Vec<Arc<Record>>) {
        let mut state = self.lock();
        let range = Range::new("", namespace);
        let shelves = state.shelves.all();
        let records: Vec<Arc<Record>> = shelves
            .flat_map(|shelf| shelf.from(&range, "").map(|(_, record)| Arc::clone(record)))
            .collect();
        state.looked = state.looked.saturating_add(records.len() as u64);
        (state.revision, records)
    }

    /// The changes of a resource after a revision, oldest first.
    ///
    /// # Errors
    /// The history does not go back to the revision.
    pub fn since(&self, resource: &str, revision: u64) -> Result<Vec<Arc<Change>>, Compacted> {
        let mut state = self.lock();
        let oldest = state.changes.oldest();
        if revision < oldest {
            return Err(Compacted { oldest });
        }
        let log = state.shelves.get(resource).map(|shelf| shelf.log.after(revision));
        let changes: Vec<Arc<Change>> = log.into_iter().flatten().cloned().collect();
        state.looked = state.looked.saturating_add(changes.len() as u64);
        Ok(changes)
    }
}

impl Follow {
    /// The next changes, at least one, in their order. An error when the history lost some that were not yet read.
    pub async fn next(&mut self) -> Result<Vec<Arc<Change>>, Compacted> {
        poll_fn(|context| self.read(context)).await
    }

    fn read(&mut self, context: &Context<'_>) -> Poll<Result<Vec<Arc<Change>>, Compacted>> {
        let mut state = self.store.lock();
        let oldest = state.changes.oldest();
        if self.position < oldest {
            return Poll::Ready(Err(Compacted { oldest }));
        }
        let revisions = self.position.saturating_add(1)..=state.settled;
        let changes: Vec<_> = revisions.map_while(|it| state.change_at(it)).take(BATCH).collect();
        state.looked = state.looked.saturating_add(changes.len() as u64);
        if let Some(last) = changes.last() {
            self.position = last.revision;
            return Poll::Ready(Ok(changes));
        }
        state.followers.insert(self.follower, Some(context.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        self.store.lock().followers.remove(&self.follower);
    }
}

impl StoreState {
    fn next_follower(&mut self) -> u64 {
        let last = self.followers.last_key_value().map_or(0, |(follower, _)| *follower);
        let next = last.saturating_add(1);
        self.followers.insert(next, None);
        next
    }

    /// The change with this revision, while it is kept.
    pub(super) fn change_at(&self, revision: u64) -> Option<Arc<Change>> {
        let shelf = self.shelves.get(self.changes.resource(revision)?)?;
        shelf.log.after(revision.saturating_sub(1)).next().cloned()
    }
}
