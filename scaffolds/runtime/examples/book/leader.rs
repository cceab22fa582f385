//! Leader election in an operator that has its own `main`, and work that only the leader does.

use std::{sync::Arc, time::Duration};

use kubewright_runtime::{Election, ElectionConfig, Manager, Result, Stop, Task};
use tokio::time::interval;

// ANCHOR: tasks
/// Once an hour the leader counts what there is; every replica refreshes its prices.
pub fn register(manager: &Manager) {
    manager.task(Task::new("hourly-count", hourly));
    manager.task(Task::new("prices", |stop| async move { prices(&stop).await }).leaderless());
}

async fn hourly(stop: Stop) -> Result<()> {
    let mut hours = interval(Duration::from_secs(3600));
    loop {
        tokio::select! {
            _ = hours.tick() => count_what_there_is().await?,
            () = stop.requested() => return Ok(()),
        }
    }
}
// ANCHOR_END: tasks

// ANCHOR: leader
/// Runs the manager; its workers and tasks run while this process leads.
pub async fn run(config: kube::Config, manager: Manager, stop: impl Future<Output = ()>) -> Result<()> {
    // A Lease named `book` in the namespace `book-system`; the durations are those of the flags.
    let lease = ElectionConfig::new("book", "book-system");
    let election = Arc::new(Election::start(lease, config, manager.metrics())?);
    manager.run(stop, Some(election)).await
}
// ANCHOR_END: leader

async fn count_what_there_is() -> Result<()> {
    Ok(())
}

async fn prices(stop: &Stop) -> Result<()> {
    stop.requested().await;
    Ok(())
}
