//! Starts the workers of controllers: of the registered ones when this process leads, and of one that was added while the
//! manager runs once its caches are filled, this process leads, and its children are found.

use std::{pin::pin, sync::Arc};

use futures::{StreamExt, stream::FuturesUnordered};
use tokio::sync::{mpsc, oneshot, watch};
use tracing::info;

use super::{
    Manager, Registered,
    added::{AddedController, Phase, stopping},
    lock,
    running::{Tasks, worked, worker},
    searching::{Search, Unlabelled},
    tasks::Start,
};
use crate::error::{Error, Result};

/// A controller whose caches are filled.
pub(super) struct Opening {
    controller: Arc<AddedController>,
    unlabelled: Unlabelled,
    /// Whether its workers have started, for the caller of [`Manager::open`].
    reply: oneshot::Sender<Result<()>>,
}

/// Stops a controller whose start was cancelled or has failed.
struct Starting(Option<Arc<AddedController>>);

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(controller) = &self.0 {
            controller.request_stop();
        }
    }
}

impl Manager {
    /// Waits until the caches of this controller are filled, and, if this process leads, until its workers have started.
    pub(crate) async fn open(&self, controller: Arc<AddedController>) -> Result<()> {
        let mut starting = Starting(Some(controller.clone()));
        let (added, kinds) = (&self.core.added, &controller.kinds);
        tokio::select! {
            // First, for one message: a manager that stops also stops the controller.
            biased;
            () = added.until_stopping() => return Err(stopping()),
            filled = self.fill_caches_of(kinds) => filled?,
            () = controller.stopped() => return Err(cancelled(&controller)),
        }
        // The leader that a standby waits for may create more.
        let again = *added.phase.borrow() < Phase::Leading;
        let searches = self.searches(|kind, _| kinds.contains(kind));
        let unlabelled = tokio::select! {
            biased;
            () = added.until_stopping() => return Err(stopping()),
            found = self.find_by(searches, again) => found.map_err(|error| Error::retry(error.to_string()))?,
            () = controller.stopped() => return Err(cancelled(&controller)),
        };
        let (reply, answer) = oneshot::channel();
        added.open(Opening {
            controller: controller.clone(),
            unlabelled,
            reply,
        })?;
        let phase = *added.phase.borrow();
        match phase {
            // On a standby it starts when this process leads.
            Phase::Idle | Phase::Running => {}
            Phase::Leading => tokio::select! {
                started = answer => started.unwrap_or_else(|_| Err(cancelled(&controller)))?,
                () = added.until_stopping() => return Err(stopping()),
            },
            Phase::Draining | Phase::Ended => return Err(stopping()),
        }
        starting.0 = None;
        Ok(())
    }

    /// Starts the workers of the registered controllers. Returns the controllers of kinds that the operator converts, whose
    /// caches may not be filled yet.
    pub(super) async fn start_workers(&self, workers: &mut Tasks) -> Vec<Registered> {
        // A statement of its own, because the lock must not be held while objects are queued.
        let controllers = lock(&self.core.controllers).clone();
        let (waiting, ready): (Vec<_>, _) = controllers
            .into_iter()
            .partition(|registered| self.converts_any(&registered.kinds));
        for registered in ready {
            registered.start(workers).await;
        }
        waiting
    }

    /// Starts the workers of the controllers that wait for caches of converted kinds, those of the controllers that are added,
    /// and the tasks of the leader that are, until a worker or a task ends unexpectedly.
    pub(super) async fn attend(
        &self,
        waiting: Vec<Registered>,
        workers: &mut Tasks,
        openings: &mut mpsc::UnboundedReceiver<Opening>,
        halted: &watch::Receiver<bool>,
    ) -> Error {
        let mut labelling = FuturesUnordered::new();
        let filling = waiting.into_iter().map(async |registered| {
            let filled = self.fill_converted(Some(&registered.kinds)).await;
            (registered, filled)
        });
        let mut filling: FuturesUnordered<_> = filling.collect();
        // A task may use any cache.
        let (mut all, mut are_filled) = (pin!(self.fill_converted(None)), false);
        loop {
            let failure = tokio::select! {
                Some(opening) = openings.recv() => {
                    labelling.push(async move {
                        let Opening { controller, unlabelled, reply } = opening;
                        let late = tokio::select! {
                            late = unlabelled.label() => late,
                            () = controller.stopped() => Vec::new(),
                        };
                        (controller, late, reply)
                    });
                    None
                }
                Some((controller, late, reply)) = labelling.next() => {
                    self.start_opened(&controller, late, reply, workers).await;
                    None
                }
                Some((registered, filled)) = filling.next() => match filled {
                    Ok(()) => {
                        registered.start(workers).await;
                        None
                    }
                    Err(error) => Some(error),
                },
                filled = &mut all, if !are_filled => match filled {
                    Ok(()) => {
                        are_filled = true;
                        self.start_authored(Start::Leading, halted, workers);
                        None
                    }
                    Err(error) => Some(error),
                },
                () = self.authored(Start::Leading), if are_filled => {
                    self.start_authored(Start::Leading, halted, workers);
                    None
                }
                Some(ended) = workers.join_next() => worked(ended),
            };
            if let Some(error) = failure {
                return error;
            }
        }
    }

    async fn start_opened(
        &self,
        controller: &Arc<AddedController>,
        late: Vec<Search>,
        reply: oneshot::Sender<Result<()>>,
        workers: &mut Tasks,
    ) {
        let Some(runnable) = controller.runnable() else {
            _ = reply.send(Err(cancelled(controller)));
            return;
        };
        for search in late {
            let work = controller.beside(async move {
                search.run_late().await;
                None
            });
            self.core.added.run(work);
        }
        info!(controller = controller.name(), workers = controller.workers, "starting");
        runnable.start().await;
        for _ in 0..runnable.tasks(controller.workers) {
            let (active, work) = (controller.enter(), worker(runnable.clone()));
            workers.spawn(async move {
                let ended = work.await;
                drop(active);
                ended
            });
        }
        _ = reply.send(Ok(()));
    }
}

impl Registered {
    async fn start(&self, workers: &mut Tasks) {
        let (controller, count) = (&self.controller, self.workers);
        info!(controller = controller.name(), workers = count, "starting");
        controller.start().await;
        for _ in 0..controller.tasks(count) {
            workers.spawn(worker(controller.clone()));
        }
    }
}

fn cancelled(controller: &AddedController) -> Error {
    Error::retry(format!("`{}` was stopped before it had started", controller.name()))
}
