//! Delays of failed keys.

use std::time::Duration;

use kubewright_runtime::{Backoff, Metrics, Priority, RateLimit, WorkQueue};
use tokio::time::{Instant, advance};

use crate::{key, queue, ready};

#[tokio::test(start_paused = true)]
async fn failures_double_the_delay_until_forgotten() {
    let queue = queue();
    let delays: Vec<u128> = (0..20)
        .map(|_| queue.add_rate_limited(key("a"), Priority::Normal).as_millis())
        .collect();
    assert_eq!(delays[..5], [5, 10, 20, 40, 80]);
    assert_eq!(
        delays[17..],
        [655_360, 1_000_000, 1_000_000],
        "5 ms · 2^17, then 1000 s"
    );
    assert_eq!(queue.failures(&key("a")), 20);
    queue.forget(&key("a"));
    assert_eq!(queue.failures(&key("a")), 0);
    let started = Instant::now();
    assert!(queue.next().await.is_some(), "resetting the failures keeps the request");
    assert_eq!(started.elapsed(), Duration::from_millis(5));
    assert_eq!(
        queue.add_rate_limited(key("a"), Priority::Normal),
        Duration::from_millis(5)
    );
}

#[tokio::test(start_paused = true)]
async fn an_event_during_a_backoff_runs_the_key_at_once_and_keeps_the_count() {
    let queue = queue();
    for _ in 0..10 {
        queue.add_rate_limited(key("a"), Priority::Low);
    }
    queue.add(key("a"), Priority::Normal);
    drop(ready(&queue).expect("at once"));
    assert_eq!(queue.failures(&key("a")), 10);
    advance(Duration::from_secs(3600)).await;
    assert!(ready(&queue).is_none(), "the run ended the backoff");
}

#[tokio::test(start_paused = true)]
async fn jitter_spreads_delays_upwards_and_repeats_with_its_seed() {
    let backoff = Backoff::default();
    let queues = [1, 1].map(|seed| WorkQueue::seeded(backoff, Metrics::new().queue("test"), seed));
    let mut factors = Vec::new();
    for n in 0..400_u32 {
        let name = key(&n.to_string());
        let delays = queues
            .each_ref()
            .map(|queue| queue.add_rate_limited(name.clone(), Priority::Normal));
        assert_eq!(delays[0], delays[1]);
        factors.push(delays[0].as_secs_f64() / backoff.base.as_secs_f64());
    }
    assert!(factors.iter().all(|factor| (1.0..1.1).contains(factor)));
    assert!(factors.iter().any(|factor| *factor < 1.02) && factors.iter().any(|factor| *factor > 1.08));
}

#[tokio::test(start_paused = true)]
async fn add_within_backoff_does_not_run_a_failed_key_early() {
    let queue = queue();
    queue.add_within_backoff(key("a"), Priority::Normal);
    let held = ready(&queue).expect("nothing has failed");
    queue.add_within_backoff(key("a"), Priority::Normal);
    queue.count_failure(&key("a"));
    drop(held);
    assert!(ready(&queue).is_none(), "the current run has failed");
    advance(Duration::from_millis(5)).await;
    let held = ready(&queue).expect("after the delay of one failure");
    queue.add_within_backoff(key("a"), Priority::Normal);
    queue.forget(&key("a"));
    drop(held);
    assert!(ready(&queue).is_some(), "the current run has succeeded");

    queue.add_rate_limited(key("a"), Priority::Normal);
    queue.add_within_backoff(key("a"), Priority::Normal);
    assert!(ready(&queue).is_none());
    queue.add(key("a"), Priority::Normal);
    assert!(ready(&queue).is_some(), "a normal change runs it at once");
}

#[tokio::test(start_paused = true)]
async fn add_within_backoff_runs_an_unfinished_key_at_once() {
    let queue = queue();
    queue.add_rate_limited(key("a"), Priority::Normal);
    assert_eq!(
        queue.add_unfinished(key("a"), Priority::Normal),
        Duration::from_millis(10),
        "unfinished runs count as failures do"
    );
    queue.add_within_backoff(key("a"), Priority::Normal);
    let held = ready(&queue).expect("the last run has not failed");
    queue.add_within_backoff(key("a"), Priority::Normal);
    assert_eq!(queue.add_unfinished(key("a"), Priority::Normal).as_millis(), 20);
    drop(held);
    let held = ready(&queue).expect("the current run has not failed");
    queue.add_within_backoff(key("a"), Priority::Normal);
    queue.count_failure(&key("a"));
    drop(held);
    assert!(ready(&queue).is_none(), "the current run has failed");
}

#[tokio::test(start_paused = true)]
async fn a_delay_can_be_bounded() {
    let queue = queue();
    let (least, most) = (Duration::from_secs(1), Duration::from_secs(2));
    let delays: Vec<_> = (0..12)
        .map(|_| {
            queue
                .add_rate_limited_within(key("a"), Priority::Normal, least..=most)
                .as_millis()
        })
        .collect();
    assert_eq!(delays[7..], [1000, 1280, 2000, 2000, 2000]);
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_the_queue_delays_retries_of_all_keys_together_and_nothing_else() {
    let queue = queue().limited(RateLimit::new(1.0, 2));
    let delays: Vec<u128> = (0..5)
        .map(|n| {
            queue
                .add_rate_limited(key(&n.to_string()), Priority::Normal)
                .as_millis()
        })
        .collect();
    assert_eq!(
        delays,
        [5, 5, 1000, 2000, 3000],
        "the key's own delay, or the queue's if it is longer"
    );
    let no_delay = Duration::ZERO..=Duration::ZERO;
    let delay = queue.add_rate_limited_within(key("a"), Priority::Normal, no_delay);
    assert_eq!(delay, 4 * crate::SECOND);
    queue.add(key("b"), Priority::Normal);
    assert!(ready(&queue).is_some(), "a change is not delayed");
    // Ten seconds later a token is there again.
    advance(10 * crate::SECOND).await;
    assert_eq!(queue.add_rate_limited(key("c"), Priority::Normal).as_millis(), 5);
}
