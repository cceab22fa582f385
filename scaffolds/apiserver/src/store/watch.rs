//! Watches: the changes of a range, as they come. A watch is a position in the history, not a queue: its cost does not
//! depend on how slow its reader is, and it ends when the history has discarded a change that its reader has yet to
//! see.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures::Stream;

use super::{Change, Compacted, Range, Store};

/// The number of changes read from the history at a time: few enough to take little memory, and enough to take the lock
/// rarely.
const BATCH: usize = 64;

/// A stream of the changes of a range. It ends after an error: the history has lost a change that was not yet
/// read.
pub struct Watch {
    store: Store,
    range: Range,
    watcher: u64,
    /// All changes of the range up to this revision have been returned or are in `batch`.
    position: u64,
    batch: VecDeque<Arc<Change>>,
    ended: bool,
}

impl Store {
    /// The changes of a range after a revision. If the revision lies in the future, the watch waits for it.
    ///
    /// # Errors
    /// The history does not go back to the revision.
    pub fn watch(&self, range: &Range, after: u64) -> Result<Watch, Compacted> {
        let mut state = self.lock();
        let oldest = state.changes.oldest();
        if after < oldest {
            return Err(Compacted { oldest });
        }
        let scope = (range.namespace.clone(), range.name.clone());
        let watcher = state.shelves.entry(&range.resource).bells.join(&scope);
        drop(state);
        Ok(Watch {
            store: self.clone(),
            range: range.clone(),
            watcher,
            position: after,
            batch: VecDeque::new(),
            ended: false,
        })
    }
}

impl Watch {
    /// The revision up to which all changes of the range have been returned; bookmarks report it.
    pub fn position(&self) -> u64 {
        self.batch
            .front()
            .map_or(self.position, |next| next.revision.saturating_sub(1))
    }

    /// Reads changes from the history, or registers to be woken.
    fn read(&mut self, context: &Context<'_>) -> Result<(), Compacted> {
        let mut state = self.store.lock();
        let (settled, oldest) = (state.settled, state.changes.oldest());
        let scope = (self.range.namespace.clone(), self.range.name.clone());
        let shelf = state.shelves.entry(&self.range.resource);
        if shelf.bells.lost(&scope) > self.position {
            return Err(Compacted { oldest });
        }
        let unread = shelf.bells.unread(&scope, self.watcher, self.position);
        let mut looked = 0_u64;
        let settled_changes = shelf.log.after(unread).take_while(|change| change.revision <= settled);
        let mut wanted = settled_changes
            .inspect(|_| looked = looked.saturating_add(1))
            .filter(|change| self.range.holds(&change.record.key));
        self.batch.extend(wanted.by_ref().take(BATCH).cloned());
        match (self.batch.len() < BATCH, self.batch.back()) {
            (false, Some(last)) => self.position = last.revision,
            _ => self.position = self.position.max(settled),
        }
        if self.batch.is_empty() {
            shelf.bells.wait(&scope, self.watcher, context.waker());
        }
        state.looked = state.looked.saturating_add(looked);
        Ok(())
    }
}

impl Stream for Watch {
    type Item = Result<Arc<Change>, Compacted>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        if self.batch.is_empty()
            && let Err(compacted) = self.read(context)
        {
            self.ended = true;
            return Poll::Ready(Some(Err(compacted)));
        }
        match self.batch.pop_front() {
            Some(change) => Poll::Ready(Some(Ok(change))),
            None => Poll::Pending,
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut state = self.store.lock();
        if let Some(shelf) = state.shelves.get_mut(&self.range.resource) {
            let scope = (self.range.namespace.clone(), self.range.name.clone());
            shelf.bells.leave(&scope, self.watcher);
        }
    }
}
