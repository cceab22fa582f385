//! Leader election in an operator that has a `main` of its own, and work that the leader alone does.

use std::{sync::Arc, time::Duration};

use kubewright_runtime::{Election, ElectionConfig, Manager, Result};
use tokio::time::interval;

// ANCHOR: leader
/// Runs the manager for as long as this process leads, and once an hour what is no controller's work.
pub async fn run(config: kube::Config, manager: Manager, stop: impl Future<Output = ()>) -> Result<()> {
    // A Lease named `book` in the namespace `book-system`; the durations are those of the flags.
    let lease = ElectionConfig::new("book", "book-system");
    let election = Arc::new(Election::start(lease, config, manager.metrics())?);
    manager.background(every_hour(election.clone()));
    manager.run(stop, Some(election)).await
}

async fn every_hour(election: Arc<Election>) {
    election.acquired().await;
    let mut hours = interval(Duration::from_secs(3600));
    loop {
        hours.tick().await;
        // Asked each time, and right before: a process may have been stopped for longer than its lease.
        if election.is_leader() {
            count_what_there_is().await;
        }
    }
}
// ANCHOR_END: leader

async fn count_what_there_is() {}
