//! Reports: the story of a failure for people, and one JSON object for programs.

use std::{fmt::Write, time::Duration};

use serde_json::{Value, json};

use super::{fault::Schedule, oracle::Finding, phases::heading, random::RandomRuns, world::TraceStep};

/// How many differences a report shows.
const DIFFERENCES: usize = 8;

/// The findings of a simulation.
#[derive(Default)]
pub struct Report {
    /// The seed of all runs but random ones, of which some have later seeds.
    pub seed: u64,
    /// The number of runs.
    pub runs: usize,
    /// The number of faults in them, unless one failed earlier.
    pub faults: usize,
    /// The first failure.
    pub failure: Option<FailedRun>,
    /// The first step in which two runs of one schedule differ, if they do.
    pub differs: Option<String>,
    /// The number of pairs of faults that the runs have, and of all pairs of faults in one phase.
    pub pairs: [usize; 2],
    /// The runs with random faults, which [`Self::runs`] and [`Self::faults`] contain too.
    pub random: RandomRuns,
    /// The CPU time of the program `sim`.
    pub(super) cpu_time: Option<Duration>,
    /// The parts that were not explored, with the reasons.
    pub omitted: Vec<String>,
    /// The kinds of the samples that were simulated together, and the number of their runs.
    pub groups: Vec<(String, usize)>,
}

/// A failure.
pub struct FailedRun {
    /// The seed of the run.
    pub seed: u64,
    /// The kind whose samples take part in the run; `None` for all samples.
    pub kind: Option<String>,
    pub(super) schedule: Schedule,
    /// The rule that the run breaks, and how.
    pub finding: Finding,
    pub(super) steps: Vec<TraceStep>,
}

impl FailedRun {
    /// The text of the faults, which replays them: `ONLY`.
    pub fn only(&self) -> String {
        self.schedule.to_string()
    }

    /// The command that replays the failure.
    pub(super) fn replay(&self) -> String {
        let kind = argument(self.kind.as_deref());
        format!("make sim SEED={}{kind} ONLY={}", self.seed, self.schedule)
    }
}

impl Report {
    /// Of one run that failed.
    pub(super) fn of_failure(failure: FailedRun) -> Self {
        Self {
            seed: failure.seed,
            runs: 1,
            failure: Some(failure),
            ..Self::default()
        }
    }

    /// Adds what another group of samples has shown.
    pub(super) fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.faults += other.faults;
        self.failure = self.failure.take().or(other.failure);
        self.differs = self.differs.take().or(other.differs);
        for (sum, more) in self.pairs.iter_mut().zip(other.pairs) {
            *sum += more;
        }
        self.random.add(other.random);
        self.omitted.extend(other.omitted);
        self.groups.extend(other.groups);
    }
}

/// The argument of `make sim` that selects this kind.
pub(super) fn argument(kind: Option<&str>) -> String {
    kind.map(|kind| format!(" SIM_KIND={kind}")).unwrap_or_default()
}

/// The report for people.
pub(super) fn people(report: &Report) -> String {
    let mut text = String::new();
    for omitted in &report.omitted {
        line(&mut text, &format!("not explored: {omitted}"));
    }
    if let Some(differs) = &report.differs {
        line(
            &mut text,
            &format!(
                "warning: two runs of one schedule differ, so a replay may too: {differs}\n\nhint: its code uses the wall clock, a thread, chance, or the order of a HashMap"
            ),
        );
    }
    // Of one group, the last line contains all.
    for (kinds, runs) in report.groups.iter().filter(|_| report.groups.len() > 1) {
        line(&mut text, &format!("{kinds}: {runs} runs"));
    }
    let random = report.random;
    if random.runs > 0 {
        let RandomRuns { runs, faults, seeds } = random;
        line(
            &mut text,
            &format!("of all runs, {runs} had {faults} random faults, with {seeds} seeds"),
        );
    }
    if let Some(time) = report.cpu_time {
        line(&mut text, &format!("CPU time: {:.1} s", time.as_secs_f64()));
    }
    match &report.failure {
        None => line(
            &mut text,
            &format!(
                "{} runs with {} faults, and nothing wrong; of pairs of faults in one phase, {} of {} were tried",
                report.runs, report.faults, report.pairs[0], report.pairs[1]
            ),
        ),
        Some(failure) => tell(&mut text, failure),
    }
    text
}

fn tell(text: &mut String, failure: &FailedRun) {
    let finding = &failure.finding;
    line(text, &format!("failure: {}\n", finding.oracle));
    for what in finding.lines.iter().take(DIFFERENCES) {
        line(text, &format!("  {what}"));
    }
    if finding.lines.len() > DIFFERENCES {
        line(text, &format!("  and {} more", finding.lines.len() - DIFFERENCES));
    }
    line(text, &format!("\nafter: {}\n", heading(finding.phase)));
    text.push_str(&steps(&failure.steps));
    line(text, &format!("\nreplay: {}", failure.replay()));
}

/// Numbered steps with their times. Of long traces, the phases before the first fault are left out.
pub(super) fn steps(steps: &[TraceStep]) -> String {
    let from = first_shown(steps);
    let mut text = String::new();
    for (n, step) in steps.iter().enumerate().skip(from) {
        let who = match step {
            step if step.is_fault => "FAULT: ".to_owned(),
            step if step.who.is_empty() => "-- ".to_owned(),
            step => format!("{} ", step.who),
        };
        line(
            &mut text,
            &format!("{:4}. {:9.3} s  {who}{}", n + 1, step.at.as_secs_f64(), step.what),
        );
    }
    text
}

/// The number of the first step that is shown.
pub(super) fn first_shown(steps: &[TraceStep]) -> usize {
    let fault = steps.iter().position(|step| step.is_fault);
    let last = steps.iter().rposition(is_heading).unwrap_or_default();
    let until = fault.unwrap_or(last);
    steps.iter().take(until + 1).rposition(is_heading).unwrap_or_default()
}

fn is_heading(step: &TraceStep) -> bool {
    step.who.is_empty() && !step.is_fault
}

/// The report for programs.
pub(super) fn json(report: &Report) -> Value {
    let failure = report.failure.as_ref().map(|failure| {
        let step = |step: &TraceStep| {
            json!({
                "seconds": step.at.as_secs_f64(), "who": step.who, "what": step.what, "fault": step.is_fault,
            })
        };
        json!({
            "oracle": failure.finding.oracle.name(),
            "findings": failure.finding.lines,
            "phase": heading(failure.finding.phase),
            "seed": failure.seed,
            "kind": failure.kind,
            "only": failure.only(),
            "steps": failure.steps.iter().map(step).collect::<Vec<_>>(),
        })
    });
    json!({
        "seed": report.seed, "runs": report.runs, "faults": report.faults, "differs": report.differs,
        "pairs": {"tried": report.pairs[0], "possible": report.pairs[1]},
        "random": {"runs": report.random.runs, "faults": report.random.faults, "seeds": report.random.seeds},
        "cpuSeconds": report.cpu_time.map(|time| time.as_secs_f64()),
        "groups": report.groups.iter().map(|(kinds, runs)| json!({"kinds": kinds, "runs": runs})).collect::<Vec<_>>(),
        "omitted": report.omitted, "failure": failure,
    })
}

fn line(text: &mut String, line: &str) {
    // A String takes all that is written.
    let _ = writeln!(text, "{line}");
}
