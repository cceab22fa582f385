//! Several candidates: which one follows, when, and never two at once.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use super::lease_server::{Fault, LeaseServer, is_within};

#[tokio::test(start_paused = true)]
async fn another_holder_counts_as_gone_only_after_observed_silence_regardless_of_its_clock() {
    // The other process' clock is years behind, or years ahead.
    for clock in ["2001-01-01T00:00:00.000000Z", "2101-01-01T00:00:00.000000Z"] {
        let server = LeaseServer::default();
        server.write_as("b", clock);
        let election = server.candidate("a");
        // It renews every ten seconds; the times that it writes differ by one digit only.
        for renewal in 1..6 {
            assert!(is_within(10, election.acquired()).await.is_none());
            server.write_as("b", &clock.replace("00.000000", &format!("00.00000{renewal}")));
        }
        let silent = Instant::now();
        is_within(60, election.acquired()).await.unwrap();
        let took = silent.elapsed().as_secs_f64();
        // From when the last renewal was seen, which is up to a jittered retry period later; plus one until the next
        // try.
        assert!((15.0..15.0 + 2.0 * 4.5).contains(&took), "{took}");
        let spec = server.spec();
        assert_eq!(
            (&spec["holderIdentity"], &spec["leaseTransitions"]),
            (&json!("a"), &json!(1))
        );
        let labels = server.metadata()["labels"].clone();
        assert_eq!(labels, json!({"kept": "yes"}), "fields that others set stay");
    }
}

#[tokio::test(start_paused = true)]
async fn a_released_lease_is_taken_over_at_once() {
    let server = LeaseServer::default();
    let first = server.candidate("a");
    first.acquired().await;
    let second = server.candidate("b");
    assert!(is_within(60, second.acquired()).await.is_none());

    first.release().await;
    assert!(!first.is_leader());
    assert_eq!(first.lost().await.to_string(), "it was released");
    let spec = server.spec();
    assert_eq!(
        (&spec["holderIdentity"], &spec["leaseDurationSeconds"]),
        (&json!(""), &json!(1))
    );
    is_within(5, second.acquired()).await.unwrap();
    assert_eq!(server.holder(), "b");
}

#[tokio::test(start_paused = true)]
async fn a_candidate_that_never_led_releases_nothing() {
    let server = LeaseServer::default();
    let first = server.candidate("a");
    first.acquired().await;
    let second = server.candidate("b");
    sleep(Duration::from_secs(30)).await;
    second.release().await;
    assert_eq!(server.holder(), "a");
    assert!(first.is_leader());
}

#[tokio::test(start_paused = true)]
async fn a_release_waits_for_a_silent_api_server_up_to_a_limit() {
    let server = LeaseServer::default();
    let election = server.candidate("a");
    election.acquired().await;
    server.set_fault(Fault::Silent);
    is_within(6, election.release()).await.unwrap();
    assert!(!election.is_leader());
}

/// Of all writes of a leader and its successor: to acquire, to renew, to release, and to acquire again.
#[tokio::test(start_paused = true)]
async fn a_write_that_fails_once_loses_no_lease_and_keeps_no_successor_waiting_for_its_end() {
    for (code, after) in [403, 404, 409, 422, 500, 503, 0]
        .into_iter()
        .flat_map(|code| (0..20).map(move |n| (code, n)))
    {
        let server = LeaseServer::default();
        server.fail_write(after, code);
        let first = server.candidate("a");
        is_within(10, first.acquired()).await.unwrap();
        let second = server.candidate("b");
        assert!(is_within(25, first.lost()).await.is_none(), "{code} at {after}");
        first.release().await;
        // Two delays between tries (4.4 s each) and a request without an answer (5 s), but less than a lease (15 s).
        let followed = is_within(14, second.acquired()).await;
        assert!(followed.is_some() && server.holder() == "b", "{code} at {after}");
        assert!(is_within(10, second.lost()).await.is_none(), "{code} at {after}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_election_ends_and_leaves_the_lease_to_expire() {
    let server = LeaseServer::default();
    let election = server.candidate("a");
    election.acquired().await;
    drop(election);
    sleep(Duration::from_secs(5)).await;
    let requests = server.requests();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(server.requests(), requests);
    assert_eq!(server.holder(), "a");
}

/// All kinds of faults in turn, at other times for each seed, and never two leaders.
#[tokio::test(start_paused = true)]
async fn never_two_of_three_candidates_lead_at_once() {
    let faults = [Fault::Silent, Fault::LosesAnswers, Fault::Errors, Fault::None];
    for seed in 0..20_u64 {
        let server = LeaseServer::default();
        let mut candidates: Vec<_> = ["a", "b", "c"].map(|name| server.candidate(name)).into();
        let (mut lead, mut next) = (0, 3);
        for step in 0..600_u64 {
            // A simple pseudo-random sequence is enough, as long as seeds differ.
            let dice = (step + 1)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ (seed << 17))
                .rotate_left(23)
                % 97;
            if dice < 8 {
                server.set_fault(faults[dice as usize % 4]);
            }
            if dice == 8 {
                server.set_fault(Fault::None);
                candidates.remove(0).release().await;
            }
            sleep(Duration::from_millis(250 + dice)).await;
            // The process that loses the lease ends; another one is started.
            for candidate in &mut candidates {
                if is_within(0, candidate.lost()).await.is_some() {
                    *candidate = server.candidate(&format!("x{next}"));
                    next += 1;
                }
            }
            while candidates.len() < 3 {
                candidates.push(server.candidate(&format!("y{next}")));
                next += 1;
            }
            let leaders = candidates.iter().filter(|candidate| candidate.is_leader()).count();
            assert!(leaders <= 1, "seed {seed}, step {step}: {leaders} leaders");
            lead += leaders;
        }
        assert!(lead > 20, "seed {seed}: there was a leader in {lead} of 600 steps");
    }
}
