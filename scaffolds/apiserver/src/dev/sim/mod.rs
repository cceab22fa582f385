//! The program `sim` of a generated project (feature `sim`): runs the project's controllers on an API server in this
//! process, on a clock of its own, and explores what crashes, refused requests, lost answers, old lists, missed events
//! and users at the worst moment do to them.

mod arguments;
mod call;
mod change;
mod connection;
mod cpu_time;
mod differences;
mod explore;
mod external;
mod fault;
mod groups;
mod kept;
mod open_watch;
mod oracle;
mod pairs;
mod panics;
mod phase_faults;
mod phases;
mod picture;
mod plan;
mod points;
mod processes;
mod random;
mod reconciles;
mod report;
mod setup;
mod stage;
mod state;
mod story;
mod trace;
mod users;
mod workers;
mod world;

use std::{
    env,
    fmt::Display,
    io::{IsTerminal, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::Value;

use self::{
    arguments::{ALL, Arguments, HELP},
    explore::{Effort, Exploration, Replay},
    fault::Schedule,
    groups::Groups,
    kept::KeptFailure,
    processes::Start,
    setup::Setup,
    stage::Stage,
};
pub use self::{
    connection::Connection,
    external::{SystemContents, documents},
    oracle::{Finding, Oracle},
    random::RandomRuns,
    report::{FailedRun, Report},
};
use super::{manifests::Manifest, print};

/// The time between two lines of progress in a log.
const INTERVAL: Duration = Duration::from_secs(60);

/// What an author's invariant checks: it gets all objects of the samples and of the operator.
type Invariant = Arc<dyn Fn(&[Value]) -> Result<(), String> + Send + Sync>;

/// A simulation of an operator.
///
/// # Flow
/// `start` runs one process of the operator on a connection, which is a tower service for `kube::Client::new`, until it
/// ends: never, or with an error. Each run has a server of its own, and follows one story: users create the samples,
/// change them and change them back, edit and delete their children, wipe the status, delete the samples and create them
/// again, and at last delete them. The first run has no faults. Each further one has a fault in each phase, or a pair, or a few
/// random ones.
///
/// # Guarantees
/// Each run has one thread, no sockets, and tokio's clock paused: a minute of waiting takes no time. Runs share the cores.
/// The same seed and faults give the same steps, unless the operator's code uses the wall clock, other threads, chance, or
/// the order of a `HashMap`, which is reported.
///
/// # Caveats
/// Webhooks and leader election are not simulated. A `start` that blocks its thread blocks the simulation.
pub struct Simulation {
    start: Start,
    volatile: Vec<String>,
    invariants: Vec<(String, Invariant)>,
    random: usize,
}

impl Simulation {
    /// Of the operator that `start` runs.
    pub fn new<F, E>(start: impl Fn(Connection) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Display,
    {
        let start: Start = Arc::new(move |connection| {
            let running = start(connection);
            Box::pin(async move { running.await.map_err(|error| error.to_string()) })
        });
        Self {
            start,
            volatile: Vec::new(),
            invariants: Vec::new(),
            random: 0,
        }
    }

    /// Values at this JSON pointer, such as `/status/lastBackup`, may differ from run to run.
    #[must_use]
    pub fn volatile(mut self, pointer: &str) -> Self {
        self.volatile.push(pointer.to_owned());
        self
    }

    /// Adds a rule that holds whenever all is quiet. It gets the samples and the objects that the operator created.
    #[must_use]
    pub fn invariant(
        mut self,
        name: &str,
        holds: impl Fn(&[Value]) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.invariants.push((name.to_owned(), Arc::new(holds)));
        self
    }

    /// Adds this many runs with random faults for each kind to [`Self::explore`].
    #[must_use]
    pub fn random_runs(mut self, number: usize) -> Self {
        self.random = number;
        self
    }

    /// Runs the program `sim` in a project's folder: reads the arguments of the process and the folder `config`, explores, and
    /// prints a report.
    ///
    /// # Errors
    /// Exits with 1 when a run fails or `config` is refused, with 2 when the arguments are wrong.
    pub fn run(self) -> ExitCode {
        let arguments = match Arguments::read(env::args().skip(1)) {
            Ok(arguments) => arguments,
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::from(2);
            }
        };
        let outcome = match arguments.help {
            true => print(HELP).map(|()| true),
            false => self.carry_out(&arguments),
        };
        match outcome {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        }
    }

    /// Explores with these definitions and samples, each kind by itself: no fault, each fault, and this many pairs.
    ///
    /// # Errors
    /// A definition or a sample is refused.
    pub fn explore(self, world: Objects, seed: u64, pairs: usize) -> Result<Report, String> {
        let effort = Effort {
            pairs: Some(pairs),
            random: self.random,
        };
        let groups = Groups::of(self.stage(world.setup()?, seed))?;
        explore_each(&groups, effort, &mut |_| {})
    }

    /// Runs these faults, in the form of `ONLY`, that many times, and the runs without faults, and returns what it finds, or the
    /// first difference between the traces.
    ///
    /// # Errors
    /// A definition, a sample or a fault is refused.
    pub fn repeat(self, world: Objects, seed: u64, faults: &str, times: usize) -> Result<Option<String>, String> {
        let stage = self.stage(world.setup()?, seed).without_refused()?;
        exploration(&stage).repeat(&faults.parse()?, times)
    }

    fn stage(self, mut setup: Setup, seed: u64) -> Stage {
        setup.volatile = self.volatile;
        setup.invariants = self.invariants;
        Stage {
            setup: Arc::new(setup),
            start: self.start,
            seed,
            kind: None,
            omitted: Vec::new(),
        }
    }

    /// Whether nothing is wrong.
    fn carry_out(self, arguments: &Arguments) -> Result<bool, String> {
        let folder = Path::new(".");
        let setup = block_on(Setup::read(folder))?;
        let groups = Groups::of(self.stage(setup, arguments.seed))?;
        if arguments.kept {
            return run_kept(&groups, folder);
        }
        if let Some(schedule) = &arguments.only {
            return replay(&selected(&groups, arguments.kind.as_deref())?, schedule);
        }
        let mut progress = progress();
        let mut report = match &arguments.kind {
            None => explore_each(&groups, arguments.effort, &mut progress),
            kind => explore_one(&selected(&groups, kind.as_deref())?, arguments.effort, &mut progress),
        }?;
        progress("");
        report.cpu_time = cpu_time::used();
        match arguments.is_json {
            true => print(&format!("{:#}\n", report::json(&report)))?,
            false => print(&report::people(&report))?,
        }
        if let Some(failure) = &report.failure {
            let path = picture::write(failure)?;
            eprintln!("picture: {}", path.display());
        }
        if let Some(failure) = report
            .failure
            .as_ref()
            .filter(|_| env::var("SIM_SAVE").is_ok_and(|it| it == "1"))
        {
            kept::keep(folder, failure)?;
            eprintln!("kept in {}: `make test` runs it again", kept::FILE);
        }
        Ok(report.failure.is_none())
    }
}

/// Shows the progress: at once on a terminal, and elsewhere, such as in a log, once a minute.
fn progress() -> impl FnMut(&str) {
    let is_terminal = std::io::stderr().is_terminal();
    let mut shown = Instant::now();
    move |text| {
        if is_terminal {
            eprint!("\r\u{1b}[K{text}");
            // Nobody needs it.
            let _ = std::io::stderr().flush();
        } else if !text.is_empty() && shown.elapsed() > INTERVAL {
            shown = Instant::now();
            eprintln!("{text}");
        }
    }
}

/// Explores the groups one after the other until one fails, and then all samples together without faults.
fn explore_each(groups: &Groups, effort: Effort, progress: &mut dyn FnMut(&str)) -> Result<Report, String> {
    let mut report = Report::default();
    for number in 0..groups.len() {
        let part = explore_one(&groups.part(number)?, effort, progress)?;
        report.seed = part.seed;
        report.add(part);
        if report.failure.is_some() {
            return Ok(report);
        }
    }
    if groups.len() > 1 {
        report.add(exploration(&groups.together()?).explore_calm()?);
    }
    Ok(report)
}

fn explore_one(stage: &Stage, effort: Effort, progress: &mut dyn FnMut(&str)) -> Result<Report, String> {
    let kinds = stage.kinds();
    let progress = &mut |done, of| progress(&format!("{kinds}: {done} of {of} runs"));
    Exploration { stage, effort }.explore(progress)
}

/// An exploration of single schedules.
fn exploration(stage: &Stage) -> Exploration<'_> {
    let effort = Effort::default();
    Exploration { stage, effort }
}

/// The samples of this kind, or all together.
fn selected(groups: &Groups, kind: Option<&str>) -> Result<Stage, String> {
    match kind {
        None | Some(ALL) => groups.together(),
        Some(kind) => groups.of_kind(kind),
    }
}

/// Runs a schedule, and prints all steps. Whether nothing is wrong.
fn replay(stage: &Stage, schedule: &Schedule) -> Result<bool, String> {
    let Replay::Ended(finding, steps) = exploration(stage).replay(schedule)? else {
        return Err(format!(
            "a fault of `{schedule}` did not happen\n\nhint: the operator has changed since; run `make sim` without ONLY"
        ));
    };
    print(&report::steps(&steps))?;
    let text = finding.as_ref().map_or_else(
        || "nothing wrong\n".to_owned(),
        |finding| format!("failure: {}\n\n  {}\n", finding.oracle, finding.lines.join("\n  ")),
    );
    print(&text).map(|()| finding.is_none())
}

/// Runs the failures that were kept, until one fails again. Whether none does.
fn run_kept(groups: &Groups, folder: &Path) -> Result<bool, String> {
    for KeptFailure { seed, kind, schedule } in kept::read(folder)? {
        let stage = Stage {
            seed,
            ..selected(groups, kind.as_deref())?
        };
        let (finding, steps) = match exploration(&stage).replay(&schedule)? {
            Replay::Ended(finding, steps) => (finding, steps),
            Replay::Incomplete => {
                eprintln!(
                    "`{schedule}` in {} no longer happens: delete that line, or keep a new one",
                    kept::FILE
                );
                continue;
            }
        };
        if let Some(finding) = finding {
            let failure = FailedRun {
                seed,
                kind,
                schedule,
                finding,
                steps,
            };
            print(&report::people(&Report::of_failure(failure)))?;
            return Ok(false);
        }
    }
    Ok(true)
}

/// CustomResourceDefinitions, and the objects that users create.
pub struct Objects {
    /// CustomResourceDefinitions.
    pub definitions: Vec<Value>,
    /// The objects of `config/rbac`; if there are none, the operator may do everything.
    pub roles: Vec<Value>,
    /// Objects of their kinds, or others.
    pub samples: Vec<Value>,
}

impl Objects {
    fn setup(self) -> Result<Setup, String> {
        let manifests = |objects: Vec<Value>| -> Vec<Manifest> {
            let manifest = |object| Manifest {
                file: "memory".into(),
                object,
            };
            objects.into_iter().map(manifest).collect()
        };
        let (definitions, roles) = (manifests(self.definitions), manifests(self.roles));
        block_on(Setup::of(definitions, roles, self.samples))
    }
}

impl Report {
    /// The report as `make sim` prints it.
    pub fn text(&self) -> String {
        report::people(self)
    }
}

fn block_on<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build();
    runtime
        .map_err(|error| format!("cannot start: {error}"))?
        .block_on(work)
}
