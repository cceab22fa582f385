//! Starts the workers of controllers: of the registered ones when this process leads, and of one that was added while the
//! manager runs once its caches are filled, this process leads, and its children are found.

use std::sync::Arc;

use futures::{StreamExt, stream::FuturesUnordered};
use tokio::sync::{mpsc, oneshot, watch};
use tracing::info;

use super::{
    Manager, Registered,
    added::{AddedController, Phase, stopping},
    labelling::Search,
    lock,
    running::{Tasks, worked, worker},
    tasks::Start,
};
use crate::error::{Error, Result};

/// A controller whose caches are filled.
pub(super) struct Opening {
    controller: Arc<AddedController>,
    searches: Vec<Search>,
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
        let (reply, answer) = oneshot::channel();
        let searches = self.searches(|kind, _| kinds.contains(kind));
        added.open(Opening {
            controller: controller.clone(),
            searches,
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
        let mut searching = FuturesUnordered::new();
        let filling = waiting.into_iter().map(async |registered| {
            let filled = self.fill_converted(Some(&registered.kinds)).await;
            (registered, filled)
        });
        let mut filling: FuturesUnordered<_> = filling.collect();
        loop {
            let failure = tokio::select! {
                Some(opening) = openings.recv() => {
                    searching.push(find(opening));
                    None
                }
                Some((opening, found)) = searching.next() => self.start_opened(opening, found, workers).await,
                Some((registered, filled)) = filling.next() => match filled {
                    Ok(()) => {
                        registered.start(workers).await;
                        None
                    }
                    Err(error) => Some(error),
                },
                () = self.authored(Start::Leading) => {
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

    /// Starts the workers; returns an error that is reported nowhere else.
    async fn start_opened(&self, opening: Opening, found: Result<Vec<Search>>, workers: &mut Tasks) -> Option<Error> {
        let Opening { controller, reply, .. } = opening;
        let late = match found {
            Ok(late) => late,
            Err(error) => {
                controller.request_stop();
                return reply.send(Err(error)).err().and_then(Result::err);
            }
        };
        let Some(runnable) = controller.runnable() else {
            _ = reply.send(Err(cancelled(&controller)));
            return None;
        };
        for search in late {
            let work = controller.beside(async move { search.run_late().await.err() });
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
        None
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

/// Searches the children that the controller's caches would miss. Returns the searches of absent kinds.
async fn find(opening: Opening) -> (Opening, Result<Vec<Search>>) {
    let mut late = Vec::new();
    for search in &opening.searches {
        let found = tokio::select! {
            found = search.run() => found,
            () = opening.controller.stopped() => return (opening, Ok(late)),
        };
        match found {
            Ok(true) => {}
            Ok(false) => late.push(search.clone()),
            Err(error) => return (opening, Err(error)),
        }
    }
    (opening, Ok(late))
}

fn cancelled(controller: &AddedController) -> Error {
    Error::retry(format!("`{}` was stopped before it had started", controller.name()))
}
