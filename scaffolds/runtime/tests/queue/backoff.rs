//! How long a key that failed has to wait.

use std::time::Duration;

use kubewright_runtime::{Backoff, Metrics, Priority, WorkQueue};
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
    assert!(
        queue.next().await.is_some(),
        "forgetting the failures does not forget the request"
    );
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
    assert!(ready(&queue).is_none(), "the backoff was served by the run");
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
