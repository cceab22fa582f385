//! The rolling update of a DaemonSet: it deletes old Pods, at most `maxUnavailable` at a time, or with `maxSurge` first
//! creates a new Pod beside the old one.

use super::{DaemonChanges, Daemons, is_going};
use crate::controllers::workloads::replica_set::Pod;

/// The Pods of a node that are not being deleted.
#[derive(Clone, Copy, Debug, Default)]
struct PodPair<'a> {
    new: Option<&'a Pod>,
    old: Option<&'a Pod>,
}

impl<'a> Daemons<'a> {
    /// The next step of the update, while there is nothing else to do on the nodes.
    pub fn roll(&self) -> DaemonChanges<'a> {
        let all = self.wanted().count();
        match self.limit("maxSurge", all) {
            0 => {
                let most = self.limit("maxUnavailable", all);
                // Otherwise every update would stop.
                self.replace(if all > 0 { most.max(1) } else { most })
            }
            surge => self.surge(surge, all),
        }
    }

    /// The Pods on a node; `None` if there are several old or new ones, which are deleted first.
    fn pair(&self, node: &str) -> Option<PodPair<'a>> {
        let mut pair = PodPair::default();
        for pod in self.pods.get(node).into_iter().flatten().filter(|pod| !is_going(pod)) {
            let place = match self.is_updated(pod) {
                true => &mut pair.new,
                false => &mut pair.old,
            };
            if place.replace(pod).is_some() {
                return None;
            }
        }
        Some(pair)
    }

    /// The nodes on which a Pod is to run or was created to run.
    fn nodes(&self) -> Vec<&'a str> {
        let mut nodes: Vec<&str> = self.wanted().chain(self.pods.keys().copied()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    fn replace(&self, most: usize) -> DaemonChanges<'a> {
        let (mut unavailable, mut deleted, mut candidates) = (0, Vec::new(), Vec::new());
        for node in self.nodes() {
            match self.pair(node) {
                Some(PodPair {
                    new: Some(new),
                    old: None,
                }) if self.is_available(new) => {}
                Some(PodPair {
                    new: None,
                    old: Some(old),
                }) if self.is_available(old) => candidates.push(old),
                Some(PodPair {
                    new: None,
                    old: Some(old),
                }) => {
                    unavailable += 1;
                    deleted.push(old);
                }
                _ => unavailable += 1,
            }
        }
        deleted.extend(candidates.into_iter().take(most.saturating_sub(unavailable)));
        DaemonChanges {
            created: Vec::new(),
            deleted,
        }
    }

    fn surge(&self, most: usize, wanted: usize) -> DaemonChanges<'a> {
        let (mut surging, mut available) = (0, 0);
        let (mut changes, mut candidates, mut misplaced) = (DaemonChanges::default(), Vec::new(), Vec::new());
        for node in self.nodes() {
            let Some(pair) = self.pair(node) else {
                surging += 1;
                continue;
            };
            let first = pair.old.or(pair.new);
            available += usize::from(first.is_some_and(|pod| self.is_available(pod)));
            let Some(old) = pair.old else { continue };
            let runs = self.fits.get(node).is_some_and(|fit| fit.runs);
            match (pair.new, self.is_available(old)) {
                (Some(new), _) if self.is_available(new) => changes.deleted.push(old),
                (Some(_), _) => surging += 1,
                (None, false) if runs => changes.created.push(node),
                (None, false) => changes.deleted.push(old),
                (None, true) if runs => candidates.push(node),
                (None, true) => misplaced.push(old),
            }
        }
        // A Pod on a node that no longer fits stays until as many others are available.
        changes
            .deleted
            .extend(misplaced.into_iter().take(available.saturating_sub(wanted)));
        changes
            .created
            .extend(candidates.into_iter().take(most.saturating_sub(surging)));
        changes
    }
}
