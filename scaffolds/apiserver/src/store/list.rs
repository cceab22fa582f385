//! Lists the objects of a range in order, in pages, at the present or at an earlier revision.

use std::sync::Arc;

use super::{Compacted, Range, Record, Store, StoreState, past, past::Undone};

/// A page of a list.
#[derive(Debug)]
pub struct Page {
    /// The revision of the objects: the requested one, or the store's.
    pub revision: u64,
    /// In etcd's order of their keys.
    pub records: Vec<Arc<Record>>,
    /// The number of objects after the last record.
    pub remaining: usize,
}

impl Store {
    /// The objects of a range: at present, or at the revision `at`; beginning with the key `from`, if there is one; at
    /// most `limit`, unless that is 0.
    ///
    /// # Errors
    /// The history does not go back to `at`, or that state is too old. A revision in the future counts as the present one.
    pub fn list(
        &self,
        range: &Range,
        at: Option<u64>,
        from: Option<&super::Key>,
        limit: usize,
    ) -> Result<Page, Compacted> {
        let from = from.map(super::Key::path).unwrap_or_default();
        self.page(range, at, &from, limit)
    }

    /// The present objects of a resource, in this namespace unless it is empty.
    pub fn all(&self, resource: &str, namespace: &str) -> Vec<Arc<Record>> {
        // Cannot fail: the present revision is never compacted.
        let page = self.list(&Range::new(resource, namespace), None, None, 0);
        page.map(|page| page.records).unwrap_or_default()
    }

    /// Like [`Store::list`], but starts at a path, which need not be the path of an object.
    pub(crate) fn page(&self, range: &Range, at: Option<u64>, from: &str, limit: usize) -> Result<Page, Compacted> {
        let mut state = self.lock();
        let present = state.revision;
        let oldest = state.changes.oldest().max(state.age.pass(present));
        let revision = at.map_or(present, |at| at.min(present));
        if revision < oldest {
            return Err(Compacted { oldest });
        }
        let mut page = Page {
            revision,
            records: Vec::new(),
            remaining: 0,
        };
        let mut looked = 0;
        if let Some(shelf) = state.shelves.get(&range.resource) {
            let undone = match revision >= shelf.changed {
                true => Undone::new(),
                false => past::undone(shelf, range, revision),
            };
            let mut passed = 0;
            let mut objects = past::objects(shelf, range, &undone, from)
                .inspect(|_| passed += 1)
                .filter(|record| range.holds(&record.key));
            let most = if limit == 0 { usize::MAX } else { limit };
            page.records.extend(objects.by_ref().take(most).cloned());
            match page.records.last().filter(|_| limit > 0) {
                Some(_) if range.name.is_some() => page.remaining = objects.count(),
                Some(last) => {
                    let known = match from.is_empty() && undone.is_empty() {
                        true => Some(shelf.left.now(range)),
                        false => shelf.left.from(range, revision, from),
                    };
                    page.remaining = match known {
                        Some(left) => left.saturating_sub(page.records.len()),
                        None => past::behind(shelf, range, &undone, &last.key.path()),
                    };
                    looked = if known.is_none() { page.remaining } else { 0 };
                }
                None => {}
            }
            looked += undone.len() + passed;
        }
        page.remember(range, &mut state);
        state.looked = state.looked.saturating_add(looked as u64);
        Ok(page)
    }

    /// Records how many objects of a range there are behind this one, for the page that begins there.
    pub(crate) fn ended(&self, range: &Range, revision: u64, last: &Record, remaining: usize) {
        if let Some(shelf) = self.lock().shelves.get_mut(&range.resource) {
            let from = format!("{}\0", last.key.path());
            shelf.left.ended(range, revision, from, remaining);
        }
    }
}

impl Page {
    /// Records how many objects are left, for the next page.
    fn remember(&self, range: &Range, state: &mut StoreState) {
        let Some(last) = self
            .records
            .last()
            .filter(|_| self.remaining > 0 && range.name.is_none())
        else {
            return;
        };
        if let Some(shelf) = state.shelves.get_mut(&range.resource) {
            let from = format!("{}\0", last.key.path());
            shelf.left.ended(range, self.revision, from, self.remaining);
        }
    }
}
