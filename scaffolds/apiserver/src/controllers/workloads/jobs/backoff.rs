//! The delay before a Job's failed Pods are replaced: 10 seconds after the first failure, doubled for each further one
//! since the last success, at most 10 minutes, as upstream.

use std::collections::BTreeSet;

use super::pods::JobPod;

const FIRST: i64 = 10;
const LONGEST: i64 = 600;

/// The failures of a Job since its last success. As upstream, it is kept in memory alone.
#[derive(Debug, Default)]
pub(in super::super) struct BackoffRecord {
    failures: i64,
    last: i64,
    /// The uids of the finished Pods that are in the record.
    counted: BTreeSet<String>,
}

impl BackoffRecord {
    /// Adds the Pods that have finished since the last call.
    pub(super) fn update(&mut self, succeeded: &[&JobPod], failed: &[&JobPod]) {
        let is_new = |pod: &&&JobPod| !self.counted.contains(pod.uid());
        let ends = |pods: &[&JobPod]| -> Vec<i64> { pods.iter().filter(is_new).map(|pod| pod.finished()).collect() };
        let success = ends(succeeded).into_iter().max();
        let failures: Vec<i64> = ends(failed)
            .into_iter()
            .filter(|at| success.is_none_or(|success| *at > success))
            .collect();
        if success.is_some() {
            self.failures = 0;
        }
        self.failures += i64::try_from(failures.len()).unwrap_or_default();
        self.last = failures.into_iter().max().unwrap_or(self.last);
        let all = succeeded.iter().chain(failed);
        self.counted = all.map(|pod| pod.uid().to_owned()).collect();
    }

    /// When the next Pods may be created.
    pub fn end(&self) -> i64 {
        end(self.failures, self.last)
    }
}

/// When the delay after this many failures ends, of which the last was at `last`.
pub(super) fn end(failures: i64, last: i64) -> i64 {
    match failures {
        0 => 0,
        1..=6 => last + (FIRST << (failures - 1)),
        _ => last + LONGEST,
    }
}

#[cfg(test)]
mod tests {
    use super::end;

    #[test]
    fn the_delay_doubles_up_to_ten_minutes() {
        let delays = [0, 1, 2, 3, 6, 7, 50].map(|failures| end(failures, 1000));
        assert_eq!(delays, [0, 1010, 1020, 1040, 1320, 1600, 1600]);
    }
}
