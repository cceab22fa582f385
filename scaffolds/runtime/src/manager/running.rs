//! Runs a manager from start to shutdown: caches, lease, workers, drain.

use std::{
    future::{Future, pending},
    pin::{Pin, pin},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use futures::future::try_join_all;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{self, Instant},
};
use tracing::{error, info, warn};

use super::{
    Manager,
    caches::Runs,
    draining::{Ended, rest},
    lock,
    tasks::Start,
};
use crate::{
    error::{Error, Result},
    isolate::{Panic, isolated_future},
    leader::Election,
};

/// How long the tasks of the manager itself may take to end.
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
        let (halt, halted) = watch::channel(false);
        self.select_children();
        let mut tasks = self.start_tasks(&halted);
        let (mut early, mut late) = (Tasks::new(), Leaderless::new(halted));
        self.start_authored(Start::AtOnce, &late.halted, &mut early);
        let mut ended = {
            let end = pin!(async {
                tokio::select! {
                    () = stop => None,
                    error = failed(&mut tasks) => Some(error),
                    error = failed(&mut early) => Some(error),
                }
            });
            self.work(end, election.as_deref(), &mut late).await
        };
        self.filled.store(false, Ordering::Relaxed);
        halt.send_replace(true);
        // The remaining tasks flush events and close watches; the time is limited, because a longer wait has no use.
        let flush = self.settings.drain.min(FLUSH);
        // Without the lease no event may be written.
        if !ended.lease_lost {
            let deadline = ended.deadline.unwrap_or_else(|| Instant::now() + self.settings.drain);
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
            // After the workers: the next leader starts only when this process has stopped working.
            if ended.cut_off > 0 || !unfinished.is_empty() {
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

    /// Starts informers, background tasks and the writer of events.
    fn start_tasks(&self, halted: &watch::Receiver<bool>) -> Tasks {
        let mut tasks = Tasks::new();
        for cache in lock(&self.caches).values() {
            let name = format!("the cache of {}", cache.running.name());
            tasks.spawn(essential(name, cache.running.run(halted.clone()), halted.clone()));
        }
        for task in lock(&self.tasks).drain(..) {
            let mut halted = halted.clone();
            tasks.spawn(async move {
                tokio::select! {
                    ended = isolated_future(task) => ended.err().map(|panic| unexpected("a background task", Some(panic))),
                    _ = halted.wait_for(|halt| *halt) => None,
                }
            });
        }
        let events = self.events.run(halted.clone());
        tasks.spawn(essential("the writer of events".to_owned(), events, halted.clone()));
        tasks
    }

    /// Fills the caches, then works until `end`, with the tasks of every replica.
    async fn work(
        &self,
        mut end: Pin<&mut impl Future<Output = Option<Error>>>,
        election: Option<&Election>,
        late: &mut Leaderless,
    ) -> Ended {
        let filled = tokio::select! {
            error = &mut end => Err(error),
            filled = self.fill_caches() => filled.map_err(Some),
        };
        match filled {
            Ok(()) => {
                self.start_authored(Start::Filled, &late.halted, &mut late.tasks);
                let end = pin!(async {
                    tokio::select! {
                        error = end => error,
                        error = failed(&mut late.tasks) => Some(error),
                    }
                });
                self.lead(end, election).await
            }
            Err(error) => Ended {
                error,
                ..Ended::default()
            },
        }
    }

    /// Waits until every cache is filled, but for those that may be late; the informers run already.
    pub(crate) async fn fill_caches(&self) -> Result<()> {
        let limit = self.settings.sync_limit;
        let waits: Vec<_> = lock(&self.caches)
            .values()
            .map(|cache| {
                let (running, synced) = (cache.running.clone(), cache.running.synced(limit));
                let may_be_late = cache.may_be_late();
                async move {
                    if synced.await {
                        return Ok(());
                    }
                    let error = not_synced(&*running, limit);
                    if !may_be_late {
                        return Err(error);
                    }
                    // A log message is one line.
                    let text = error.to_string();
                    let (text, hint) = text.split_once("\n\nhint: ").unwrap_or((&text, ""));
                    error!(hint, "starting without a cache: {text}");
                    Ok(())
                }
            })
            .collect();
        try_join_all(waits).await?;
        info!("caches are filled");
        self.filled.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Acquires the lease, then works until `end`, until the lease is lost, or until a worker ends unexpectedly.
    async fn lead(&self, mut end: Pin<&mut impl Future<Output = Option<Error>>>, election: Option<&Election>) -> Ended {
        if let Some(election) = election {
            election.begin();
            tokio::select! {
                error = &mut end => return Ended { error, ..Ended::default() },
                () = election.acquired() => {}
            }
        }
        // No worker starts until the caches contain every child.
        let found = tokio::select! {
            error = &mut end => return Ended { error, ..Ended::default() },
            error = lost(election) => return Ended { error: Some(error), lease_lost: true, ..Ended::default() },
            found = self.find_children() => found,
        };
        let late = match found {
            Ok(late) => late,
            Err(error) => {
                return Ended {
                    error: Some(error),
                    ..Ended::default()
                };
            }
        };
        let mut searches = Tasks::new();
        for search in late {
            searches.spawn(async move { search.run_late().await.err() });
        }
        let mut workers = self.start_workers();
        let (halt, halted) = watch::channel(false);
        self.start_authored(Start::Leading, &halted, &mut workers);
        let error = tokio::select! {
            error = end => error,
            error = failed(&mut workers) => Some(error),
            error = failed(&mut searches) => Some(error),
            // Dropping the set cancels every worker at its next await: another process may lead by now.
            error = lost(election) => return Ended { error: Some(error), lease_lost: true, ..Ended::default() },
        };
        if let Some(error) = &error {
            error!("{error}");
        }
        halt.send_replace(true);
        let drained = self.drain(workers).await;
        Ended {
            error: error.or(drained.error),
            ..drained
        }
    }

    fn start_workers(&self) -> Tasks {
        let mut workers = Tasks::new();
        for (controller, count) in lock(&self.controllers).iter() {
            info!(controller = controller.name(), workers = count, "starting");
            controller.start();
            for _ in 0..controller.tasks(*count) {
                let (controller, work) = (controller.clone(), controller.clone().work());
                workers.spawn(async move {
                    let panic = isolated_future(work).await.err();
                    let name = format!("a worker of `{}`", controller.name());
                    (panic.is_some() || !controller.is_shut_down()).then(|| unexpected(&name, panic))
                });
            }
        }
        workers
    }
}

/// Runs a task that the manager needs. Returns an error if it ends before it is asked to.
async fn essential(name: String, task: impl Future<Output = ()>, halted: watch::Receiver<bool>) -> Option<Error> {
    let panic = isolated_future(task).await.err();
    (panic.is_some() || !*halted.borrow()).then(|| unexpected(&name, panic))
}

fn unexpected(name: &str, panic: Option<Panic>) -> Error {
    let reason = panic.map(|panic| format!(": it panicked: {panic}")).unwrap_or_default();
    Error::Setup(format!("{name} ended unexpectedly{reason}"))
}

/// Waits for a task that ends unexpectedly.
async fn failed(tasks: &mut Tasks) -> Error {
    while let Some(ended) = tasks.join_next().await {
        match ended {
            Ok(None) => {}
            Ok(Some(error)) => return error,
            Err(error) => return Error::Setup(format!("a task ended unexpectedly: {error}")),
        }
    }
    pending().await
}

async fn lost(election: Option<&Election>) -> Error {
    match election {
        Some(election) => Error::Setup(format!("the leader lease is lost: {}", election.lost().await)),
        None => pending().await,
    }
}

fn not_synced(cache: &dyn Runs, limit: Duration) -> Error {
    let (name, error) = (cache.name(), cache.last_error());
    let hint = match error.as_deref() {
        Some(error) if error.contains(": 403 ") => {
            "run `make manifests` and apply config/rbac: the operator may not list it"
        }
        Some(error) if error.contains(": 404 ") => {
            "install its CustomResourceDefinition, or declare the kind `.optional` in each controller"
        }
        _ => "if the API server is slow, pass a longer --cache-sync-timeout",
    };
    let error = error.unwrap_or_else(|| "the API server sent nothing".to_owned());
    Error::Setup(format!(
        "the cache of {name} is not filled, without progress for {limit:?}: {error}\n\nhint: {hint}"
    ))
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, future::ready};

    use http::{Request, Response};
    use kube::{Client, client::Body};
    use tower::service_fn;

    use super::*;
    use crate::worker::Runnable;

    /// A controller whose workers end as the test decides.
    struct Ends(fn());

    impl Runnable for Ends {
        fn name(&self) -> &'static str {
            "foobar"
        }

        fn start(&self) {}

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
        manager.add(Arc::new(Ends(worker)), 1);
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
