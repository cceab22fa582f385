//! The schedules of a simulation, in their order: no fault, one of a kind in each phase, then pairs. A failure is shrunk to its
//! fewest faults.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    fault::{At, Fault, OF_PHASES, OF_READS, OF_WRITES, Point, Schedule, UserAction},
    oracle::Finding,
    pairs::{self, ChosenPairs},
    phases::{CHANGED, PHASES, TEARDOWN},
    plan::{Course, Plan, Run},
    setup::Specs,
    stage::Stage,
    trace,
    workers::{self, FailedSchedule},
    world::{Sent, TraceStep},
};

/// What a simulation has found.
#[derive(Default)]
pub struct Report {
    /// The seed of all runs.
    pub seed: u64,
    /// How many runs there were.
    pub runs: usize,
    /// The number of faults in them, unless one failed earlier.
    pub faults: usize,
    /// The first failure.
    pub failure: Option<FailedRun>,
    /// The first step in which two runs of one schedule differ, if they do.
    pub differs: Option<String>,
    /// The number of pairs of faults that the runs have, and of all pairs of faults in one phase.
    pub pairs: [usize; 2],
    /// What was not explored because the samples do not allow it.
    pub omitted: Vec<String>,
}

/// A failure.
pub struct FailedRun {
    pub(super) schedule: Schedule,
    /// What is wrong.
    pub finding: Finding,
    pub(super) steps: Vec<TraceStep>,
}

impl FailedRun {
    /// The text of the faults, which replays them: `ONLY`.
    pub fn only(&self) -> String {
        self.schedule.to_string()
    }
}

impl Report {
    /// Of one run that failed.
    pub(super) fn of_failure(seed: u64, failure: FailedRun) -> Self {
        Self {
            seed,
            runs: 1,
            failure: Some(failure),
            ..Self::default()
        }
    }
}

/// The outcome of one schedule.
pub(super) enum Replay {
    /// The finding, if there is one, and all steps.
    Ended(Option<Finding>, Vec<TraceStep>),
    /// A fault did not happen: the operator has changed.
    Incomplete,
}

/// What to explore.
pub(super) struct Exploration<'a> {
    pub stage: &'a Stage,
    /// The number of pairs of faults to try.
    pub pairs: usize,
    /// Gets the number of finished and of planned runs.
    pub progress: &'a mut dyn FnMut(usize, usize),
}

impl Exploration<'_> {
    /// Runs all schedules until the first failure.
    ///
    /// # Errors
    /// A run cannot be started.
    pub(super) fn explore(mut self) -> Result<Report, String> {
        let mut report = Report {
            seed: self.stage.seed,
            runs: 4,
            faults: 0,
            failure: None,
            differs: None,
            pairs: [0; 2],
            omitted: self.stage.omitted.clone(),
        };
        let calm = self.calm()?;
        let again = self.calm()?;
        report.differs = trace::difference(&calm, &again);
        let without_fault = match calm.finding {
            Some(_) => calm.clone(),
            None => self.siblings(&mut report)?,
        };
        if let Some(finding) = without_fault.finding {
            report.failure = Some(FailedRun {
                schedule: Schedule::default(),
                finding,
                steps: without_fault.steps,
            });
            return Ok(report);
        }
        let chains = chains(&calm);
        let mut schedules = chains.clone();
        let pairs = self.pairs(&calm);
        report.pairs = [pairs.chosen, pairs.possible];
        schedules.extend(pairs.schedules);
        report.faults = schedules.iter().map(|schedule| schedule.0.len()).sum();
        let unmet = self.try_all(&schedules, &calm, &mut report)?;
        if report.failure.is_none() {
            // An earlier fault has prevented them.
            let singles: Vec<_> = unmet.into_iter().take(chains.len()).flatten().map(single).collect();
            self.try_all(&singles, &calm, &mut report)?;
        }
        Ok(report)
    }

    /// Runs these schedules until one fails, and returns the faults of each that did not happen.
    fn try_all(&mut self, schedules: &[Schedule], calm: &Run, report: &mut Report) -> Result<Vec<Vec<Point>>, String> {
        let (before, all) = (report.runs, report.runs + schedules.len());
        let progress = &mut |done| (self.progress)(before + done, all);
        let mut outcome = workers::first_failure(self.stage, calm, schedules, progress)?;
        report.runs += outcome
            .failed
            .as_ref()
            .map_or(schedules.len(), |failed| failed.number + 1);
        if let Some(FailedSchedule { number, run }) = outcome.failed
            && let Some(finding) = run.finding
        {
            let unmet = std::mem::take(&mut outcome.unmet[number]);
            let mut schedule = schedules[number].clone();
            schedule.0.retain(|point| !unmet.contains(point));
            let failure = FailedRun {
                schedule,
                finding,
                steps: run.steps,
            };
            report.failure = Some(self.shrink(failure, calm)?);
        }
        Ok(outcome.unmet)
    }

    /// Runs this schedule alone, after the one without faults.
    ///
    /// # Errors
    /// A run cannot be started.
    pub(super) fn replay(&self, schedule: &Schedule) -> Result<Replay, String> {
        let calm = self.calm()?;
        if schedule.0.is_empty() && calm.finding.is_none() {
            let run = self.siblings(&mut Report::default())?;
            let steps = calm.steps.into_iter().chain(run.steps);
            return Ok(Replay::Ended(run.finding, steps.collect()));
        }
        if calm.finding.is_some() {
            return Ok(Replay::Ended(calm.finding, calm.steps));
        }
        let run = self.stage.play(&Plan::faulty(schedule, &calm))?;
        Ok(match run.unmet.is_empty() {
            true => Replay::Ended(run.finding, run.steps),
            false => Replay::Incomplete,
        })
    }

    /// Runs this schedule as often, and returns what it finds, or the first difference between its traces.
    ///
    /// # Errors
    /// A run cannot be started.
    pub(super) fn repeat(&self, schedule: &Schedule, times: usize) -> Result<Option<String>, String> {
        let calm = self.calm()?;
        let first = self.stage.play(&Plan::faulty(schedule, &calm))?;
        let siblings = self.siblings(&mut Report::default())?;
        let runs = [&calm, &siblings, &first];
        if let Some(finding) = runs.into_iter().find_map(|run| run.finding.as_ref()) {
            return Ok(Some(format!("{}: {}", finding.oracle, finding.lines.join("; "))));
        }
        for _ in 1..times {
            let again = self.stage.play(&Plan::faulty(schedule, &calm))?;
            let difference = trace::difference(&first, &again);
            if difference.is_some() {
                return Ok(difference);
            }
        }
        Ok(None)
    }

    /// The run without faults. After a change of the spec its state is that of samples that are created with that spec.
    fn calm(&self) -> Result<Run, String> {
        let changed = self.stage.play(&Plan {
            course: Course::Creates(Specs::Changed),
            ..Plan::default()
        })?;
        if changed.finding.is_some() {
            return Ok(changed);
        }
        self.stage.play(&Plan {
            other: changed.states.first(),
            ..Plan::default()
        })
    }

    /// The run without faults in which siblings come and go, and optional values are removed.
    fn siblings(&self, report: &mut Report) -> Result<Run, String> {
        let samples = &self.stage.setup.samples;
        let mut reduced = None;
        if samples.iter().any(|sample| !sample.removals.is_empty()) {
            report.runs += 1;
            let run = self.stage.play(&Plan {
                course: Course::Creates(Specs::Reduced),
                ..Plan::default()
            })?;
            if run.finding.as_ref().is_some_and(|finding| !finding.is_lasting()) {
                return Ok(run);
            }
            for (place, error) in &run.failed {
                report
                    .omitted
                    .push(format!("removals of optional values of {place}: {error}"));
            }
            let is_refused = run.finding.is_some() || !run.failed.is_empty();
            reduced = (!is_refused).then_some(run);
        }
        report.runs += 1;
        self.stage.play(&Plan {
            other: reduced.as_ref().and_then(|run| run.states.first()),
            course: Course::Siblings,
            ..Plan::default()
        })
    }

    /// Pairs of faults, each pair in one phase, and one pair in each phase of a run.
    fn pairs(&self, calm: &Run) -> ChosenPairs {
        let mut phases: [Vec<Point>; PHASES.len()] = Default::default();
        for point in points(calm).into_iter().flatten() {
            phases[phase(point.at, calm)].push(point);
        }
        pairs::choose(phases, self.pairs, self.stage.seed)
    }

    /// The same failure with fewer faults: one of them, the last first, or those without which it is none.
    fn shrink(&self, mut failure: FailedRun, calm: &Run) -> Result<FailedRun, String> {
        let points = failure.schedule.0.clone();
        let mut fewer: Vec<_> = points.iter().rev().map(|&point| single(point)).collect();
        fewer.truncate(if points.len() < 2 { 0 } else { points.len() });
        for schedule in fewer {
            if let Some(failed) = self.fails(schedule, calm)? {
                return Ok(failed);
            }
        }
        for point in points {
            let mut schedule = failure.schedule.clone();
            schedule.0.retain(|other| *other != point);
            if schedule.0.len() > 1
                && let Some(failed) = self.fails(schedule, calm)?
            {
                failure = failed;
            }
        }
        Ok(failure)
    }

    fn fails(&self, schedule: Schedule, calm: &Run) -> Result<Option<FailedRun>, String> {
        let run = self.stage.play(&Plan::faulty(&schedule, calm))?;
        Ok(run.finding.map(|finding| FailedRun {
            schedule,
            finding,
            steps: run.steps,
        }))
    }
}

fn single(point: Point) -> Schedule {
    Schedule(vec![point])
}

/// All single faults: of each kind, those that can happen.
fn points(calm: &Run) -> Vec<Vec<Point>> {
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
    writes.into_iter().chain(phases).chain(reads).collect()
}

fn phase(at: At, calm: &Run) -> usize {
    match at {
        At::Write(n) => calm.writes[n].phase,
        At::Read(n) => calm.reads[n].phase,
        At::Phase(n) => n,
    }
}

/// All single faults, in as few runs: one of a kind in each phase. At the end of each phase the objects are those of the run
/// without faults, or it has failed; and faults of one kind leave the process alike: it lives on, or another one has begun.
/// The first faults of each kind come first.
fn chains(calm: &Run) -> Vec<Schedule> {
    let mut chains: BTreeMap<(usize, usize), Vec<Point>> = BTreeMap::new();
    let (writes, reads) = (outermost(&calm.writes), outermost(&calm.reads));
    let is_tried = |point: &Point| match point.at {
        At::Write(n) => writes.contains(&n),
        At::Read(n) => reads.contains(&n),
        At::Phase(_) => true,
    };
    for (kind, points) in points(calm).into_iter().enumerate() {
        let mut met = [0; PHASES.len()];
        for point in points.into_iter().filter(is_tried) {
            let times = &mut met[phase(point.at, calm)];
            chains.entry((*times, kind)).or_default().push(point);
            *times += 1;
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
