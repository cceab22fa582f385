//! From the start of a manager to its end: caches, lease, workers, and back.

use std::{any::TypeId, future::Future, sync::Arc, sync::atomic::Ordering, time::Duration};

use tokio::{sync::watch, task::JoinSet, time};
use tracing::{info, warn};

use super::{Manager, lock};
use crate::{
    error::{Error, Result},
    leader::Election,
};

/// How long a cache may take to fill before the process gives up, per source (controller-runtime's `CacheSyncTimeout`).
const CACHE_SYNC_TIMEOUT: Duration = Duration::from_secs(120);

impl Manager {
    /// Runs everything that is registered until `stop` is ready, then drains. With an `election`, the workers run only
    /// while its lease is held.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] when a cache is not filled within two minutes, with the failing watch named; or when the lease
    /// is lost.
    pub async fn run(&self, stop: impl Future<Output = ()>, election: Option<Arc<Election>>) -> Result<()> {
        tokio::pin!(stop);
        let (halt, halted) = watch::channel(false);
        let mut background = JoinSet::new();
        for kind in lock(&self.informers).values() {
            background.spawn(kind.running.run(halted.clone()));
        }
        for task in lock(&self.tasks).drain(..) {
            let mut halted = halted.clone();
            background.spawn(async move {
                tokio::select! {
                    () = task => {}
                    _ = halted.wait_for(|halt| *halt) => {}
                }
            });
        }
        background.spawn(self.events.run(halted));

        let outcome = tokio::select! {
            () = &mut stop => Ok(0),
            filled = self.fill_caches() => match filled {
                Ok(()) => self.lead(&mut stop, election.as_deref()).await,
                Err(error) => Err(error),
            },
        };

        self.filled.store(false, Ordering::Relaxed);
        halt.send_replace(true);
        // What is left flushes events and closes watches: bounded, because nothing good comes of waiting longer.
        let flush = time::timeout(self.settings.drain.min(Duration::from_secs(5)), async {
            while background.join_next().await.is_some() {}
        });
        // Without the lease no event may be written, and without caches there is none.
        if outcome.is_ok() && flush.await.is_err() {
            warn!("background tasks did not end in time");
        }
        if let Some(election) = election {
            // After the workers: whoever takes over finds nobody at work.
            match &outcome {
                Ok(cut_off) if *cut_off > 0 => election.abandon().await,
                _ => election.release().await,
            }
        }
        match outcome {
            Ok(0) => Ok(()),
            Ok(cut_off) => Err(self.cut_off(cut_off)),
            Err(error) => Err(error),
        }
    }

    /// Waits until every cache is filled; the informers run already.
    pub(crate) async fn fill_caches(&self) -> Result<()> {
        let waits: Vec<_> = lock(&self.informers)
            .iter()
            .map(|(id, kind)| (*id, kind.running.synced()))
            .collect();
        let deadline = time::Instant::now() + CACHE_SYNC_TIMEOUT;
        for (id, synced) in waits {
            if time::timeout_at(deadline, synced).await.is_err() {
                return Err(self.not_synced(id));
            }
        }
        info!("caches are filled");
        self.filled.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn not_synced(&self, id: TypeId) -> Error {
        let informers = lock(&self.informers);
        let (kind, error) = informers
            .get(&id)
            .map(|kind| {
                (
                    kind.running.kind(),
                    kind.running.last_error().unwrap_or_else(|| "no answer".to_owned()),
                )
            })
            .unwrap_or_default();
        Error::Setup(format!(
            "the cache of {kind} was not filled within {CACHE_SYNC_TIMEOUT:?}: {error}"
        ))
    }

    /// Works until told to stop; how many reconciles were cut off then.
    async fn lead(&self, mut stop: impl Future<Output = ()> + Unpin, election: Option<&Election>) -> Result<usize> {
        let Some(election) = election else {
            let workers = self.start_workers();
            stop.await;
            return Ok(self.drain(workers).await);
        };
        tokio::select! {
            () = &mut stop => return Ok(0),
            () = election.acquired() => {}
        }
        let workers = self.start_workers();
        tokio::select! {
            () = stop => Ok(self.drain(workers).await),
            // Dropping the set ends every worker at its next await: another process is at work by now.
            reason = election.lost() => Err(Error::Setup(format!("the leader lease is lost: {reason}"))),
        }
    }

    fn start_workers(&self) -> JoinSet<()> {
        let mut workers = JoinSet::new();
        for (controller, count) in lock(&self.controllers).iter() {
            info!(controller = controller.name(), workers = count, "starting");
            controller.start();
            for _ in 0..*count {
                workers.spawn(controller.clone().work());
            }
        }
        workers
    }

    /// Waits for what is in hand; how many reconciles had to be cut off.
    async fn drain(&self, mut workers: JoinSet<()>) -> usize {
        info!("stopping: no new work, waiting for what is in hand");
        let controllers: Vec<_> = lock(&self.controllers)
            .iter()
            .map(|(controller, _)| controller.clone())
            .collect();
        for controller in &controllers {
            controller.shut_down();
        }
        let ended = time::timeout(self.settings.drain, async {
            while workers.join_next().await.is_some() {}
        });
        match ended.await {
            Ok(()) => 0,
            // Counted before they are dropped with their workers. A worker without a key has nothing to cut off.
            Err(_) => controllers.iter().map(|controller| controller.under_way()).sum(),
        }
    }

    fn cut_off(&self, count: usize) -> Error {
        let after = self.settings.drain;
        Error::Setup(format!(
            "{count} reconciles did not end within {after:?} and were cut off"
        ))
    }
}
