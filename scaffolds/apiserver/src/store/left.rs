//! The number of objects that a list still has after a page, without counting them: the number of objects is known for the first
//! page, and the number after each page is kept for the next one.

use std::collections::{HashMap, VecDeque};

use super::Range;

/// The number of recent pages whose ends are kept.
const KEPT: usize = 256;

/// The counts of one resource.
#[derive(Default)]
pub(super) struct Left {
    all: usize,
    by_namespace: HashMap<Box<str>, usize>,
    /// The ends of the most recent pages. The number of objects after a path at one revision never changes, so they do
    /// not expire.
    ends: VecDeque<(PageEnd, usize)>,
}

#[derive(PartialEq)]
struct PageEnd {
    revision: u64,
    namespace: Option<String>,
    /// The path at which the next page begins.
    from: String,
}

impl Left {
    /// Counts a new object in a namespace.
    pub fn came(&mut self, namespace: &str) {
        self.all = self.all.saturating_add(1);
        match self.by_namespace.get_mut(namespace) {
            Some(count) => *count = count.saturating_add(1),
            None => drop(self.by_namespace.insert(namespace.into(), 1)),
        }
    }

    /// Counts a deleted object in a namespace.
    pub fn went(&mut self, namespace: &str) {
        self.all = self.all.saturating_sub(1);
        if let Some(count) = self.by_namespace.get_mut(namespace) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.by_namespace.remove(namespace);
            }
        }
    }

    /// The number of objects of a range without a name.
    pub fn now(&self, range: &Range) -> usize {
        match &range.namespace {
            Some(namespace) => self.by_namespace.get(namespace.as_str()).copied().unwrap_or_default(),
            None => self.all,
        }
    }

    /// The number of objects that the range had at a revision after the end of an earlier page, if it is known.
    pub fn from(&self, range: &Range, revision: u64, from: &str) -> Option<usize> {
        let is_it = |end: &PageEnd| end.revision == revision && end.from == from && end.namespace == range.namespace;
        let found = self.ends.iter().find(|(end, _)| is_it(end))?;
        Some(found.1)
    }

    /// Records the end of a page, and how many objects are left after it.
    pub fn ended(&mut self, range: &Range, revision: u64, from: String, left: usize) {
        let end = PageEnd {
            revision,
            namespace: range.namespace.clone(),
            from,
        };
        self.ends.push_back((end, left));
        if self.ends.len() > KEPT {
            self.ends.pop_front();
        }
    }
}
