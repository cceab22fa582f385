//! Leader election in an operator that has its own `main`, and work that only the leader does.

use std::{sync::Arc, time::Duration};

use kubewright_runtime::{Election, ElectionConfig, Manager, Result};
use tokio::time::interval;

// ANCHOR: leader
/// Runs the manager while this process leads, and once an hour a task that belongs to no controller.
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
        // Checked right before each run: the process may have been stopped for longer than its lease.
        if election.is_leader() {
            count_what_there_is().await;
        }
    }
}
// ANCHOR_END: leader

async fn count_what_there_is() {}
