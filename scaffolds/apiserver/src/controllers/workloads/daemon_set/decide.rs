//! The next step of a DaemonSet: nodes without a Pod get one, surplus and finished Pods are deleted, and the status counts
//! the nodes.

use serde_json::{Value, json};

use super::{DaemonChanges, Daemons, FailedDaemons, is_assigned, is_going, pod};
use crate::{
    controllers::workloads::{
        Decision,
        fields::{self, int, text},
        replica_set::Pod,
        write::Write,
    },
    meta,
};

impl<'a> Daemons<'a> {
    /// The status, and the writes of the next step. Their effects cause the step after it.
    pub fn decide(&self, failed: &mut FailedDaemons) -> Decision {
        let mut again = None;
        let mut changes = self.manage(failed, &mut again);
        if changes.is_empty() && self.set["spec"]["updateStrategy"]["type"] == "RollingUpdate" {
            changes = self.roll();
        }
        let seconds = int(self.set, "/spec/minReadySeconds");
        let ready = self.pods.values().flatten().filter_map(|pod| pod.ready);
        let available = ready.map(|ready| ready + seconds).filter(|at| *at > self.now);
        // The status first: it is written even if a later write is refused.
        let mut decision = Decision::about_status(self.set, self.status(), available.chain(again).min());
        let new = |node: &&str| Write::Create(pod::create(self.set, self.hash, node));
        decision.writes.extend(changes.created.iter().map(new));
        let old = changes.deleted.iter();
        decision
            .writes
            .extend(old.map(|pod| Write::Delete(pod.object.clone(), None)));
        decision
    }

    /// Brings the nodes to one Pod each. `again` is when a failed Pod may be deleted.
    fn manage(&self, failed: &mut FailedDaemons, again: &mut Option<i64>) -> DaemonChanges<'a> {
        let mut changes = DaemonChanges::default();
        for (node, fit) in &self.fits {
            let pods = self.pods.get(node);
            let mut present: Vec<&Pod> = pods.into_iter().flatten().copied().collect();
            present.retain(|pod| !is_going(pod));
            if !fit.stays {
                changes.deleted.extend(present);
            } else if pods.is_none() {
                changes.created.extend(fit.runs.then_some(*node));
            } else {
                let mut finished = present.extract_if(.., |pod| pod.is_finished());
                let may_go = |pod: &&Pod| {
                    let is_failed = text(&pod.object, "/status/phase") == "Failed";
                    let waits = is_failed.then(|| failed.delete(node, self.now)).flatten();
                    *again = again.iter().copied().chain(waits).min();
                    waits.is_none()
                };
                changes.deleted.extend(finished.by_ref().filter(may_go));
                drop(finished);
                if self.limit("maxSurge", 1) == 0 {
                    changes.deleted.extend(present.into_iter().skip(1));
                } else if present.is_empty() {
                    changes.created.extend(fit.runs.then_some(*node));
                } else {
                    changes.deleted.extend(self.surplus(&present));
                }
            }
        }
        let is_left = |(node, _): &(&&str, _)| !self.fits.contains_key(*node);
        let left = self.pods.iter().filter(is_left).flat_map(|(_, pods)| pods);
        changes
            .deleted
            .extend(left.filter(|pod| !is_assigned(pod) && !is_going(pod)));
        changes
    }

    /// The Pods beyond one old and one new, and the old one once it is not needed or the new one is available.
    fn surplus(&self, present: &[&'a Pod]) -> Vec<&'a Pod> {
        let (new, old): (Vec<&Pod>, Vec<&Pod>) = present
            .iter()
            .partition(|pod| text(&pod.object, "/metadata/labels/controller-revision-hash") == self.hash);
        let mut surplus: Vec<&Pod> = new.iter().chain(&old).copied().collect();
        let kept = [new.first(), old.first()];
        surplus.retain(|pod| !kept.iter().flatten().any(|it| std::ptr::eq(**it, *pod)));
        if let [Some(new), Some(old)] = kept
            && (old.ready.is_none() || self.is_available(new))
        {
            surplus.push(old);
        }
        surplus
    }

    fn status(&self) -> Value {
        let oldest = |node: &str| self.pods.get(node).and_then(|pods| pods.first());
        let wanted: Vec<Option<&&Pod>> = self.wanted().map(oldest).collect();
        let scheduled: Vec<&Pod> = wanted.iter().flatten().map(|pod| **pod).collect();
        let misplaced = self.fits.iter().filter(|(_, fit)| !fit.runs);
        let misplaced = misplaced.filter_map(|(node, _)| oldest(node));
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let count = |is: &dyn Fn(&Pod) -> bool| number(scheduled.iter().filter(|pod| is(pod)).count());
        let available = count(&|pod| self.is_available(pod));
        let mut status = self.set["status"].clone();
        for (field, count) in [
            ("desiredNumberScheduled", number(wanted.len())),
            ("currentNumberScheduled", number(scheduled.len())),
            ("numberMisscheduled", number(misplaced.count())),
            ("numberReady", count(&|pod| pod.ready.is_some())),
        ] {
            status[field] = json!(count);
        }
        let generation = meta::number(self.set, "generation").unwrap_or_default();
        for (field, count) in [
            ("updatedNumberScheduled", count(&|pod| self.is_updated(pod))),
            ("numberAvailable", available),
            ("numberUnavailable", number(wanted.len()) - available),
            ("observedGeneration", generation),
        ] {
            fields::set_count(&mut status, field, count);
        }
        status
    }
}
