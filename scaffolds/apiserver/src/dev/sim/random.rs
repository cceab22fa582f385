//! Runs with random faults: a few at any points, in one phase or in different ones, chosen by a seed. Single faults and pairs
//! are chosen so that they cover as much as possible; random schedules combine what these never do.

use super::{
    explore::{Exploration, Faultless, Progress},
    fault::{Point, Schedule},
    plan::Run,
    points,
    report::Report,
    stage::Stage,
};
use crate::meta::chance::{self, Chance};

/// The number of random runs of one seed. The runs of the next seed have other delays, and are compared with a run without faults
/// of that seed.
const RUNS_OF_A_SEED: usize = 50;

/// The numbers of faults of one run.
const FEWEST: usize = 2;
const MOST: usize = 8;

/// The number of attempts to find a point that no other fault of the run has.
const ATTEMPTS: usize = 32;

/// The random runs of a simulation.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RandomRuns {
    /// The number of runs.
    pub runs: usize,
    /// The number of faults that happened in them. An earlier fault may prevent a later one.
    pub faults: usize,
    /// The number of seeds of each kind; the first is the seed of the simulation. Runs of different seeds have different delays.
    pub seeds: usize,
}

impl RandomRuns {
    pub(super) fn add(&mut self, more: Self) {
        self.runs += more.runs;
        self.faults += more.faults;
        self.seeds += more.seeds;
    }
}

impl Exploration<'_> {
    /// Runs the random schedules of this seed and of the following ones until one fails.
    ///
    /// # Errors
    /// A run cannot be started.
    pub(super) fn try_random(&self, report: &mut Report, progress: Progress<'_>) -> Result<(), String> {
        let all = self.effort.random;
        for seed in self.stage.seed.. {
            let before = report.random.runs;
            if before >= all || report.failure.is_some() {
                break;
            }
            let stage = Stage {
                seed,
                ..self.stage.clone()
            };
            let part = Exploration { stage: &stage, ..*self };
            let calm = part.faultless(&[Faultless::Calm], report)?;
            if report.failure.is_some() {
                break;
            }
            let schedules = schedules(&calm, seed, RUNS_OF_A_SEED.min(all - before));
            let begun = report.runs;
            let progress = &mut |done, _| progress(before + done - begun, all);
            let unmet = part.try_all(&schedules, &calm, report, progress)?;
            let faults = schedules.iter().zip(&unmet).map(|(it, unmet)| it.0.len() - unmet.len());
            let random = RandomRuns {
                runs: unmet.len(),
                faults: faults.sum(),
                seeds: 1,
            };
            report.faults += random.faults;
            report.random.add(random);
        }
        Ok(())
    }
}

/// This many schedules of the seed.
fn schedules(calm: &Run, seed: u64, number: usize) -> Vec<Schedule> {
    let mut chance = Chance::new(chance::hash(seed, "random schedules"));
    let mut kinds = points::points(calm);
    kinds.retain(|points| !points.is_empty());
    (0..number).map(|_| schedule(calm, &kinds, &mut chance)).collect()
}

/// A few faults. Each kind of fault is as likely as any other, and about every second fault is in the phase of the one before:
/// faults in one phase disturb each other, and faults in different phases show what an operator remembers.
fn schedule(calm: &Run, kinds: &[Vec<Point>], chance: &mut Chance) -> Schedule {
    let number = FEWEST + chance.below(MOST - FEWEST + 1);
    let mut chosen: Vec<Point> = Vec::new();
    for _ in 0..ATTEMPTS {
        if chosen.len() == number || kinds.is_empty() {
            break;
        }
        let points = &kinds[chance.below(kinds.len())];
        let last = chosen.last().filter(|_| chance.below(2) == 0);
        let last = last.map(|last| points::phase(last.at, calm));
        let is_there = |point: &&Point| last.is_none_or(|last| points::phase(point.at, calm) == last);
        let there: Vec<_> = points.iter().filter(is_there).collect();
        let Some(&&point) = there.get(chance.below(there.len())) else {
            continue;
        };
        // A request meets one fault, and so does a phase.
        if chosen.iter().all(|other| other.at != point.at) {
            chosen.push(point);
        }
    }
    chosen.sort_by_key(|point| points::phase(point.at, calm));
    Schedule(chosen)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{
        super::{phases::PHASES, world::Sent},
        *,
    };

    /// A run with three writes, two reads and two kinds in each phase.
    fn calm() -> Run {
        let sent = |number: usize| -> Vec<_> {
            let of = |phase| {
                (0..number).map(move |n| Sent {
                    phase,
                    is_delete: false,
                    text: format!("sends {n}"),
                })
            };
            (0..PHASES.len()).flat_map(of).collect()
        };
        Run {
            states: Vec::new(),
            finding: None,
            steps: Vec::new(),
            writes: sent(3),
            reads: sent(2),
            kinds: sent(2),
            requests: Vec::new(),
            unmet: Vec::new(),
            changes: 0,
            failed: BTreeMap::new(),
        }
    }

    fn texts(seed: u64) -> Vec<String> {
        let schedules = schedules(&calm(), seed, 300);
        schedules.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_seed_gives_the_same_schedules_again_and_another_seed_gives_others() {
        let [first, again, other] = [1, 1, 2].map(texts);
        assert_eq!(first, again);
        let both: BTreeSet<_> = first.into_iter().chain(other).collect();
        assert!(both.len() > 590, "{}", both.len());
    }

    #[test]
    fn a_few_faults_of_any_kind_are_in_one_phase_or_in_several_ones() {
        let calm = calm();
        let (mut kinds, mut numbers) = (BTreeSet::new(), BTreeSet::new());
        let (mut crowded, mut scattered) = (0, 0);
        for Schedule(points) in schedules(&calm, 1, 300) {
            let phases: Vec<_> = points.iter().map(|point| points::phase(point.at, &calm)).collect();
            assert!(phases.is_sorted());
            let places: BTreeSet<_> = points.iter().map(|point| format!("{:?}", point.at)).collect();
            assert_eq!(places.len(), points.len(), "a request meets one fault");
            numbers.insert(points.len());
            kinds.extend(points.iter().map(|point| point.fault.name()));
            crowded += usize::from(phases.windows(3).any(|three| three[0] == three[2]));
            scattered += usize::from(phases.iter().collect::<BTreeSet<_>>().len() > 2);
        }
        assert_eq!(numbers, (FEWEST..=MOST).collect());
        // Reads have three of the faults of writes, and kinds one of the phases.
        assert_eq!(kinds.len(), points::FAULTS - 4);
        assert!(crowded > 50 && scattered > 50, "{crowded} {scattered}");
    }

    #[test]
    fn a_run_without_requests_has_faults_of_phases_alone() {
        let calm = Run {
            writes: Vec::new(),
            reads: Vec::new(),
            kinds: Vec::new(),
            ..calm()
        };
        let schedules = schedules(&calm, 1, 50);
        assert!(schedules.iter().all(|it| it.0.len() >= FEWEST));
        assert!(
            schedules
                .iter()
                .all(|it| it.to_string().split('+').all(|point| point.starts_with('p')))
        );
    }
}
