//! Changes that are settled, so that clients may see them: in memory every change at once; on disk those that are
//! written.

use std::{sync::Arc, task::Waker};

use tokio::sync::watch;

use super::{Change, SharedStore, Store, StoreState};

/// The disk has failed, for this reason: no change since the last settled one may be shown to a client.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lost(pub Arc<str>);

/// The progress of settling.
#[derive(Clone, Debug)]
pub(super) enum Progress {
    /// This revision and all earlier ones are settled.
    Settled(u64),
    /// Writing to disk has failed, for this reason.
    #[cfg(feature = "persist")]
    Failed(Arc<str>),
}

/// Publishes which changes have settled.
pub(super) struct Settle(watch::Sender<Progress>);

impl Settle {
    pub fn at(revision: u64) -> Self {
        Self(watch::Sender::new(Progress::Settled(revision)))
    }

    /// Publishes progress, which never decreases.
    pub fn say(&self, progress: Progress) {
        self.0.send_if_modified(|said| {
            let news = match (&*said, &progress) {
                (Progress::Settled(said), Progress::Settled(now)) => now > said,
                #[cfg(feature = "persist")]
                (_, Progress::Failed(_)) => true,
                #[cfg(feature = "persist")]
                (Progress::Failed(_), _) => false,
            };
            if news {
                *said = progress;
            }
            news
        });
    }
}

impl Store {
    /// Waits until all changes in the store are settled: in memory at once, otherwise once they are on disk. Many tasks
    /// that wait at the same time share one write.
    ///
    /// # Errors
    /// The disk failed. The changes must not be acknowledged.
    pub async fn settled(&self) -> Result<(), Lost> {
        self.reached(self.revision()).await
    }

    /// Waits until the store reaches this revision and it is settled.
    ///
    /// # Errors
    /// The disk failed.
    pub async fn reached(&self, revision: u64) -> Result<(), Lost> {
        let mut progress = self.inner.settle.0.subscribe();
        let arrived = |progress: &Progress| match progress {
            Progress::Settled(settled) => *settled >= revision,
            #[cfg(feature = "persist")]
            Progress::Failed(_) => true,
        };
        match progress.wait_for(arrived).await.as_deref() {
            #[cfg(feature = "persist")]
            Ok(Progress::Failed(why)) => Err(Lost(Arc::clone(why))),
            // The store has the sender, so there is an answer.
            _ => Ok(()),
        }
    }

    /// The failure of the disk, if it has failed.
    pub fn failure(&self) -> Option<Lost> {
        match &*self.inner.settle.0.borrow() {
            Progress::Settled(_) => None,
            #[cfg(feature = "persist")]
            Progress::Failed(why) => Some(Lost(Arc::clone(why))),
        }
    }

    /// Waits until the disk fails.
    #[cfg(feature = "persist")]
    pub async fn failed(&self) -> Lost {
        loop {
            if let Err(lost) = self.reached(u64::MAX).await {
                return lost;
            }
        }
    }

    /// Passes a new change to the disk. Returns whether the change is settled at once.
    #[cfg(feature = "persist")]
    pub(super) fn take(&self, change: &Arc<Change>) -> bool {
        if let Some(disk) = &self.disk {
            disk.take(Arc::clone(change));
        }
        self.disk.is_none()
    }

    /// Passes a new change to the disk. Returns whether the change is settled at once.
    #[cfg(not(feature = "persist"))]
    pub(super) fn take(&self, _change: &Arc<Change>) -> bool {
        true
    }
}

impl SharedStore {
    /// Marks the changes up to this revision as settled, and wakes the tasks that wait for them.
    pub fn settle(&self, revision: u64) {
        let woken = self.lock().settle(revision);
        self.settle.say(Progress::Settled(revision));
        woken.into_iter().for_each(Waker::wake);
    }
}

impl StoreState {
    /// Returns the wakers to call once the lock is released.
    pub fn settle(&mut self, revision: u64) -> Vec<Waker> {
        let mut woken = Vec::new();
        for revision in self.settled.saturating_add(1)..=revision {
            let Some(shelf) = self
                .changes
                .resource(revision)
                .and_then(|resource| self.shelves.get_mut(resource))
            else {
                continue;
            };
            let change = shelf.log.after(revision.saturating_sub(1)).next().map(Arc::clone);
            if let Some(change) = change {
                shelf.bells.ring(&change, &mut woken);
            }
        }
        woken.extend(self.followers.values_mut().filter_map(Option::take));
        self.settled = self.settled.max(revision);
        self.changes.trim(self.settled, &mut self.shelves);
        woken
    }
}
