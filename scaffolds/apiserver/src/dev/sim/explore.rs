//! The schedules of a simulation, in their order: no fault, one of a kind in each phase, then pairs, and random ones. A failure is
//! shrunk to its fewest faults.

use super::{
    fault::{Point, Schedule},
    oracle::Finding,
    pairs::{self, ChosenPairs},
    phases::PHASES,
    plan::{Course, Plan, Run},
    points,
    report::{FailedRun, Report, argument},
    setup::Specs,
    stage::Stage,
    trace,
    workers::{self, Piece},
    world::TraceStep,
};

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
    pub effort: Effort,
}

/// The amount of schedules beyond single faults.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Effort {
    /// The number of pairs of faults to try after all single faults. Without it there are [`PAIRS`], and at most [`CHANGES`].
    pub pairs: Option<usize>,
    /// The number of runs with random faults after them.
    pub random: usize,
}

/// The number of pairs of faults.
const PAIRS: usize = 50;

/// The number of changes of objects in all runs with faults, to which their time is proportional. The kinds of most patterns need fewer for
/// all single faults.
const CHANGES: u64 = 55_000;

/// The largest number of runs with faults, of which each has that many changes: all runs if a number of pairs is given. It is enough for
/// each fault in each phase.
fn most_runs(pairs: Option<usize>, changes: u64) -> usize {
    let most = CHANGES / changes.max(1);
    match pairs {
        Some(_) => usize::MAX,
        None => usize::try_from(most).unwrap_or(usize::MAX).max(points::FAULTS),
    }
}

/// Gets the number of finished and of planned runs.
pub(super) type Progress<'a> = &'a mut dyn FnMut(usize, usize);

/// One of the explorations without faults, which do not depend on each other.
#[derive(Clone, Copy)]
pub(super) enum Faultless {
    /// The run without faults, which all runs with faults are compared with.
    Calm,
    /// Samples that get these specs and their first ones again.
    Alters(Specs),
    Siblings,
}

/// The result of an exploration without faults.
struct FaultlessRun {
    run: Run,
    runs: usize,
    omitted: Vec<String>,
}

impl Exploration<'_> {
    /// Runs all schedules until the first failure. `progress` gets the number of finished and of planned runs.
    ///
    /// # Errors
    /// A run cannot be started.
    pub(super) fn explore(&self, progress: Progress<'_>) -> Result<Report, String> {
        let mut report = Report {
            seed: self.stage.seed,
            omitted: self.stage.omitted.clone(),
            ..Report::default()
        };
        let calm = self.faultless(&self.all_faultless(), &mut report)?;
        if report.failure.is_none() {
            self.try_faults(&calm, &mut report, progress)?;
            self.try_random(&mut report, progress)?;
        }
        report.groups = vec![(self.stage.kinds(), report.runs)];
        Ok(report)
    }

    /// The run without faults alone, for samples that were explored in parts.
    ///
    /// # Errors
    /// A run cannot be started.
    pub(super) fn explore_calm(&self) -> Result<Report, String> {
        let mut report = Report {
            seed: self.stage.seed,
            ..Report::default()
        };
        self.faultless(&[Faultless::Calm], &mut report)?;
        report.groups = vec![("all samples together, without faults".to_owned(), report.runs)];
        Ok(report)
    }

    fn try_faults(&self, calm: &Run, report: &mut Report, progress: Progress<'_>) -> Result<(), String> {
        let faults = |schedules: &[Schedule]| -> usize { schedules.iter().map(|it| it.0.len()).sum() };
        let mut schedules = points::chains(calm);
        let (all, most) = (faults(&schedules), most_runs(self.effort.pairs, calm.changes));
        let mut untried = faults(&schedules.split_off(schedules.len().min(most)));
        let chains = schedules.len();
        let pairs = self.choose_pairs(calm, most - chains);
        report.pairs = [pairs.chosen, pairs.possible];
        schedules.extend(pairs.schedules);
        report.faults = faults(&schedules);
        let unmet = self.try_all(&schedules, calm, report, progress)?;
        if report.failure.is_some() {
            return Ok(());
        }
        // An earlier fault has prevented them.
        let mut singles: Vec<_> = unmet.into_iter().take(chains).flatten().map(single).collect();
        let room = most.saturating_sub(schedules.len());
        untried += singles.split_off(singles.len().min(room)).len();
        self.try_all(&singles, calm, report, progress)?;
        if untried > 0 {
            let (kinds, kind) = (self.stage.kinds(), argument(self.stage.kind.as_deref()));
            report.omitted.push(format!(
                "{untried} of {all} single faults at samples of {kinds}, as a run has {} changes of objects: `make sim{kind} SCHEDULES={PAIRS}` tries all",
                calm.changes
            ));
        }
        Ok(())
    }

    /// Runs these schedules until one fails, and returns the faults of each that did not happen.
    pub(super) fn try_all(
        &self,
        schedules: &[Schedule],
        calm: &Run,
        report: &mut Report,
        progress: Progress<'_>,
    ) -> Result<Vec<Vec<Point>>, String> {
        let (before, all) = (report.runs, report.runs + schedules.len());
        let progress = &mut |done| progress(before + done, all);
        let stage = self.stage;
        let try_one = |n: usize| {
            let mut run = stage.play(&Plan::faulty(&schedules[n], calm));
            let unmet = run
                .as_mut()
                .map(|run| std::mem::take(&mut run.unmet))
                .unwrap_or_default();
            let failed = run.map(|run| Some(run).filter(|run| run.finding.is_some())).transpose();
            Piece {
                is_last: failed.is_some(),
                result: (unmet, failed),
            }
        };
        let (unmet, mut failed): (Vec<_>, Vec<_>) = workers::until_last(schedules.len(), try_one, progress)
            .into_iter()
            .unzip();
        report.runs += unmet.len();
        if let Some(run) = failed.pop().flatten().transpose()?
            && let Some(finding) = run.finding
        {
            let number = unmet.len() - 1;
            let mut schedule = schedules[number].clone();
            schedule.0.retain(|point| !unmet[number].contains(point));
            let failure = self.failure(schedule, finding, run.steps);
            report.failure = Some(self.shrink(failure, calm)?);
        }
        Ok(unmet)
    }

    fn failure(&self, schedule: Schedule, finding: Finding, steps: Vec<TraceStep>) -> FailedRun {
        FailedRun {
            seed: self.stage.seed,
            kind: self.stage.kind.clone(),
            schedule,
            finding,
            steps,
        }
    }

    /// Runs this schedule alone, after the one without faults.
    ///
    /// # Errors
    /// A run cannot be started.
    pub(super) fn replay(&self, schedule: &Schedule) -> Result<Replay, String> {
        let mut report = Report::default();
        let courses = match schedule.0.is_empty() {
            true => self.all_faultless(),
            false => vec![Faultless::Calm],
        };
        let calm = self.faultless(&courses, &mut report)?;
        if let Some(failure) = report.failure {
            return Ok(Replay::Ended(Some(failure.finding), failure.steps));
        }
        if schedule.0.is_empty() {
            return Ok(Replay::Ended(None, calm.steps));
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
        let mut report = Report::default();
        let calm = self.faultless(&self.all_faultless(), &mut report)?;
        let first = self.stage.play(&Plan::faulty(schedule, &calm))?;
        let without_fault = report.failure.map(|failure| failure.finding);
        if let Some(finding) = without_fault.as_ref().or(first.finding.as_ref()) {
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

    /// All explorations without faults. The first two are the same, for a comparison of their requests.
    fn all_faultless(&self) -> Vec<Faultless> {
        let alterations = self.stage.setup.alterations().into_iter().map(Faultless::Alters);
        let calm = [Faultless::Calm; 2].into_iter();
        calm.chain(alterations).chain([Faultless::Siblings]).collect()
    }

    /// Runs these explorations until one finds something, and returns the first run.
    pub(super) fn faultless(&self, courses: &[Faultless], report: &mut Report) -> Result<Run, String> {
        let explore = |n: usize| {
            let result = self.explore_faultless(courses[n]);
            // The second run is compared with the first one in any case.
            let is_last = n > 0 && result.as_ref().map_or(true, |it| it.run.finding.is_some());
            Piece { result, is_last }
        };
        let results = workers::until_last(courses.len(), explore, &mut |_| {});
        let mut runs = Vec::new();
        for result in results {
            let FaultlessRun {
                run,
                runs: number,
                omitted,
            } = result?;
            report.runs += number;
            report.omitted.extend(omitted);
            runs.push(run);
        }
        if let (Some(Faultless::Calm), [one, other, ..]) = (courses.get(1), &runs[..]) {
            report.differs = trace::difference(one, other);
        }
        let failed = runs.iter().find(|run| run.finding.is_some()).cloned();
        if let Some(Run {
            finding: Some(finding),
            steps,
            ..
        }) = failed
        {
            report.failure = Some(self.failure(Schedule::default(), finding, steps));
        }
        runs.into_iter().next().ok_or_else(|| "there is no run".to_owned())
    }

    fn explore_faultless(&self, course: Faultless) -> Result<FaultlessRun, String> {
        let mut runs = 1;
        let mut omitted = Vec::new();
        let run = match course {
            Faultless::Calm => {
                runs = 2;
                self.calm()?
            }
            Faultless::Siblings => self.stage.play(&Plan {
                course: Course::Siblings,
                ..Plan::default()
            })?,
            Faultless::Alters(specs) => {
                let created = self.stage.play(&Plan {
                    course: Course::Creates(specs),
                    ..Plan::default()
                })?;
                let values = self.stage.setup.values(specs, 1);
                let is_refused = created
                    .finding
                    .as_ref()
                    .map_or(!created.failed.is_empty(), Finding::is_lasting);
                if is_refused {
                    let refused = created.failed.iter();
                    omitted.extend(refused.map(|(place, error)| format!("{place}{values}: {error}")));
                }
                if is_refused || created.finding.is_some() {
                    Run {
                        finding: created.finding.clone().filter(|finding| !finding.is_lasting()),
                        ..created
                    }
                } else {
                    runs = 2;
                    self.stage.play(&Plan {
                        other: created.states.first(),
                        course: Course::Alters(specs),
                        ..Plan::default()
                    })?
                }
            }
        };
        Ok(FaultlessRun { run, runs, omitted })
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

    /// Pairs of faults, each pair in one phase, and one pair in each phase of a run, for at most this many runs.
    fn choose_pairs(&self, calm: &Run, runs: usize) -> ChosenPairs {
        let mut phases: [Vec<Point>; PHASES.len()] = Default::default();
        for point in points::points(calm).into_iter().flatten() {
            phases[points::phase(point.at, calm)].push(point);
        }
        let number = self
            .effort
            .pairs
            .unwrap_or(PAIRS)
            .min(runs.saturating_mul(PHASES.len()));
        pairs::choose(phases, number, self.stage.seed)
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
        Ok(run.finding.map(|finding| self.failure(schedule, finding, run.steps)))
    }
}

fn single(point: Point) -> Schedule {
    Schedule(vec![point])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_are_fewer_unless_a_number_of_pairs_is_given() {
        assert_eq!(most_runs(None, 100), 550);
        assert_eq!(most_runs(None, u64::MAX), points::FAULTS);
        assert_eq!(most_runs(None, 0), 55_000);
        assert_eq!(most_runs(Some(0), 100), usize::MAX);
    }
}
