//! A single leader and the API server: which failures it survives, and which lose the lease.

use std::time::Duration;

use kubewright_runtime::{Election, ElectionConfig, Heartbeat, Metrics};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::lease_server::{Fault, LeaseServer, is_within};

#[tokio::test(start_paused = true)]
async fn a_lone_candidate_leads_at_once_and_keeps_leading() {
    let (server, metrics) = (LeaseServer::default(), Metrics::new());
    let election = server.candidate_counted("a", &metrics);
    assert!(!election.is_leader());
    assert!(
        metrics
            .encode()
            .contains("\nleader_election_master_status{name=\"op\"} 0\n")
    );
    is_within(1, election.acquired()).await.unwrap();
    assert!(election.is_leader());
    assert!(
        metrics
            .encode()
            .contains("\nleader_election_master_status{name=\"op\"} 1\n")
    );
    let first = server.spec();
    assert_eq!(
        (&first["holderIdentity"], &first["leaseDurationSeconds"]),
        (&json!("a"), &json!(15))
    );
    assert_eq!(first["leaseTransitions"], 0);

    assert!(is_within(3600, election.lost()).await.is_none());
    let later = server.spec();
    assert_eq!(
        (&later["acquireTime"], &later["leaseTransitions"]),
        (&first["acquireTime"], &json!(0))
    );
    let requests = server.requests();
    assert!(
        (1700..1810).contains(&requests),
        "one request every two seconds: {requests}"
    );
}

#[tokio::test(start_paused = true)]
async fn with_a_silent_api_server_the_lease_is_lost_at_the_renew_deadline() {
    let server = LeaseServer::default();
    let election = server.candidate("a");
    election.acquired().await;
    sleep(Duration::from_secs(60)).await;
    server.set_fault(Fault::Silent);
    let started = Instant::now();
    let reason = election.lost().await.to_string();
    // The last renewal was sent up to a retry period before the failure.
    let took = started.elapsed().as_secs_f64();
    assert!((7.9..=10.0).contains(&took), "{took}");
    assert!(reason.contains("could not be renewed in time"), "{reason}");
    assert!(!election.is_leader());
}

#[tokio::test(start_paused = true)]
async fn errors_for_less_than_the_deadline_do_not_lose_the_lease() {
    let server = LeaseServer::default();
    let election = server.candidate("a");
    election.acquired().await;
    for fault in [Fault::Errors, Fault::LosesAnswers, Fault::Silent] {
        server.set_fault(fault);
        assert!(is_within(4, election.lost()).await.is_none());
        server.set_fault(Fault::None);
        assert!(
            is_within(20, election.lost()).await.is_none(),
            "{}",
            election.lost().await
        );
        assert!(election.is_leader());
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_taken_by_another_is_lost_at_the_next_renewal() {
    for holder in ["b", ""] {
        let server = LeaseServer::default();
        let election = server.candidate("a");
        election.acquired().await;
        server.write_as(holder, "2020-01-01T00:00:00.000000Z");
        let reason = is_within(3, election.lost()).await.unwrap().to_string();
        assert!(
            reason.contains(if holder.is_empty() {
                "was removed"
            } else {
                "`b` holds it"
            }),
            "{reason}"
        );
        assert!(!election.is_leader());
        assert_eq!(server.holder(), holder, "the other holder was not overwritten");
    }
}

#[tokio::test(start_paused = true)]
async fn a_deleted_lease_is_created_again() {
    let server = LeaseServer::default();
    let election = server.candidate("a");
    election.acquired().await;
    server.forget();
    assert!(is_within(30, election.lost()).await.is_none());
    assert_eq!(server.holder(), "a");
}

#[tokio::test(start_paused = true)]
async fn before_begin_the_election_sends_no_request() {
    let server = LeaseServer::default();
    let config = ElectionConfig::new("op", "ns");
    let election = Election::spawn(config, server.client(), &Metrics::new()).unwrap();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(server.requests(), 0);
    assert!(
        is_within(60, election.acquired()).await.is_none(),
        "before `begin` no request is sent"
    );
    election.begin();
    is_within(1, election.acquired()).await.unwrap();
    assert!(election.is_leader());
    // An election that was never begun ends too.
    let other = Election::spawn(ElectionConfig::new("op", "ns"), server.client(), &Metrics::new()).unwrap();
    is_within(1, other.release()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_process_whose_main_runtime_is_stuck_loses_the_lease_and_does_not_acquire_it() {
    let (server, heartbeat) = (LeaseServer::default(), Heartbeat::default());
    let election = server.candidate("a");
    election.depend_on(&heartbeat);
    election.acquired().await;
    assert!(is_within(3600, election.lost()).await.is_none());
    heartbeat.pretend_silence(Duration::from_secs(25));
    let reason = election.lost().await.to_string();
    assert!(reason.contains("could not be renewed in time"), "{reason}");

    let other = server.candidate("b");
    other.depend_on(&heartbeat);
    assert!(is_within(3600, other.acquired()).await.is_none());
    heartbeat.pretend_silence(Duration::ZERO);
    is_within(60, other.acquired()).await.unwrap();
}
