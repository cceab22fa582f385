//! The end of a manager's work: running reconciles and tasks end, or are cancelled.

use tokio::time::{self, Instant};
use tracing::info;

use super::{Manager, lock, running::Tasks};
use crate::error::Error;

/// The end of a manager's work.
#[derive(Default)]
pub(super) struct Ended {
    /// The number of cancelled reconciles.
    pub(super) cut_off: usize,
    /// The error, unless it was asked to stop.
    pub(super) error: Option<Error>,
    /// The deadline of authors' tasks, if the workers were drained.
    pub(super) deadline: Option<Instant>,
    /// Another process may be leading.
    pub(super) lease_lost: bool,
}

impl Ended {
    /// The end of a process that has lost its lease.
    pub(super) fn without_lease(error: Error) -> Self {
        Self {
            error: Some(error),
            lease_lost: true,
            ..Self::default()
        }
    }
}

impl Manager {
    /// Waits for running reconciles and tasks, and counts the reconciles that had to be cancelled.
    pub(super) async fn drain(&self, mut workers: Tasks) -> Ended {
        info!("stopping: no new work, waiting for running reconciles");
        let controllers: Vec<_> = lock(&self.core.controllers)
            .iter()
            .map(|registered| registered.controller.clone())
            .collect();
        for controller in &controllers {
            controller.shut_down();
        }
        let added = self.core.added.controllers();
        added.iter().for_each(|controller| controller.request_stop());
        let deadline = Instant::now() + self.core.settings.drain;
        let (cut_off, error) = match time::timeout_at(deadline, rest(&mut workers)).await {
            Ok(error) => (0, error),
            // Counted before they are dropped with their workers. A worker without a key has no reconcile to cancel.
            Err(_) => {
                let registered: usize = controllers.iter().map(|controller| controller.under_way()).sum();
                let added: usize = added.iter().map(|controller| controller.under_way()).sum();
                (registered + added, None)
            }
        };
        Ended {
            cut_off,
            error,
            deadline: Some(deadline),
            lease_lost: false,
        }
    }

    pub(super) fn cut_off(&self, reconciles: usize, tasks: &[String]) -> Error {
        let mut late: Vec<_> = tasks.iter().map(|name| format!("the task `{name}`")).collect();
        if reconciles > 0 {
            late.insert(0, format!("{reconciles} reconciles"));
        }
        let were = if late.len() == 1 && reconciles == 0 {
            "was"
        } else {
            "were"
        };
        let (late, after) = (late.join(" and "), self.core.settings.drain);
        Error::Setup(format!("{late} did not end within {after:?} and {were} cancelled"))
    }
}

/// Waits for the end of all tasks, and returns the first error.
pub(super) async fn rest(tasks: &mut Tasks) -> Option<Error> {
    let mut first = None;
    while let Some(ended) = tasks.join_next().await {
        first =
            first.or(ended.unwrap_or_else(|error| Some(Error::Setup(format!("a task ended unexpectedly: {error}")))));
    }
    first
}
