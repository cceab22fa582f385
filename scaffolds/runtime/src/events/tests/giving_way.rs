//! When events are written while objects are reconciled.

use super::*;
use crate::events::{
    line::PRESSING,
    writer::WRITES,
    yielding::{CROWDED_YIELD, YIELD},
};

#[tokio::test(start_paused = true)]
async fn events_wait_for_reconciles_for_a_second_and_are_then_written_one_at_a_time() {
    let server = Server::default();
    let running = Running::on(&server);
    let reconcile = running.recorder.reconciles().begin(false);
    for number in 0..20 {
        running.event(&number.to_string(), "x");
    }
    sleep(YIELD - Duration::from_millis(1)).await;
    assert_eq!(server.seen().len(), 0);
    sleep(Duration::from_millis(51)).await;
    let seen = server.seen().len();
    assert!((5..=11).contains(&seen), "one every five milliseconds: {seen}");
    assert_eq!(server.most_at_once.load(Ordering::SeqCst), 1);
    drop(reconcile);
    sleep(Duration::from_millis(20)).await;
    assert_eq!(server.seen().len(), 20, "nothing is reconciled any more");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn events_wait_for_longer_while_objects_are_queued_and_reconciles_end() {
    let server = Server::default();
    let running = Running::on(&server);
    let _slow = running.recorder.reconciles().begin(true);
    running.event("a", "x");
    for _ in 0..19 {
        sleep(CROWDED_YIELD / 20).await;
        drop(running.recorder.reconciles().begin(true));
    }
    assert_eq!(server.seen().len(), 0);
    sleep(CROWDED_YIELD / 20 + Duration::from_millis(1)).await;
    assert_eq!(server.seen().len(), 1, "no second event is written before that");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn events_do_not_wait_longer_for_reconciles_that_do_not_end() {
    let server = Server::default();
    let running = Running::on(&server);
    let _slow = running.recorder.reconciles().begin(true);
    running.event("a", "x");
    sleep(YIELD - Duration::from_millis(1)).await;
    assert_eq!(server.seen().len(), 0);
    sleep(Duration::from_millis(2)).await;
    assert_eq!(server.seen().len(), 1, "the reconciles have not ended");

    running.event("b", "x");
    for _ in 0..3 {
        sleep(YIELD / 2).await;
        drop(running.recorder.reconciles().begin(true));
    }
    sleep(YIELD - Duration::from_millis(1)).await;
    assert_eq!(server.seen().len(), 1);
    sleep(Duration::from_millis(2)).await;
    assert_eq!(server.seen().len(), 2, "a second after the last end");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn warnings_are_written_first_and_wait_for_a_second_at_most() {
    let server = Server::default();
    let running = Running::on(&server);
    let _slow = running.recorder.reconciles().begin(true);
    running.event("well", "x");
    running.record_as(EventType::Warning, "wrong", "x");
    for _ in 0..4 {
        sleep(YIELD / 4).await;
        drop(running.recorder.reconciles().begin(true));
    }
    sleep(Duration::from_millis(10)).await;
    let about = |n: usize| server.seen()[n].2["regarding"]["name"].clone();
    assert_eq!((server.seen().len(), about(0)), (1, json!("wrong")));
    running.stop().await;
    assert_eq!((server.seen().len(), about(1)), (2, json!("well")));
}

#[tokio::test(start_paused = true)]
async fn an_event_is_written_when_the_last_reconcile_ends() {
    let server = Server::default();
    let running = Running::on(&server);
    let (one, two) = (
        running.recorder.reconciles().begin(false),
        running.recorder.reconciles().begin(false),
    );
    running.event("a", "x");
    sleep(Duration::from_millis(100)).await;
    drop(one);
    sleep(Duration::from_millis(100)).await;
    assert_eq!(server.seen().len(), 0);
    drop(two);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(server.seen().len(), 1);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn many_waiting_events_do_not_wait_for_reconciles() {
    let server = Server::default();
    let running = Running::on(&server);
    let _reconcile = running.recorder.reconciles().begin(false);
    for number in 0..PRESSING + WRITES {
        running.event(&number.to_string(), "x");
        tokio::task::yield_now().await;
    }
    sleep(Duration::from_millis(100)).await;
    assert_eq!(server.most_at_once.load(Ordering::SeqCst), WRITES);
    assert_eq!(dropped(&running.metrics, "queue_full"), 0);
    running.stop().await;
}
