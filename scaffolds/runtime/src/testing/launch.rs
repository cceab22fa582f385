//! The arguments, environment and clock of an operator under test.

use std::ffi::OsString;

use k8s_openapi::jiff::Timestamp;

use super::{Program, RunningOperator, TestCluster};
use crate::error::Result;

/// The arguments and variables that a test passes to an operator.
#[derive(Default)]
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
    /// As [`TestCluster::run_operator`], and [`Error::Setup`](crate::Error::Setup) if the operator is to have a
    /// [clock](Self::clock) and was built without the feature `testing` of the runtime.
    pub async fn start(self) -> Result<RunningOperator> {
        self.cluster.start_operator(self.program, self.launch).await
    }
}
