//! The schedules of a simulation, in their order: no fault, each fault by itself, then random pairs. A failure is shrunk to
//! its fewest faults.

use std::collections::BTreeMap;

use super::{
    fault::{At, Fault, OF_PHASES, OF_READS, OF_WRITES, Point, Schedule, UserAction},
    oracle::Finding,
    state::State,
    story::{CHANGED, PHASES, Plan, Run, Stage, TEARDOWN},
    trace,
    workers::{self, FailedSchedule},
    world::{Sent, TraceStep},
};
use crate::meta::chance::Chance;

/// What a simulation has found.
pub struct Report {
    /// The seed of all runs.
    pub seed: u64,
    /// How many runs there were.
    pub runs: usize,
    /// The first failure.
    pub failure: Option<FailedRun>,
    /// The first step in which two runs of one schedule differ, if they do.
    pub differs: Option<String>,
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
            differs: None,
            omitted: Vec::new(),
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
    /// The number of random pairs.
    pub pairs: usize,
    /// Gets the number of finished and of planned runs.
    pub progress: &'a mut dyn FnMut(usize, usize),
}

impl Exploration<'_> {
    /// Runs all schedules until the first failure.
    ///
    /// # Errors
    /// A run cannot be started.
    pub(super) fn explore(self) -> Result<Report, String> {
        let mut report = Report {
            seed: self.stage.seed,
            runs: 4,
            failure: None,
            differs: None,
            omitted: self.stage.omitted.clone(),
        };
        let calm = self.calm()?;
        let again = self.calm()?;
        report.differs = trace::difference(&calm, &again);
        if let Some(finding) = calm.finding {
            report.failure = Some(FailedRun {
                schedule: Schedule::default(),
                finding,
                steps: calm.steps,
            });
            return Ok(report);
        }
        let schedules = self.schedules(&calm);
        let progress = &mut |done| (self.progress)(done, schedules.len());
        let failed = workers::first_failure(self.stage, &calm.states, &schedules, progress)?;
        report.runs += failed.as_ref().map_or(schedules.len(), |failed| failed.number + 1);
        if let Some(FailedSchedule { number, run }) = failed
            && let Some(finding) = run.finding
        {
            let failure = FailedRun {
                schedule: schedules[number].clone(),
                finding,
                steps: run.steps,
            };
            report.failure = Some(self.shrink(failure, &calm.states)?);
        }
        Ok(report)
    }

    /// Runs this schedule alone, after the one without faults.
    ///
    /// # Errors
    /// A run cannot be started.
    pub(super) fn replay(&self, schedule: &Schedule) -> Result<Replay, String> {
        let calm = self.calm()?;
        if schedule.0.is_empty() || calm.finding.is_some() {
            return Ok(Replay::Ended(calm.finding, calm.steps));
        }
        let run = self.stage.play(&Plan::faulty(schedule, &calm.states))?;
        Ok(match run.is_complete {
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
        let first = self.stage.play(&Plan::faulty(schedule, &calm.states))?;
        if let Some(finding) = calm.finding.as_ref().or(first.finding.as_ref()) {
            return Ok(Some(format!("{}: {}", finding.oracle, finding.lines.join("; "))));
        }
        for _ in 1..times {
            let again = self.stage.play(&Plan::faulty(schedule, &calm.states))?;
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
            creates_changed: true,
            ..Plan::default()
        })?;
        if changed.finding.is_some() {
            return Ok(changed);
        }
        self.stage.play(&Plan {
            changed: changed.states.first(),
            ..Plan::default()
        })
    }

    fn schedules(&self, calm: &Run) -> Vec<Schedule> {
        let mut points = Vec::new();
        for (n, write) in calm.writes.iter().enumerate() {
            let possible = |fault: &&Fault| is_possible(**fault, write);
            points.extend(OF_WRITES.iter().filter(possible).map(|&fault| Point {
                at: At::Write(n),
                fault,
            }));
        }
        for n in 0..PHASES.len() {
            points.extend(OF_PHASES.map(|fault| Point {
                at: At::Phase(n),
                fault,
            }));
        }
        for n in 0..calm.reads.len() {
            points.extend(OF_READS.map(|fault| Point { at: At::Read(n), fault }));
        }
        sort(&mut points, calm);
        let mut chance = Chance::new(self.stage.seed);
        let single = |point: &Point| Schedule(vec![*point]);
        let mut schedules: Vec<_> = points.iter().map(single).collect();
        for _ in 0..self.pairs {
            let pair = [chance.below(points.len()), chance.below(points.len())];
            let pair = pair.map(|n| points[n]);
            if pair[0].at != pair[1].at {
                schedules.push(Schedule(pair.to_vec()));
            }
        }
        schedules
    }

    /// The same failure with fewer faults, if one of them suffices.
    fn shrink(&self, failure: FailedRun, calm: &[State]) -> Result<FailedRun, String> {
        if failure.schedule.0.len() < 2 {
            return Ok(failure);
        }
        for n in 0..failure.schedule.0.len() {
            let mut fewer = failure.schedule.clone();
            fewer.0.remove(n);
            let run = self.stage.play(&Plan::faulty(&fewer, calm))?;
            if let Some(finding) = run.finding {
                return Ok(FailedRun {
                    schedule: fewer,
                    finding,
                    steps: run.steps,
                });
            }
        }
        Ok(failure)
    }
}

/// Each fault first meets each request once, then each a second time, and so on: requests that differ only in their time are
/// likely to have the same mistake.
fn sort(points: &mut [Point], calm: &Run) {
    let mut met: BTreeMap<(String, String), usize> = BTreeMap::new();
    points.sort_by_cached_key(|point| {
        let text = match point.at {
            At::Write(n) => calm.writes[n].text.clone(),
            At::Read(n) => calm.reads[n].text.clone(),
            At::Phase(_) => String::new(),
        };
        let times = met.entry((point.fault.name().to_owned(), text)).or_default();
        *times += 1;
        *times
    });
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
