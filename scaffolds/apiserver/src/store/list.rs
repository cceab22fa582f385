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

/// Where a page begins and ends.
#[derive(Clone, Copy)]
pub(crate) struct Cut<'a, F> {
    /// The least path, as [`crate::store::Key::path`] writes them; empty for the first page.
    pub from: &'a str,
    /// At most this many objects; 0 for all.
    pub limit: usize,
    /// Which objects are wanted at all.
    pub wanted: F,
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
        self.page(
            range,
            at,
            Cut {
                from: &from,
                limit,
                wanted: |_: &Record| true,
            },
        )
    }

    /// Like [`Store::list`], for some objects only; `remaining` counts the others too.
    pub(crate) fn page(
        &self,
        range: &Range,
        at: Option<u64>,
        cut: Cut<'_, impl Fn(&Record) -> bool>,
    ) -> Result<Page, Compacted> {
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
            page.fill(past::objects(shelf, range, &undone, cut.from), &cut);
        }
        Ok(page)
    }
}

impl Page {
    fn fill<'a>(
        &mut self,
        mut objects: impl Iterator<Item = &'a Arc<Record>>,
        cut: &Cut<'_, impl Fn(&Record) -> bool>,
    ) {
        while let Some(record) = objects.next() {
            if !(cut.wanted)(record) {
                continue;
            }
            if cut.limit > 0 && self.records.len() == cut.limit {
                self.remaining = 1 + objects.count();
                return;
            }
            self.records.push(Arc::clone(record));
        }
    }
}
