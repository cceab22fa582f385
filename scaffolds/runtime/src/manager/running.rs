//! Runs a manager from start to shutdown: caches, lease, workers, drain.

use std::{
    future::{Future, pending},
    pin::{Pin, pin},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::{
    sync::{mpsc::UnboundedReceiver, watch},
    task::{JoinError, JoinSet},
    time::{self, Instant},
};
use tracing::{error, warn};

use super::{
    Manager,
    added::{Arrivals, Phase, Work},
    draining::{Ended, rest},
    opening::Opening,
    searching::Unlabelled,
    tasks::Start,
};
use crate::{
    error::{Error, Result},
    isolate::{Panic, isolated_future},
    leader::Election,
    worker::Runnable,
};

/// The time for the tasks of the manager itself to end.
const FLUSH: Duration = Duration::from_secs(5);

/// Tasks that return an error if they ended unexpectedly.
pub(super) type Tasks = JoinSet<Option<Error>>;

/// The tasks of every replica that start once the caches are filled, and the signal for all of every replica.
struct Leaderless {
    tasks: Tasks,
    halted: watch::Receiver<bool>,
}

impl Leaderless {
    fn new(halted: watch::Receiver<bool>) -> Self {
        let tasks = Tasks::new();
        Self { tasks, halted }
    }
}

impl Manager {
    /// Runs everything that is registered until `stop` is ready, then drains. With an `election`, the process tries to
    /// acquire the lease once the caches are filled, and the workers run only while it is held.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if a cache that is being filled makes no progress for
    /// [`cache_sync_timeout`](super::ManagerBuilder::cache_sync_timeout), with the failing watch named; if the lease is
    /// lost; if a worker, an informer or a background task panics, or a [`Task`](super::Task) fails: then the others
    /// drain, the lease is released, and the process should be restarted; or if something had to be cancelled.
    pub async fn run(&self, stop: impl Future<Output = ()>, election: Option<Arc<Election>>) -> Result<()> {
        // In the same task: predicates run in it, and the signal and the lease are noticed in it.
        let run = Box::pin(self.run_until(stop, election));
        self.core.heartbeat.beside("the manager", run).await
    }

    async fn run_until(&self, stop: impl Future<Output = ()>, election: Option<Arc<Election>>) -> Result<()> {
        let (halt, halted) = watch::channel(false);
        self.select_children();
        let Arrivals { mut work, mut openings } = self.core.added.begin();
        let mut tasks = self.start_tasks(&halted);
        self.core.added.phase.send_replace(Phase::Running);
        let (mut early, mut late) = (Tasks::new(), Leaderless::new(halted.clone()));
        let mut ended = {
            let end = pin!(async {
                tokio::select! {
                    () = stop => None,
                    error = run_added(&mut tasks, &mut work) => Some(error),
                    error = self.run_authored(Start::AtOnce, &halted, &mut early) => Some(error),
                }
            });
            self.work(end, election.as_deref(), &mut late, &mut openings).await
        };
        self.core.filled.store(false, Ordering::Relaxed);
        self.core.added.end();
        halt.send_replace(true);
        self.end_caches();
        // The remaining tasks flush events and close watches; the time is limited, because a longer wait has no use.
        let flush = self.core.settings.drain.min(FLUSH);
        // Without the lease no event may be written.
        if !ended.lease_lost {
            let deadline = ended
                .deadline
                .unwrap_or_else(|| Instant::now() + self.core.settings.drain);
            let deadline = deadline.max(Instant::now() + flush);
            for leaderless in [&mut early, &mut late.tasks] {
                let error = time::timeout_at(deadline, rest(leaderless)).await;
                ended.error = ended.error.or(error.ok().flatten());
            }
            if time::timeout(flush, rest(&mut tasks)).await.is_err() {
                warn!("background tasks did not end in time");
            }
        }
        let unfinished = self.unfinished();
        if let Some(election) = election {
            // After the workers: the next leader starts only when this process has stopped working. The last requests of
            // cancelled reconciles may still be in flight.
            if ended.lease_lost || ended.cut_off > 0 || !unfinished.is_empty() {
                election.abandon().await;
            } else {
                election.release().await;
            }
        }
        match ended {
            Ended { error: Some(error), .. } => Err(error),
            Ended { cut_off: 0, .. } if unfinished.is_empty() => Ok(()),
            Ended { cut_off, .. } => Err(self.cut_off(cut_off, &unfinished)),
        }
    }

    /// Starts informers and the writer of events. Background tasks are [added](run_added).
    fn start_tasks(&self, halted: &watch::Receiver<bool>) -> Tasks {
        let mut tasks = Tasks::new();
        match &self.core.choosing {
            None => {
                for cache in self.start_caches() {
                    tasks.spawn(cache);
                }
            }
            Some(choosing) => {
                let mut stop = halted.clone();
                let informer = choosing
                    .informer
                    .clone()
                    .run(async move { _ = stop.wait_for(|stop| *stop).await });
                tasks.spawn(essential(
                    "the cache of `Namespace`".to_owned(),
                    informer,
                    halted.clone(),
                ));
                let (manager, mut stop) = (self.share(), halted.clone());
                tasks.spawn(async move {
                    tokio::select! {
                        ended = isolated_future(manager.choose_namespaces()) => Some(unexpected("the choice of namespaces", ended.err())),
                        _ = stop.wait_for(|stop| *stop) => None,
                    }
                });
            }
        }
        let events = self.core.events.run(halted.clone());
        tasks.spawn(essential("the writer of events".to_owned(), events, halted.clone()));
        tasks
    }

    /// Fills the caches, then works until `end`, with the tasks of every replica.
    async fn work(
        &self,
        mut end: Pin<&mut impl Future<Output = Option<Error>>>,
        election: Option<&Election>,
        late: &mut Leaderless,
        openings: &mut UnboundedReceiver<Opening>,
    ) -> Ended {
        let found = tokio::select! {
            error = &mut end => Err(error),
            found = self.prepare(election) => found.map_err(Some),
        };
        match found {
            Ok(unlabelled) => {
                let end = pin!(async {
                    tokio::select! {
                        error = end => error,
                        error = async {
                            match self.fill_all_converted().await {
                                Ok(()) => self.run_authored(Start::Filled, &late.halted, &mut late.tasks).await,
                                Err(error) => error,
                            }
                        } => Some(error),
                    }
                });
                self.lead(end, election, unlabelled, openings).await
            }
            Err(error) => Ended {
                error,
                ..Ended::default()
            },
        }
    }

    /// Fills the caches, and finds the children that they would miss: a leader need not list anything.
    async fn prepare(&self, election: Option<&Election>) -> Result<Unlabelled> {
        self.fill_caches().await?;
        // A former leader may create more, and namespaces may join.
        let again = election.is_some() || self.core.choosing.is_some();
        self.find_children(again).await
    }

    /// Acquires the lease, then works until `end`, until the lease is lost, or until a worker ends unexpectedly.
    async fn lead(
        &self,
        mut end: Pin<&mut impl Future<Output = Option<Error>>>,
        election: Option<&Election>,
        unlabelled: Unlabelled,
        openings: &mut UnboundedReceiver<Opening>,
    ) -> Ended {
        if let Some(election) = election {
            election.begin();
            tokio::select! {
                error = &mut end => return Ended { error, ..Ended::default() },
                () = election.acquired() => {}
            }
        }
        if let Some(choosing) = &self.core.choosing {
            choosing.searched.store(true, Ordering::SeqCst);
        }
        // No worker starts until the caches contain the children that were found.
        let late = tokio::select! {
            error = &mut end => return Ended { error, ..Ended::default() },
            error = lost(election) => return Ended::without_lease(error),
            late = unlabelled.label() => late,
        };
        let mut searches = Tasks::new();
        for search in late {
            searches.spawn(async move {
                search.run_late().await;
                None
            });
        }
        for naming in self.name_unseen() {
            searches.spawn(async move {
                naming.await;
                None
            });
        }
        let (mut workers, (halt, halted)) = (Tasks::new(), watch::channel(false));
        let error = tokio::select! {
            error = end => error,
            error = async {
                let waiting = self.start_workers(&mut workers).await;
                self.core.added.phase.send_replace(Phase::Leading);
                self.attend(waiting, &mut workers, openings, &halted).await
            } => Some(error),
            error = failed(&mut searches) => Some(error),
            // Dropping the set cancels every worker at its next await: another process may lead by now.
            error = lost(election) => return Ended::without_lease(error),
        };
        if let Some(error) = &error {
            error!("{error}");
        }
        // Added controllers and tasks are not run any more: a reconcile that waits for one would keep the drain waiting.
        self.core.added.phase.send_replace(Phase::Draining);
        halt.send_replace(true);
        let drained = tokio::select! {
            biased;
            drained = self.drain(workers) => drained,
            lost = lost(election) => return Ended::without_lease(error.unwrap_or(lost)),
        };
        Ended {
            error: error.or(drained.error),
            ..drained
        }
    }
}

/// Works for a controller. Returns an error if that ends before it is asked to.
pub(super) async fn worker(controller: Arc<dyn Runnable>) -> Option<Error> {
    let panic = isolated_future(controller.clone().work()).await.err();
    let name = format!("a worker of `{}`", controller.name());
    (panic.is_some() || !controller.is_shut_down()).then(|| unexpected(&name, panic))
}

/// Runs a task that the manager needs. Returns an error if it ends before it is asked to.
pub(super) async fn essential(
    name: String,
    task: impl Future<Output = ()>,
    halted: watch::Receiver<bool>,
) -> Option<Error> {
    let panic = isolated_future(task).await.err();
    (panic.is_some() || !*halted.borrow()).then(|| unexpected(&name, panic))
}

pub(super) fn unexpected(name: &str, panic: Option<Panic>) -> Error {
    let reason = panic.map(|panic| format!(": it panicked: {panic}")).unwrap_or_default();
    Error::Setup(format!("{name} ended unexpectedly{reason}"))
}

/// Waits for a task that ends unexpectedly.
async fn failed(tasks: &mut Tasks) -> Error {
    while let Some(ended) = tasks.join_next().await {
        if let Some(error) = worked(ended) {
            return error;
        }
    }
    pending().await
}

/// The error of a task that has ended.
pub(super) fn worked(ended: Result<Option<Error>, JoinError>) -> Option<Error> {
    ended.unwrap_or_else(|error| Some(Error::Setup(format!("a task ended unexpectedly: {error}"))))
}

/// Waits for a task that ends unexpectedly, and runs those that are added.
async fn run_added(tasks: &mut Tasks, added: &mut UnboundedReceiver<Work>) -> Error {
    loop {
        tokio::select! {
            Some(work) = added.recv() => {
                tasks.spawn(work);
            }
            Some(ended) = tasks.join_next() => {
                if let Some(error) = worked(ended) {
                    return error;
                }
            }
            else => pending().await,
        }
    }
}

async fn lost(election: Option<&Election>) -> Error {
    match election {
        Some(election) => Error::Setup(format!("the leader lease is lost: {}", election.lost().await)),
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, future::ready};

    use http::{Request, Response};
    use kube::{Client, client::Body};
    use tower::service_fn;

    use super::*;
    use crate::{manager::Uses, worker::Pending};

    /// A controller whose workers end as the test decides.
    struct Ends(fn());

    impl Runnable for Ends {
        fn name(&self) -> &'static str {
            "foobar"
        }

        fn start(&self) -> Pending<'_> {
            Box::pin(ready(()))
        }

        fn queue_namespace<'a>(&'a self, _: &'a str) -> Pending<'a> {
            Box::pin(ready(()))
        }

        fn work(self: Arc<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
            Box::pin(async move { (self.0)() })
        }

        fn shut_down(&self) {}

        fn is_shut_down(&self) -> bool {
            false
        }

        fn under_way(&self) -> usize {
            0
        }
    }

    async fn ended(worker: fn()) -> String {
        let service = service_fn(|_: Request<Body>| ready(Ok::<_, Infallible>(Response::new(Body::empty()))));
        let manager = Manager::builder(Client::new(service, "default")).build();
        manager.add(Arc::new(Ends(worker)), 1, Uses::default());
        manager.run(pending(), None).await.unwrap_err().to_string()
    }

    #[tokio::test(start_paused = true)]
    async fn a_worker_that_ends_ends_the_process() {
        assert_eq!(ended(|| {}).await, "a worker of `foobar` ended unexpectedly");
        assert_eq!(
            ended(|| panic!("no")).await,
            "a worker of `foobar` ended unexpectedly: it panicked: no"
        );
    }
}
