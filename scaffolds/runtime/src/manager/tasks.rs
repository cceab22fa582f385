//! Work beside the controllers: tasks of the operator's author, started, stopped and joined with them.

use std::{
    collections::BTreeMap,
    future::{Future, pending},
    sync::{Arc, Mutex},
};

use tokio::sync::{Notify, watch};
use tracing::{info, warn};

use super::{
    Manager,
    added::stopping,
    any_informer::Pending,
    lock,
    running::{Tasks, worked},
};
use crate::{
    error::{Error, Result},
    isolate::isolated_future,
};

/// Work that no controller does, such as a poll of another system or a cleanup once an hour.
///
/// # Flow
///
/// By default the task is the leader's: it starts with the workers, once the caches are filled and the lease is held.
/// When the process is asked to stop, `stop` is requested together with the drain of the workers, and the lease is
/// released after the task has ended.
///
/// A [`leaderless`](Self::leaderless) task starts on every replica once the caches are filled, and one
/// [`before_caches`](Self::before_caches) with the manager. Both are asked to stop after the workers have ended, because
/// a reconciler may depend on them.
///
/// # Guarantees
///
/// A task that returns `Ok` ends nothing else. If it returns an error or panics, the process ends with that error, after
/// the running reconciles: as controller-runtime's manager does with a `Runnable`. Tasks have
/// `--graceful-shutdown-timeout` to end, together with the workers; a task that takes longer is cancelled at its next
/// await, and the process ends with an error that names it.
///
/// # Caveats
///
/// On a standby, writes of the manager's client fail with [`Error::NotLeader`]. If the lease is lost, everything is
/// cancelled at once.
pub struct Task {
    name: String,
    start: Start,
    /// Asks it to stop.
    ask: watch::Sender<bool>,
    run: Pending<Result<()>>,
}

/// When a task starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// With the workers.
    Leading,
    /// Once the caches are filled.
    Filled,
    /// With the manager.
    AtOnce,
}

/// Asks a [`Task`] to stop.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

impl Task {
    /// A task of the leader. `name` is in logs and errors. In `run`, wait for [`Stop::requested`] beside whatever else
    /// is waited for.
    pub fn new<F>(name: impl Into<String>, run: impl FnOnce(Stop) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let (ask, asked) = watch::channel(false);
        Self {
            name: name.into(),
            start: Start::Leading,
            ask,
            // Called inside the future, so that a panic of the function itself is isolated too.
            run: Box::pin(async move { run(Stop(asked)).await }),
        }
    }

    /// Runs it on every replica, once the caches are filled.
    pub fn leaderless(mut self) -> Self {
        if self.start == Start::Leading {
            self.start = Start::Filled;
        }
        self
    }

    /// Starts it with the manager, on every replica, before anything is cached.
    pub fn before_caches(mut self) -> Self {
        self.start = Start::AtOnce;
        self
    }
}

impl Stop {
    /// Waits until the task is asked to stop.
    pub async fn requested(&self) {
        // The manager that would ask is gone: that is the same.
        _ = self.0.clone().wait_for(|stop| *stop).await;
    }

    /// Whether the task is asked to stop.
    pub fn is_requested(&self) -> bool {
        *self.0.borrow()
    }
}

/// The tasks that have been registered, and how many of each name run.
#[derive(Default)]
pub(super) struct Authored {
    waiting: Mutex<Vec<Task>>,
    /// Notifies that a task waits for this start.
    arrived: Arrived,
    running: Arc<Mutex<BTreeMap<String, usize>>>,
}

#[derive(Default)]
struct Arrived {
    leading: Notify,
    filled: Notify,
    at_once: Notify,
}

impl Arrived {
    fn of(&self, start: Start) -> &Notify {
        match start {
            Start::Leading => &self.leading,
            Start::Filled => &self.filled,
            Start::AtOnce => &self.at_once,
        }
    }
}

impl Manager {
    /// Runs a task in addition to the controllers. If the manager runs already, the task starts as soon as its time has
    /// come. Once the manager is stopping, it does not start, which is logged.
    pub fn task(&self, task: Task) {
        let Task { name, start, .. } = &task;
        if self.is_stopping() {
            warn!(task = name, "not started: {}", stopping());
            return;
        }
        let start = *start;
        lock(&self.core.authored.waiting).push(task);
        self.core.authored.arrived.of(start).notify_one();
    }

    /// Waits until a task that starts at this point is registered.
    pub(super) async fn authored(&self, start: Start) {
        self.core.authored.arrived.of(start).notified().await;
    }

    /// Runs the tasks that start at this point, also those that are registered from now on. Returns the first error.
    pub(super) async fn run_authored(&self, start: Start, stop: &watch::Receiver<bool>, tasks: &mut Tasks) -> Error {
        self.start_authored(start, stop, tasks);
        loop {
            tokio::select! {
                () = self.authored(start) => self.start_authored(start, stop, tasks),
                Some(ended) = tasks.join_next() => {
                    if let Some(error) = worked(ended) {
                        return error;
                    }
                }
            }
        }
    }

    /// Spawns the tasks that start at this point.
    pub(super) fn start_authored(&self, start: Start, stop: &watch::Receiver<bool>, tasks: &mut Tasks) {
        let starting: Vec<_> = lock(&self.core.authored.waiting)
            .extract_if(.., |task| task.start == start)
            .collect();
        for Task { name, ask, run, .. } in starting {
            info!(task = name, "starting");
            let (mut stop, running) = (stop.clone(), self.core.authored.running.clone());
            *lock(&running).entry(name.clone()).or_default() += 1;
            tasks.spawn(async move {
                let passes_on = async {
                    // A manager that is gone asks the same.
                    _ = stop.wait_for(|stop| *stop).await;
                    ask.send_replace(true);
                    pending().await
                };
                let ended = tokio::select! {
                    ended = isolated_future(run) => ended,
                    ended = passes_on => ended,
                };
                if let Some(count) = lock(&running).get_mut(&name) {
                    *count -= 1;
                }
                let failure = match ended {
                    Ok(Ok(())) => {
                        info!(task = name, "ended");
                        return None;
                    }
                    Ok(Err(error)) => format!("the task `{name}` failed: {error}"),
                    Err(panic) => format!("the task `{name}` panicked: {panic}"),
                };
                Some(Error::Setup(failure))
            });
        }
    }

    /// The names of the tasks that have started and not ended.
    pub(super) fn unfinished(&self) -> Vec<String> {
        let running = lock(&self.core.authored.running);
        let names = running.iter().filter(|(_, count)| **count > 0);
        names.map(|(name, _)| name.clone()).collect()
    }
}
