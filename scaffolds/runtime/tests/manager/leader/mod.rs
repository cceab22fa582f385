//! Leader election, against a Lease API with a real compare-and-swap. Tests of whole processes on a real API server are
//! in `tests/control-plane`.

mod leading;
mod lease_server;
mod succession;

use std::time::Duration;

use kubewright_runtime::{Election, ElectionConfig, Metrics};
use tokio::time::timeout;

#[test]
fn the_election_runs_on_its_own_thread() {
    // There is no API server: the test only shows that the election starts outside any runtime, runs, and ends when
    // asked to.
    let kube = kube::Config::new("http://127.0.0.1:9".parse().unwrap());
    let election = Election::start(ElectionConfig::new("op", "ns"), kube, &Metrics::new()).unwrap();
    assert!(!election.is_leader());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { timeout(Duration::from_secs(5), election.release()).await.unwrap() });
}

#[tokio::test]
async fn inconsistent_durations_are_refused_inside_a_runtime_too() {
    let kube = kube::Config::new("http://127.0.0.1:9".parse().unwrap());
    let config = ElectionConfig {
        retry_period: Duration::from_secs(9),
        ..ElectionConfig::new("op", "ns")
    };
    let error = Election::start(config, kube, &Metrics::new())
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("renew deadline must be longer"), "{error}");
}
