//! Which changes may be told. In memory that is every change at once; on disk, those that are written there.

use std::{sync::Arc, task::Waker};

use tokio::sync::watch;

use super::{Change, Inner, State, Store};

/// The disk takes no more: nothing that was changed since its last answer may be told to anybody.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Lost;

/// How far the settling is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Progress {
    /// This revision and all before may be told.
    Settled(u64),
    /// The disk failed.
    #[cfg(feature = "persist")]
    Failed,
}

/// Says which changes have settled.
pub(super) struct Settle(watch::Sender<Progress>);

impl Settle {
    pub fn at(revision: u64) -> Self {
        Self(watch::Sender::new(Progress::Settled(revision)))
    }

    /// Says how far it is. Progress never goes back.
    pub fn say(&self, progress: Progress) {
        self.0.send_if_modified(|said| {
            let news = match (&*said, &progress) {
                (Progress::Settled(said), Progress::Settled(now)) => now > said,
                #[cfg(feature = "persist")]
                (_, Progress::Failed) => true,
                #[cfg(feature = "persist")]
                (Progress::Failed, _) => false,
            };
            if news {
                *said = progress;
            }
            news
        });
    }
}

impl Store {
    /// Waits until all that the store holds may be told: at once in memory, after the disk has it otherwise. Many waiting
    /// at the same time share one write.
    ///
    /// # Errors
    /// The disk failed. What was changed must not be acknowledged.
    pub async fn settled(&self) -> Result<(), Lost> {
        self.reached(self.revision()).await
    }

    /// Waits until there is this revision, and it may be told.
    ///
    /// # Errors
    /// The disk failed.
    pub async fn reached(&self, revision: u64) -> Result<(), Lost> {
        let mut progress = self.inner.settle.0.subscribe();
        let arrived = |progress: &Progress| match progress {
            Progress::Settled(settled) => *settled >= revision,
            #[cfg(feature = "persist")]
            Progress::Failed => true,
        };
        match progress.wait_for(arrived).await.as_deref() {
            Ok(Progress::Settled(_)) => Ok(()),
            _ => Err(Lost),
        }
    }

    /// Takes a change that was just made. Returns whether it may be told at once.
    #[cfg(feature = "persist")]
    pub(super) fn take(&self, change: &Arc<Change>) -> bool {
        if let Some(disk) = &self.disk {
            disk.take(Arc::clone(change));
        }
        self.disk.is_none()
    }

    /// Takes a change that was just made. Returns whether it may be told at once.
    #[cfg(not(feature = "persist"))]
    pub(super) fn take(&self, _change: &Arc<Change>) -> bool {
        true
    }
}

impl Inner {
    /// The changes up to this revision may be told: wakes who waits for them.
    pub fn settle(&self, revision: u64) {
        let woken = self.lock().settle(revision);
        self.settle.say(Progress::Settled(revision));
        woken.into_iter().for_each(Waker::wake);
    }
}

impl State {
    /// Returns whom to wake, once the lock is released.
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
