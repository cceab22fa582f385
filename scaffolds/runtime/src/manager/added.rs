//! Controllers that were added while the manager runs: which there are, and when each gives back what it uses.

use std::{
    collections::HashSet,
    mem,
    sync::{Arc, Mutex},
};

use tokio::sync::{mpsc, watch};

use super::{
    Manager,
    any_informer::Pending,
    joining::{Release, Uses},
    lock,
    opening::Opening,
    running::unexpected,
};
use crate::{
    error::{Error, Result},
    isolate::isolated_future,
    kind::KindId,
    worker::Runnable,
};

/// The phase of a manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// It does not run yet.
    Idle,
    /// It fills caches, or waits for the lease.
    Running,
    /// Its workers run.
    Leading,
    /// It waits for the running reconciles. What is added now would never run.
    Draining,
    /// Its workers have ended.
    Ended,
}

/// A task of the manager; it returns an error if it ended unexpectedly.
pub(super) type Work = Pending<Option<Error>>;

/// The controllers that were added, and the ways to the tasks that run them.
pub(super) struct Added {
    pub(super) phase: watch::Sender<Phase>,
    work: mpsc::UnboundedSender<Work>,
    openings: mpsc::UnboundedSender<Opening>,
    arrivals: Mutex<Option<Arrivals>>,
    controllers: Mutex<Vec<Arc<AddedController>>>,
}

/// Added parts, to be taken by the running manager.
pub(super) struct Arrivals {
    pub(super) work: mpsc::UnboundedReceiver<Work>,
    pub(super) openings: mpsc::UnboundedReceiver<Opening>,
}

impl Default for Added {
    fn default() -> Self {
        let (work, works) = mpsc::unbounded_channel();
        let (openings, opened) = mpsc::unbounded_channel();
        Self {
            phase: watch::Sender::new(Phase::Idle),
            work,
            openings,
            arrivals: Mutex::new(Some(Arrivals {
                work: works,
                openings: opened,
            })),
            controllers: Mutex::default(),
        }
    }
}

impl Added {
    pub(super) fn has_begun(&self) -> bool {
        *self.phase.borrow() > Phase::Idle
    }

    pub(super) fn is_stopping(&self) -> bool {
        *self.phase.borrow() >= Phase::Draining
    }

    /// Begins to take what is added. A manager that runs a second time takes nothing.
    pub(super) fn begin(&self) -> Arrivals {
        let arrivals = lock(&self.arrivals).take();
        arrivals.unwrap_or_else(|| Arrivals {
            work: mpsc::unbounded_channel().1,
            openings: mpsc::unbounded_channel().1,
        })
    }

    /// Runs a task of the manager, once it runs.
    pub(super) fn run(&self, work: Work) {
        // The manager has stopped: then it runs nothing.
        _ = self.work.send(work);
    }

    /// Runs a task of an author, or of a controller, for as long as the manager works.
    pub(super) fn background(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut phase = self.phase.subscribe();
        self.run(Box::pin(async move {
            tokio::select! {
                ended = isolated_future(task) => {
                    ended.err().map(|panic| unexpected("a background task", Some(panic)))
                }
                _ = phase.wait_for(|phase| *phase == Phase::Ended) => None,
            }
        }));
    }

    /// Hands over a controller whose workers are to start.
    pub(super) fn open(&self, opening: Opening) -> Result<()> {
        self.openings.send(opening).map_err(|_| stopping())
    }

    pub(super) fn controllers(&self) -> Vec<Arc<AddedController>> {
        lock(&self.controllers).clone()
    }

    /// Waits until the manager stops.
    pub(super) async fn until_stopping(&self) {
        // Fails only when the sender is dropped, but `self` owns the sender.
        _ = self.phase.subscribe().wait_for(|phase| *phase >= Phase::Draining).await;
    }

    /// Ends all controllers, whose workers have ended.
    pub(super) fn end(&self) {
        self.phase.send_replace(Phase::Ended);
        self.controllers()
            .iter()
            .for_each(|controller| controller.request_stop());
    }
}

pub(crate) fn stopping() -> Error {
    Error::retry("the manager is stopping or has stopped")
}

/// A controller that was added while the manager runs.
pub(crate) struct AddedController {
    pub(super) name: String,
    pub(super) workers: usize,
    pub(super) kinds: HashSet<KindId>,
    state: Mutex<AddedState>,
    /// Whether it has stopped, and given back all that it used.
    ended: watch::Sender<bool>,
}

struct AddedState {
    runnable: Option<Arc<dyn Runnable>>,
    /// The worker tasks that run.
    active: usize,
    stopping: bool,
    releases: Vec<Release>,
}

/// One worker task of an added controller, until it is dropped.
pub(super) struct Active(Arc<AddedController>);

impl Manager {
    /// Takes a controller that was connected: its caches and its background tasks run from now on.
    pub(crate) fn admit(&self, runnable: Arc<dyn Runnable>, workers: usize, uses: Uses) -> Arc<AddedController> {
        let Uses { kinds, tasks, releases } = uses;
        let added = Arc::new(AddedController {
            name: runnable.name().to_owned(),
            workers,
            kinds,
            state: Mutex::new(AddedState {
                runnable: Some(runnable),
                active: 0,
                stopping: false,
                releases,
            }),
            ended: watch::Sender::new(false),
        });
        lock(&self.core.added.controllers).push(added.clone());
        let (manager, name) = (self.downgrade(), added.name.clone());
        lock(&added.state).releases.push(Box::new(move || {
            if let Some(manager) = manager.upgrade() {
                lock(&manager.core.added.controllers).retain(|known| known.name != name);
            }
        }));
        self.run_caches(&added.kinds);
        for task in tasks {
            self.core.added.run(added.beside(async move {
                let panic = isolated_future(task).await.err()?;
                Some(unexpected("a background task", Some(panic)))
            }));
        }
        added
    }

    /// The added controller of this name.
    pub(crate) fn added(&self, name: &str) -> Option<Arc<AddedController>> {
        let controllers = lock(&self.core.added.controllers);
        controllers.iter().find(|added| added.name == name).cloned()
    }
}

impl AddedController {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Hands out no more keys. When its workers have ended, the controller gives back all that it uses.
    pub(crate) fn request_stop(&self) {
        let runnable = {
            let mut state = lock(&self.state);
            state.stopping = true;
            state.runnable.clone()
        };
        if let Some(runnable) = runnable {
            runnable.shut_down();
        }
        self.release_once_idle();
    }

    /// Waits until it has stopped.
    pub(crate) async fn stopped(&self) {
        // Fails only when the sender is dropped, but `self` owns the sender.
        _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }

    pub(crate) fn has_stopped(&self) -> bool {
        *self.ended.borrow()
    }

    /// The controller for its workers; `None` once it is asked to stop.
    pub(super) fn runnable(&self) -> Option<Arc<dyn Runnable>> {
        let state = lock(&self.state);
        state.runnable.clone().filter(|_| !state.stopping)
    }

    /// Counts a worker task.
    pub(super) fn enter(self: &Arc<Self>) -> Active {
        lock(&self.state).active += 1;
        Active(self.clone())
    }

    /// Reconciles that have begun and not ended.
    pub(super) fn under_way(&self) -> usize {
        let runnable = lock(&self.state).runnable.clone();
        runnable.map_or(0, |runnable| runnable.under_way())
    }

    /// A task that is cancelled when the controller has stopped.
    pub(super) fn beside(&self, task: impl Future<Output = Option<Error>> + Send + 'static) -> Work {
        let mut ended = self.ended.subscribe();
        Box::pin(async move {
            tokio::select! {
                error = task => error,
                _ = ended.wait_for(|ended| *ended) => None,
            }
        })
    }

    fn release_once_idle(&self) {
        let (runnable, releases) = {
            let mut state = lock(&self.state);
            if !state.stopping || state.active > 0 || state.runnable.is_none() {
                return;
            }
            (state.runnable.take(), mem::take(&mut state.releases))
        };
        drop(runnable);
        // The name was claimed first, and is free again when all else is given back.
        releases.into_iter().rev().for_each(|release| release());
        self.ended.send_replace(true);
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        lock(&self.0.state).active -= 1;
        self.0.release_once_idle();
    }
}
