//! Which changes may be told. In memory that is every change at once; on disk, those that are written there.

use std::{sync::Arc, task::Waker};

use super::{Change, State, Store};

/// The disk takes no more: nothing that was changed since its last answer may be told to anybody.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Lost;

/// The way of changes to the disk; none in memory.
#[derive(Default)]
pub(super) struct Settle {
    #[cfg(feature = "persist")]
    disk: Option<super::persist::Disk>,
}

#[cfg(not(feature = "persist"))]
impl Settle {
    pub fn is_immediate(&self) -> bool {
        true
    }

    pub fn take(&self, _change: Arc<Change>) {}

    async fn reaches(&self, _revision: u64) -> Result<(), Lost> {
        Ok(())
    }
}

#[cfg(feature = "persist")]
impl Settle {
    pub fn on(disk: super::persist::Disk) -> Self {
        Self { disk: Some(disk) }
    }

    /// Whether changes may be told as soon as they are made.
    pub fn is_immediate(&self) -> bool {
        self.disk.is_none()
    }

    /// A change to write.
    pub fn take(&self, change: Arc<Change>) {
        if let Some(disk) = &self.disk {
            disk.take(change);
        }
    }

    async fn reaches(&self, revision: u64) -> Result<(), Lost> {
        match &self.disk {
            Some(disk) => disk.reaches(revision).await,
            None => Ok(()),
        }
    }
}

impl Store {
    /// Waits until all that the store holds may be told: at once in memory, after the disk has it otherwise. Many waiting
    /// at the same time share one write.
    ///
    /// # Errors
    /// The disk failed. What was changed must not be acknowledged.
    pub async fn settled(&self) -> Result<(), Lost> {
        let revision = self.revision();
        self.0.settle.reaches(revision).await
    }
}

impl State {
    /// The changes up to this revision may be told. Returns whom to wake for it, once the lock is released.
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
                shelf.bells.ring(&change.record.key, &mut woken);
            }
        }
        self.settled = self.settled.max(revision);
        self.changes.trim(self.settled, &mut self.shelves);
        woken
    }
}
