//! The schedules of a simulation, in their order: no fault, one of a kind in each phase, then pairs. A failure is shrunk to its
//! fewest faults.

use super::{
    fault::{Point, Schedule},
    oracle::Finding,
    pairs::{self, ChosenPairs},
    phases::PHASES,
    plan::{Course, Plan, Run},
    points,
    setup::Specs,
    stage::Stage,
    trace,
    workers::{self, FailedSchedule},
    world::TraceStep,
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
            None => self.further(&mut report)?,
        };
        if let Some(finding) = without_fault.finding {
            report.failure = Some(FailedRun {
                schedule: Schedule::default(),
                finding,
                steps: without_fault.steps,
            });
            return Ok(report);
        }
        let chains = points::chains(&calm);
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
            let run = self.further(&mut Report::default())?;
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
        let further = self.further(&mut Report::default())?;
        let runs = [&calm, &further, &first];
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

    /// The other runs without faults: optional values are removed, each value is changed alone, and siblings come and go. It
    /// returns the first that finds something, or the last one.
    fn further(&self, report: &mut Report) -> Result<Run, String> {
        for specs in self.stage.setup.alterations() {
            report.runs += 1;
            let created = self.stage.play(&Plan {
                course: Course::Creates(specs),
                ..Plan::default()
            })?;
            if created.finding.as_ref().is_some_and(|finding| !finding.is_lasting()) {
                return Ok(created);
            }
            let values = self.stage.setup.values(specs, 1);
            let refused = created.failed.iter();
            report
                .omitted
                .extend(refused.map(|(place, error)| format!("{place}{values}: {error}")));
            if created.finding.is_some() || !created.failed.is_empty() {
                continue;
            }
            report.runs += 1;
            let altered = self.stage.play(&Plan {
                other: created.states.first(),
                course: Course::Alters(specs),
                ..Plan::default()
            })?;
            if altered.finding.is_some() {
                return Ok(altered);
            }
        }
        report.runs += 1;
        self.stage.play(&Plan {
            course: Course::Siblings,
            ..Plan::default()
        })
    }

    /// Pairs of faults, each pair in one phase, and one pair in each phase of a run.
    fn pairs(&self, calm: &Run) -> ChosenPairs {
        let mut phases: [Vec<Point>; PHASES.len()] = Default::default();
        for point in points::points(calm).into_iter().flatten() {
            phases[points::phase(point.at, calm)].push(point);
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
