//! The points at which single faults happen in a run, and the schedules that try all of them.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    fault::{At, Fault, OF_KINDS, OF_PHASES, OF_READS, OF_WRITES, Point, Schedule, UserAction},
    phases::{CHANGED, PHASES, TEARDOWN},
    plan::Run,
    world::Sent,
};

/// The number of kinds of faults.
pub(super) const FAULTS: usize = OF_WRITES.len() + OF_PHASES.len() + OF_READS.len() + OF_KINDS.len();

/// All single faults: of each kind, those that can happen.
pub(super) fn points(calm: &Run) -> Vec<Vec<Point>> {
    let writes = OF_WRITES.map(|fault| {
        let possible = calm
            .writes
            .iter()
            .enumerate()
            .filter(|(_, write)| is_possible(fault, write));
        possible
            .map(|(n, _)| Point {
                at: At::Write(n),
                fault,
            })
            .collect()
    });
    let phases = OF_PHASES.map(|fault| {
        (0..PHASES.len())
            .map(|n| Point {
                at: At::Phase(n),
                fault,
            })
            .collect()
    });
    let reads = OF_READS.map(|fault| {
        (0..calm.reads.len())
            .map(|n| Point { at: At::Read(n), fault })
            .collect()
    });
    let kinds = OF_KINDS.map(|fault| {
        (0..calm.kinds.len())
            .map(|n| Point { at: At::Kind(n), fault })
            .collect()
    });
    writes.into_iter().chain(phases).chain(kinds).chain(reads).collect()
}

/// The phase of a point.
pub(super) fn phase(at: At, calm: &Run) -> usize {
    match at {
        At::Write(n) => calm.writes[n].phase,
        At::Read(n) => calm.reads[n].phase,
        At::Phase(n) => n,
        At::Kind(n) => calm.kinds[n].phase,
    }
}

/// Schedules that try all single faults, one of a kind in each phase of a run. At the end of a phase the objects are as without
/// faults, or the run has failed; and after all faults of one kind alike the process still lives, or another one has begun.
/// The first schedules have each fault in each phase, and faults of different kinds meet different requests, so that few schedules
/// cover many requests.
pub(super) fn chains(calm: &Run) -> Vec<Schedule> {
    let mut chains: BTreeMap<(usize, usize), Vec<Point>> = BTreeMap::new();
    let (writes, reads) = (outermost(&calm.writes), outermost(&calm.reads));
    let is_tried = |point: &Point| match point.at {
        At::Write(n) => writes.contains(&n),
        At::Read(n) => reads.contains(&n),
        At::Phase(_) | At::Kind(_) => true,
    };
    for (kind, points) in points(calm).into_iter().enumerate() {
        let mut phases: [Vec<Point>; PHASES.len()] = Default::default();
        for point in points.into_iter().filter(is_tried) {
            phases[phase(point.at, calm)].push(point);
        }
        for points in phases {
            for n in 0..points.len() {
                let point = points[(n + kind) % points.len()];
                chains.entry((n, kind)).or_default().push(point);
            }
        }
    }
    chains.into_values().map(Schedule).collect()
}

/// The first and the last of equal requests in each phase: an operator that follows the progress of its children repeats the same
/// request, and pairs meet those in between.
fn outermost(sent: &[Sent]) -> BTreeSet<usize> {
    let mut ends: BTreeMap<(usize, &str), [usize; 2]> = BTreeMap::new();
    for (n, sent) in sent.iter().enumerate() {
        ends.entry((sent.phase, &sent.text)).or_insert([n, n])[1] = n;
    }
    ends.into_values().flatten().collect()
}

/// Whether a fault can happen at this write, and leaves the specs as they are meant to be in its phase.
fn is_possible(fault: Fault, write: &Sent) -> bool {
    match fault {
        // To a DELETE it always means that the object is another one, which is not so here.
        Fault::Refused(409) => !write.is_delete,
        Fault::User(action) if write.phase == TEARDOWN => !action.creates() && action != UserAction::WipeStatus,
        // The users of this phase change the same samples.
        Fault::User(action) => write.phase != CHANGED || action != UserAction::Recreate,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_requests_of_a_phase_the_first_and_the_last_are_tried() {
        let sent = |phase, text: &str| Sent {
            phase,
            is_delete: false,
            text: text.to_owned(),
        };
        let (status, child) = ("patches foos a (status)", "applies maps a");
        let all = [
            sent(0, child),
            sent(0, status),
            sent(0, status),
            sent(0, status),
            sent(1, status),
        ];
        assert_eq!(outermost(&all), BTreeSet::from([0, 1, 3, 4]));
    }
}
