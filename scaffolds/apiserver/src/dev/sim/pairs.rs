//! Pairs of faults in one phase, chosen by coverage: each new pair has two kinds of faults that have not met before, as long as
//! there are any, and faults that few pairs have.

use std::collections::BTreeSet;

use super::{
    fault::{Point, Schedule},
    phases::PHASES,
};
use crate::meta::chance::Chance;

/// The number of random pairs that are compared to choose one.
const CANDIDATES: usize = 32;

/// The pairs of one simulation.
pub(super) struct ChosenPairs {
    /// One pair in each phase.
    pub schedules: Vec<Schedule>,
    /// The number of chosen pairs.
    pub chosen: usize,
    /// The number of all pairs of faults at two points of one phase.
    pub possible: usize,
}

/// Chooses at most this many pairs among the faults of each phase, no pair twice.
pub(super) fn choose(phases: [Vec<Point>; PHASES.len()], number: usize, seed: u64) -> ChosenPairs {
    let mut phases = phases.map(PhasePairs::of);
    let mut chosen = ChosenPairs {
        schedules: Vec::new(),
        chosen: 0,
        possible: phases.iter().map(|phase| phase.possible).sum(),
    };
    let mut chance = Chance::new(seed);
    let mut met = BTreeSet::new();
    while chosen.chosen < number.min(chosen.possible) {
        let mut points = Vec::new();
        for phase in &mut phases {
            if chosen.chosen < number
                && let Some(pair) = phase.next(&mut chance, &mut met)
            {
                chosen.chosen += 1;
                points.extend(pair);
            }
        }
        chosen.schedules.push(Schedule(points));
    }
    chosen
}

/// The faults of a phase, and the pairs of them that were chosen.
struct PhasePairs {
    points: Vec<Point>,
    possible: usize,
    /// The number of chosen pairs of each fault.
    uses: Vec<usize>,
    chosen: BTreeSet<[usize; 2]>,
}

impl PhasePairs {
    fn of(points: Vec<Point>) -> Self {
        // A request meets one fault.
        let is_possible = |one: usize, other: usize| points[one].at != points[other].at;
        let others = |one: usize| (one + 1..points.len()).filter(move |&other| is_possible(one, other));
        Self {
            possible: (0..points.len()).map(|one| others(one).count()).sum(),
            uses: vec![0; points.len()],
            points,
            chosen: BTreeSet::new(),
        }
    }

    /// Another pair. `met` contains the pairs of kinds of faults that were chosen in any phase.
    fn next(&mut self, chance: &mut Chance, met: &mut BTreeSet<[&'static str; 2]>) -> Option<[Point; 2]> {
        if self.chosen.len() == self.possible {
            return None;
        }
        let mut candidates = Vec::new();
        for _ in 0..CANDIDATES {
            let mut pair = [(); 2].map(|()| chance.below(self.points.len()));
            pair.sort_unstable();
            candidates.push(pair);
        }
        let all = (0..self.points.len()).flat_map(|one| (one + 1..self.points.len()).map(move |other| [one, other]));
        let is_new =
            |pair: &[usize; 2]| self.points[pair[0]].at != self.points[pair[1]].at && !self.chosen.contains(pair);
        let uses = |pair: &[usize; 2]| {
            let has_met = met.contains(&self.faults(*pair));
            (has_met, self.uses[pair[0]] + self.uses[pair[1]])
        };
        let best = candidates.into_iter().filter(is_new).min_by_key(uses);
        let pair = best.or_else(|| all.into_iter().find(is_new))?;
        met.insert(self.faults(pair));
        self.chosen.insert(pair);
        pair.iter().for_each(|&point| self.uses[point] += 1);
        Some(pair.map(|point| self.points[point]))
    }

    fn faults(&self, pair: [usize; 2]) -> [&'static str; 2] {
        pair.map(|point| self.points[point].fault.name())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::fault::{At, OF_WRITES},
        *,
    };

    /// Two writes in the first phase, and one in each other.
    fn points() -> [Vec<Point>; PHASES.len()] {
        let of = |write| {
            OF_WRITES.map(|fault| Point {
                at: At::Write(write),
                fault,
            })
        };
        let mut phases: [Vec<Point>; PHASES.len()] = std::array::from_fn(|phase| of(phase + 1).to_vec());
        phases[0].extend(of(0));
        phases
    }

    #[test]
    fn all_pairs_are_chosen_once_if_there_is_time_for_all() {
        let pairs = choose(points(), usize::MAX, 1);
        assert_eq!((pairs.chosen, pairs.possible), (256, 256));
        let texts: BTreeSet<_> = pairs.schedules.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), 256);
    }

    #[test]
    fn each_pair_has_kinds_that_have_not_met_and_no_fault_is_forgotten() {
        let pairs = choose(points(), 32, 1);
        let kinds: BTreeSet<_> = pairs
            .schedules
            .iter()
            .map(|it| [0, 1].map(|n| it.0[n].fault.name()))
            .collect();
        assert_eq!(kinds.len(), 32);
        let first: BTreeSet<_> = pairs.schedules.iter().map(|it| it.0[0].fault.name()).collect();
        assert!(first.len() > 12, "{first:?}");
    }
}
