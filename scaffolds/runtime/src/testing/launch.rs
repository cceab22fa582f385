//! The arguments, environment and clock of an operator under test.

use std::ffi::OsString;

use k8s_openapi::jiff::Timestamp;
use tokio::time::{Instant, sleep};

use super::{PATIENCE, PERIOD, Program, RunningOperator, TestCluster};
use crate::{
    error::{Error, Result},
    mortal::TEST_WRITES,
};

/// An operator that needs more writes than this repeats some.
const MOST_KILLS: usize = 100;

/// The arguments and variables that a test passes to an operator.
#[derive(Clone, Default)]
pub(super) struct Launch {
    pub(super) arguments: Vec<OsString>,
    pub(super) variables: Vec<(OsString, OsString)>,
    pub(super) clock: Option<Timestamp>,
}

/// An operator that is about to be started: see [`TestCluster::operator`].
#[must_use = "`start` starts it"]
pub struct OperatorBuilder<'a> {
    cluster: &'a TestCluster,
    program: Program,
    launch: Launch,
}

impl<'a> OperatorBuilder<'a> {
    pub(super) fn new(cluster: &'a TestCluster, program: Program) -> Self {
        let launch = Launch::default();
        Self {
            cluster,
            program,
            launch,
        }
    }

    /// Adds an argument, after those with which a test starts an operator: of two values of one flag, the program
    /// refuses the second one.
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.launch.arguments.push(argument.into());
        self
    }

    /// Sets an environment variable; the operator also gets the test's own ones.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.launch.variables.push((name.into(), value.into()));
        self
    }

    /// Stops the [clock](crate::Clock) of the operator's manager at this time, until [`RunningOperator::advance`] moves it.
    pub fn clock(mut self, start: Timestamp) -> Self {
        self.launch.clock = Some(start);
        self
    }

    /// As [`TestCluster::run_operator`].
    ///
    /// # Errors
    ///
    /// As [`TestCluster::run_operator`], and [`Error::Setup`] if the operator is to have a
    /// [clock](Self::clock) and was built without the feature `testing` of the runtime.
    pub async fn start(self) -> Result<RunningOperator> {
        self.cluster.start_operator(self.program, self.launch).await
    }

    /// Starts the operator again and again until `done` returns true, and kills it each time in the middle of its work: in turn
    /// when it is about to send its second and its third write. Whatever it leaves, the next process has to go on from. Returns
    /// how often it was killed.
    ///
    /// Every request that may change something is a write, events and statuses included. An operator that repeats two writes
    /// after each start never gets further.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start), and [`Error::Setup`], with `what` and the log, after [`PATIENCE`] without the end of a
    /// process, or if the operator has been killed a hundred times.
    pub async fn killed_between_writes(self, what: &str, mut done: impl AsyncFnMut() -> Result<bool>) -> Result<usize> {
        for killed in 0..MOST_KILLS {
            let mut launch = self.launch.clone();
            let writes = 1 + killed % 2;
            launch.variables.push((TEST_WRITES.into(), writes.to_string().into()));
            let mut running = self.cluster.spawn_operator(self.program, launch).await?;
            let deadline = Instant::now() + PATIENCE;
            while running.exited().is_none() {
                if done().await? {
                    running.stop()?;
                    return Ok(killed);
                }
                if Instant::now() >= deadline {
                    return Err(Error::Setup(format!(
                        "waited {} s in vain for {what}",
                        PATIENCE.as_secs()
                    )));
                }
                sleep(PERIOD).await;
            }
            running.stop()?;
        }
        Err(Error::Setup(format!("killed {MOST_KILLS} times before {what}")))
    }
}
