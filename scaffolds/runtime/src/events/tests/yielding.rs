//! When events are written while objects are reconciled.

use super::*;
use crate::events::{
    line::PRESSING,
    writer::WRITES,
    yielding::{BOUND, QUIET, STANDSTILL},
};

/// Begins and ends a reconcile each twenty milliseconds, as for a user who changes one object after the other.
async fn reconcile_for(running: &Running, time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        let reconcile = running.recorder.reconciles().begin();
        sleep(Duration::from_millis(10)).await;
        drop(reconcile);
        sleep(Duration::from_millis(10).min(until - Instant::now())).await;
    }
}

#[tokio::test(start_paused = true)]
async fn events_wait_until_nothing_was_reconciled_for_a_moment_and_are_then_written_one_at_a_time() {
    let server = Server::default();
    let running = Running::on(&server);
    for number in 0..20 {
        running.event(&number.to_string(), "x");
    }
    reconcile_for(&running, BOUND / 2).await;
    assert_eq!(server.seen().len(), 0);
    // The last reconcile ended ten milliseconds ago.
    sleep(QUIET + Duration::from_millis(41)).await;
    let seen = server.seen().len();
    assert!((9..=11).contains(&seen), "one every five milliseconds: {seen}");
    reconcile_for(&running, BOUND / 4).await;
    assert!(server.seen().len() <= seen + 1, "they yield to the next object");
    sleep(QUIET + Duration::from_millis(110)).await;
    assert_eq!(server.seen().len(), 20);
    assert_eq!(server.most_at_once.load(Ordering::SeqCst), 1);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn events_wait_for_five_seconds_at_most_while_reconciles_end() {
    let server = Server::default();
    let running = Running::on(&server);
    running.event("a", "x");
    reconcile_for(&running, Duration::from_secs(1)).await;
    running.event("b", "x");
    reconcile_for(&running, BOUND - Duration::from_millis(1001)).await;
    assert_eq!(server.seen().len(), 0);
    reconcile_for(&running, Duration::from_millis(999)).await;
    assert_eq!(server.seen().len(), 1, "each event has a time of its own");
    reconcile_for(&running, Duration::from_millis(2)).await;
    assert_eq!(server.seen().len(), 2);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn events_wait_for_a_second_for_reconciles_that_do_not_end() {
    let server = Server::default();
    let running = Running::on(&server);
    let _slow = running.recorder.reconciles().begin();
    running.event("a", "x");
    sleep(STANDSTILL - Duration::from_millis(1)).await;
    assert_eq!(server.seen().len(), 0);
    sleep(Duration::from_millis(2)).await;
    assert_eq!(server.seen().len(), 1, "the reconcile has not ended");

    running.event("b", "x");
    for _ in 0..3 {
        sleep(STANDSTILL / 2).await;
        drop(running.recorder.reconciles().begin());
    }
    sleep(STANDSTILL - Duration::from_millis(1)).await;
    assert_eq!(server.seen().len(), 1);
    sleep(Duration::from_millis(2)).await;
    assert_eq!(server.seen().len(), 2, "a second after the last end");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn warnings_are_written_first_and_wait_for_a_second_at_most() {
    let server = Server::default();
    let running = Running::on(&server);
    running.event("well", "x");
    running.record_as(EventType::Warning, "wrong", "x");
    reconcile_for(&running, STANDSTILL - Duration::from_millis(1)).await;
    assert_eq!(server.seen().len(), 0);
    reconcile_for(&running, Duration::from_millis(20)).await;
    let about = |n: usize| server.seen()[n].2["regarding"]["name"].clone();
    assert_eq!((server.seen().len(), about(0)), (1, json!("wrong")));
    running.stop().await;
    assert_eq!((server.seen().len(), about(1)), (2, json!("well")));
}

#[tokio::test(start_paused = true)]
async fn an_event_waits_for_the_last_of_several_reconciles() {
    let server = Server::default();
    let running = Running::on(&server);
    let [one, two] = [(); 2].map(|()| running.recorder.reconciles().begin());
    running.event("a", "x");
    sleep(Duration::from_millis(100)).await;
    drop(one);
    sleep(Duration::from_millis(100)).await;
    assert_eq!(server.seen().len(), 0);
    drop(two);
    sleep(QUIET - Duration::from_millis(1)).await;
    assert_eq!(server.seen().len(), 0);
    sleep(Duration::from_millis(2)).await;
    assert_eq!(server.seen().len(), 1);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn late_events_are_written_more_at_once_also_beside_a_write_without_a_response() {
    let server = Server::answering(&[0, 201]);
    let running = Running::on(&server);
    for name in ["a", "b", "c"] {
        running.event(name, "x");
    }
    sleep(BOUND + Duration::from_millis(999)).await;
    assert_eq!(server.seen().len(), 1);
    sleep(Duration::from_millis(20)).await;
    assert_eq!(server.seen().len(), 3);
    running.stop().await;
}

/// The server takes five milliseconds for an event, and there is one each two milliseconds: one at a time is too few.
#[tokio::test(start_paused = true)]
async fn no_event_of_a_long_burst_is_lost_or_waits_for_much_longer_than_five_seconds() {
    const EVENTS: usize = 8000;
    let server = Server::default();
    let running = Running::on(&server);
    for number in 0..EVENTS {
        let reconcile = running.recorder.reconciles().begin();
        running.event(&number.to_string(), "x");
        sleep(Duration::from_millis(1)).await;
        drop(reconcile);
        sleep(Duration::from_millis(1)).await;
    }
    reconcile_for(&running, BOUND + Duration::from_secs(4)).await;
    assert_eq!(server.seen().len(), EVENTS);
    let most = server.most_at_once.load(Ordering::SeqCst);
    assert!((3..=5).contains(&most), "as few as keep up: {most}");
    for reason in ["queue_full", "spam", "write_failed"] {
        assert_eq!(dropped(&running.metrics, reason), 0, "{reason}");
    }
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn many_waiting_events_do_not_wait_for_reconciles() {
    let server = Server::default();
    let running = Running::on(&server);
    let _reconcile = running.recorder.reconciles().begin();
    for number in 0..PRESSING + 1000 {
        running.event(&number.to_string(), "x");
        tokio::task::yield_now().await;
    }
    sleep(Duration::from_millis(100)).await;
    assert_eq!(server.most_at_once.load(Ordering::SeqCst), WRITES);
    assert_eq!(dropped(&running.metrics, "queue_full"), 0);
    running.stop().await;
}
