//! The delay between deletions of failed Pods on a node: one second, doubled up to 15 minutes, as upstream.

use std::collections::HashMap;

const FIRST: i64 = 1;
const LONGEST: i64 = 900;

/// The last deletion on each node, and the delay after it. As upstream, it is kept in memory alone.
#[derive(Debug, Default)]
pub(in super::super) struct FailedDaemons {
    by_node: HashMap<String, LastDeletion>,
}

#[derive(Debug)]
struct LastDeletion {
    at: i64,
    delay: i64,
}

impl FailedDaemons {
    /// Records the deletion of a failed Pod on a node. Before the end of the delay it records nothing, and returns that end.
    pub(super) fn delete(&mut self, node: &str, now: i64) -> Option<i64> {
        let last = self.by_node.get(node).filter(|last| now - last.at <= 2 * LONGEST);
        if let Some(last) = last.filter(|last| now < last.at + last.delay) {
            return Some(last.at + last.delay);
        }
        let delay = last.map_or(FIRST, |last| (2 * last.delay).min(LONGEST));
        self.by_node.insert(node.to_owned(), LastDeletion { at: now, delay });
        None
    }
}

#[cfg(test)]
mod tests {
    use super::FailedDaemons;

    #[test]
    fn the_delay_doubles_until_no_pod_has_failed_for_half_an_hour() {
        let mut failed = FailedDaemons::default();
        let ends = [0, 0, 1, 2, 3, 3, 2000].map(|now| failed.delete("one", now));
        assert_eq!(ends, [None, Some(1), None, Some(3), None, Some(7), None]);
        assert_eq!(failed.delete("one", 2000), Some(2001));
    }
}
