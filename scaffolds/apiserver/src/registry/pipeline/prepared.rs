//! An object between preparation and store.

use serde_json::Value;

use super::Work;
use crate::strategy::Rules;

/// A prepared object. When it is dropped (refused, another writer came first, the request was cancelled), it releases the
/// addresses and ports that preparation reserved.
pub struct Prepared<'a> {
    pub object: Value,
    rules: &'a Rules,
    /// The stored object, which remains if the new one is not stored.
    live: Option<&'a Value>,
    /// Whether its reservations have been kept or released.
    is_settled: bool,
}

impl<'a> Prepared<'a> {
    pub fn new(work: &Work<'a>, object: Value, live: Option<&'a Value>) -> Self {
        Self {
            object,
            rules: work.resource().rules(),
            live,
            is_settled: false,
        }
    }

    /// The object at the end of the write. If it `is_stored`, it keeps its reservations, and gives up those that it had before.
    pub fn end(mut self, is_stored: bool) -> Value {
        match (is_stored, self.live) {
            (false, live) => self.rules.release(&self.object, live),
            (true, Some(before)) => self.rules.release(before, Some(&self.object)),
            (true, None) => {}
        }
        self.is_settled = true;
        std::mem::take(&mut self.object)
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        if !self.is_settled {
            self.rules.release(&self.object, self.live);
        }
    }
}
