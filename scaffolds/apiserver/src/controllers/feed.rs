//! All changes of all resources, those of custom kinds included from the moment that they are defined.

use std::{collections::BTreeSet, sync::Arc};

use futures::{FutureExt, StreamExt, stream::SelectAll};
use serde_json::Value;

use crate::{
    registry::store_name,
    server::Core,
    store::{Change, Compacted, Range, Record, Watch},
};

/// Where definitions of custom kinds are kept.
const DEFINITIONS: &str = "apiextensions.k8s.io/customresourcedefinitions";

/// The changes to come.
pub(super) struct Feed {
    known: BTreeSet<String>,
    watches: SelectAll<Watch>,
}

impl Feed {
    /// Begins now; also returns what there is.
    pub fn start(core: &Core) -> (Self, Vec<Arc<Record>>) {
        let mut feed = Self {
            known: BTreeSet::new(),
            watches: SelectAll::new(),
        };
        let mut records = Vec::new();
        for resource in core.catalogue.snapshot().all() {
            records.extend(feed.add(core, store_name(resource)));
        }
        for definition in records.clone() {
            records.extend(feed.define(core, &definition));
        }
        (feed, records)
    }

    /// The next changes: all that there are by now, in their order. An error when changes were missed, `None` when the
    /// store is closed.
    pub async fn next(&mut self) -> Option<Result<Vec<Arc<Change>>, Compacted>> {
        let mut changes = match self.watches.next().await? {
            Ok(first) => vec![first],
            Err(compacted) => return Some(Err(compacted)),
        };
        while let Some(next) = self.watches.next().now_or_never() {
            match next? {
                Ok(change) => changes.push(change),
                Err(compacted) => return Some(Err(compacted)),
            }
        }
        changes.sort_by_key(|change| change.revision);
        Some(Ok(changes))
    }

    /// Follows a change that may define a kind; returns the objects that this kind has already.
    pub fn follow(&mut self, core: &Core, change: &Change) -> Vec<Arc<Record>> {
        self.define(core, &change.record)
    }

    fn define(&mut self, core: &Core, record: &Record) -> Vec<Arc<Record>> {
        if &*record.key.resource != DEFINITIONS {
            return Vec::new();
        }
        let definition: Value = serde_json::from_slice(&record.object).unwrap_or_default();
        let text = |pointer: &str| {
            definition
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        self.add(core, format!("{}/{}", text("/spec/group"), text("/spec/names/plural")))
    }

    /// Follows one resource more, unless it is followed already.
    fn add(&mut self, core: &Core, resource: String) -> Vec<Arc<Record>> {
        let range = Range::new(&resource, "");
        if !self.known.insert(resource) {
            return Vec::new();
        }
        // The history may go past the page before it is followed: then once more.
        while let Ok(page) = core.store.list(&range, None, None, 0) {
            if let Ok(watch) = core.store.watch(&range, page.revision) {
                self.watches.push(watch);
                return page.records;
            }
        }
        Vec::new()
    }
}
