//! Objects of a range in order, a page at a time, as they are or as they were.

use std::sync::Arc;

use super::{Compacted, Range, Record, Store, past, past::Undone};

/// A page of a list.
#[derive(Debug)]
pub struct Page {
    /// What the objects are a state of: the revision asked for, or the store's.
    pub revision: u64,
    /// In etcd's order of their namespaces and names.
    pub records: Vec<Arc<Record>>,
    /// How many more there are behind the last of them.
    pub remaining: usize,
}

impl Store {
    /// The objects of a range: now, or `at` an earlier revision; from a place on, when there is one; at most `limit`,
    /// unless that is 0.
    ///
    /// # Errors
    /// When the history does not go back to `at`. A revision that is yet to come is the store's own.
    pub fn list(
        &self,
        range: &Range,
        at: Option<u64>,
        from: Option<&super::Key>,
        limit: usize,
    ) -> Result<Page, Compacted> {
        let from = from.map(super::Key::path).unwrap_or_default();
        self.page(range, at, (&from, limit))
    }

    /// Like [`Store::list`], from a path on that need not be that of a key.
    pub(crate) fn page(&self, range: &Range, at: Option<u64>, (from, limit): (&str, usize)) -> Result<Page, Compacted> {
        let state = self.lock();
        let oldest = state.changes.oldest();
        let revision = at.map_or(state.revision, |at| at.min(state.revision));
        if revision < oldest {
            return Err(Compacted { oldest });
        }
        let mut page = Page {
            revision,
            records: Vec::new(),
            remaining: 0,
        };
        if let Some(shelf) = state.shelves.get(&range.resource) {
            let undone = if revision == state.revision {
                Undone::new()
            } else {
                past::undone(shelf, range, revision)
            };
            let mut objects = past::objects(shelf, range, &undone, from);
            let most = if limit == 0 { usize::MAX } else { limit };
            page.records.extend(objects.by_ref().take(most).cloned());
            page.remaining = match page.records.last() {
                Some(last) if undone.is_empty() && range.name.is_none() => shelf.behind(range, &last.key.path()),
                _ => objects.count(),
            };
        }
        Ok(page)
    }
}
