//! The work queue as workers meet it: on a paused clock, and on several threads. Its rules under random interleavings
//! are in `queue_model.rs`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::FutureExt;
use kubewright_runtime::{Backoff, Held, Metrics, ObjectKey, Priority, WorkQueue};
use tokio::time::{Instant, advance, sleep};

const SECOND: Duration = Duration::from_secs(1);

fn queue() -> WorkQueue {
    WorkQueue::new(
        Backoff {
            jitter: 0.0,
            ..Backoff::default()
        },
        Metrics::new().queue("test"),
    )
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new(Some("default"), name)
}

/// The next key, if one is ready.
fn ready(queue: &WorkQueue) -> Option<Held> {
    queue.next().now_or_never().flatten()
}

fn names(held: &[Held]) -> Vec<&str> {
    held.iter().map(|held| held.key().name()).collect()
}

#[tokio::test(start_paused = true)]
async fn k12_keys_are_handed_out_in_the_order_they_came() {
    let queue = queue();
    let expected: Vec<String> = (0..3000).map(|n| format!("{:x}", n * 7919 % 3001)).collect();
    for name in &expected {
        queue.add(key(name), Priority::Normal);
        queue.add(key(&expected[0]), Priority::Normal);
    }
    let held: Vec<Held> = std::iter::from_fn(|| ready(&queue)).collect();
    assert_eq!(names(&held), expected);
}

#[tokio::test(start_paused = true)]
async fn what_happened_goes_before_what_was_merely_listed() {
    let queue = queue();
    for name in ["a", "b", "c"] {
        queue.add(key(name), Priority::Low);
    }
    queue.add(key("d"), Priority::Normal);
    queue.add(key("c"), Priority::Normal);
    queue.add(key("d"), Priority::Low);
    let held: Vec<Held> = std::iter::from_fn(|| ready(&queue)).collect();
    assert_eq!(
        names(&held),
        ["c", "d", "a", "b"],
        "raised keys keep the place of their arrival, and are never lowered"
    );
    assert_eq!(held[0].priority(), Priority::Normal);
}

#[tokio::test(start_paused = true)]
async fn k20_a_hot_key_is_not_postponed_by_its_own_events() {
    let queue = queue();
    queue.add_after(key("hot"), Priority::Normal, SECOND);
    for _ in 0..99 {
        advance(SECOND / 100).await;
        queue.add_after(key("hot"), Priority::Normal, SECOND);
    }
    assert!(ready(&queue).is_none());
    advance(SECOND / 100).await;
    let held = ready(&queue).expect("due since the first add");
    for _ in 0..5 {
        queue.add(key("hot"), Priority::Normal);
    }
    assert!(ready(&queue).is_none(), "held");
    drop(held);
    assert!(
        ready(&queue).is_some(),
        "the events that came while it was held run it once more"
    );
    assert!(ready(&queue).is_none(), "once");
}

#[tokio::test(start_paused = true)]
async fn a_delay_asked_for_while_held_counts_from_the_asking() {
    let queue = queue();
    queue.add(key("a"), Priority::Normal);
    let held = ready(&queue).expect("added");
    queue.add_after(key("a"), Priority::Normal, 3 * SECOND);
    advance(SECOND).await;
    drop(held);
    let asked = Instant::now();
    let held = queue.next().await.expect("due");
    assert_eq!(asked.elapsed(), 2 * SECOND);
    queue.add_after(key("a"), Priority::Low, SECOND);
    advance(2 * SECOND).await;
    drop(held);
    assert!(ready(&queue).is_some(), "due while held");
}

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

#[tokio::test(start_paused = true)]
async fn some_worker_always_waits_for_the_earliest_time() {
    let queue = queue();
    let worker = || {
        let queue = queue.clone();
        tokio::spawn(async move {
            let mut got = Vec::new();
            while let Some(held) = queue.next().await {
                got.push((held.key().name().to_owned(), Instant::now()));
                sleep(Duration::from_secs(100)).await;
            }
            got
        })
    };
    let started = Instant::now();
    let workers = [worker(), worker(), worker()];
    sleep(Duration::from_millis(1)).await;
    queue.add_after(key("late"), Priority::Normal, 20 * SECOND);
    sleep(Duration::from_millis(1)).await;
    // One wake-up for both: the worker that takes `now` must see to it that another waits for `soon`.
    queue.add_after(key("soon"), Priority::Normal, SECOND);
    queue.add(key("now"), Priority::Normal);
    sleep(30 * SECOND).await;
    queue.shut_down();
    let mut got = Vec::new();
    for worker in workers {
        got.extend(worker.await.expect("workers end"));
    }
    got.sort_by_key(|(_, at)| *at);
    let got: Vec<_> = got
        .iter()
        .map(|(name, at)| (name.as_str(), (*at - started).as_millis()))
        .collect();
    assert_eq!(got, [("now", 2), ("soon", 1002), ("late", 20_001)]);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_dies_gives_its_key_back() {
    let queue = queue();
    queue.add(key("a"), Priority::Normal);
    queue.add(key("b"), Priority::Normal);
    let (first, second) = (queue.clone(), queue.clone());
    let panicked = tokio::spawn(async move {
        let _held = first.next().await;
        panic!("as a reconciler does");
    });
    let cancelled = tokio::spawn(async move {
        let _held = second.next().await;
        std::future::pending::<()>().await;
    });
    assert!(panicked.await.is_err());
    tokio::task::yield_now().await;
    cancelled.abort();
    assert!(cancelled.await.is_err());
    queue.add(key("b"), Priority::Normal);
    queue.add(key("a"), Priority::Normal);
    let held: Vec<Held> = std::iter::from_fn(|| ready(&queue)).collect();
    assert_eq!(names(&held), ["b", "a"]);
}

#[tokio::test(start_paused = true)]
async fn shutting_down_ends_all_workers_and_frees_the_memory() {
    let queue = queue();
    let waiting: Vec<_> = (0..4)
        .map(|_| {
            tokio::spawn({
                let queue = queue.clone();
                async move { queue.next().await.is_none() }
            })
        })
        .collect();
    tokio::task::yield_now().await;
    let held = {
        queue.add_after(key("held"), Priority::Normal, Duration::ZERO);
        ready(&queue)
    };
    for n in 0..1000 {
        queue.add_after(key(&n.to_string()), Priority::Low, SECOND);
        queue.add_rate_limited(key(&format!("failed-{n}")), Priority::Low);
    }
    queue.shut_down();
    for worker in waiting {
        assert!(worker.await.expect("ends"));
    }
    assert_eq!((queue.tracked(), queue.len()), (1, 0), "the held one");
    queue.add(key("late"), Priority::Normal);
    assert_eq!(
        queue.add_rate_limited(key("late"), Priority::Normal),
        Duration::from_millis(5)
    );
    drop(held);
    assert_eq!(queue.tracked(), 0);
    advance(10 * SECOND).await;
    assert!(queue.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn metrics_follow_the_keys() {
    let metrics = Metrics::new();
    let queue = WorkQueue::new(
        Backoff {
            jitter: 0.0,
            ..Backoff::default()
        },
        metrics.queue("foobar"),
    );
    queue.add(key("a"), Priority::Low);
    queue.add(key("a"), Priority::Normal);
    queue.add(key("b"), Priority::Low);
    advance(2 * SECOND).await;
    let held = ready(&queue).expect("a");
    advance(3 * SECOND).await;
    let labels = r#"controller="foobar",name="foobar""#;
    let value = |name: &str| {
        let text = metrics.encode();
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{name}{{")) && line.contains(labels));
        line.and_then(|line| line.rsplit(' ').next())
            .and_then(|value| value.parse::<f64>().ok())
    };
    assert_eq!(value("workqueue_adds_total"), Some(2.0));
    assert_eq!(value("workqueue_queue_duration_seconds_sum"), Some(2.0));
    assert_eq!(value("workqueue_unfinished_work_seconds"), Some(3.0));
    assert_eq!(value("workqueue_longest_running_processor_seconds"), Some(3.0));
    assert!(
        metrics
            .encode()
            .lines()
            .any(|line| line.starts_with("workqueue_depth") && line.contains("\"-100\"") && line.ends_with(" 1"))
    );
    queue.add_rate_limited(key("a"), Priority::Normal);
    drop(held);
    assert_eq!(value("workqueue_retries_total"), Some(1.0));
    assert_eq!(value("workqueue_work_duration_seconds_sum"), Some(3.0));
    assert_eq!(value("workqueue_unfinished_work_seconds"), Some(0.0));
    queue.shut_down();
    let depth: Vec<String> = metrics
        .encode()
        .lines()
        .filter(|line| line.starts_with("workqueue_depth"))
        .map(str::to_owned)
        .collect();
    assert!(
        depth.len() == 2 && depth.iter().all(|line| line.ends_with(" 0")),
        "{depth:?}"
    );
}

/// Several producers and workers on several threads, some of the waits cancelled: no key is held twice at once, and no
/// request is lost, that is, each key runs once more after the last time it was asked for.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_workers_never_share_a_key_and_lose_none() {
    #[derive(Default)]
    struct Object {
        busy: AtomicBool,
        wanted: AtomicU64,
        seen: AtomicU64,
    }
    const KEYS: u64 = 50;
    let objects: Arc<Vec<Object>> = Arc::new((0..KEYS).map(|_| Object::default()).collect());
    let queue = queue();
    let workers: Vec<_> = (0..8)
        .map(|worker| {
            let (queue, objects) = (queue.clone(), objects.clone());
            tokio::spawn(async move {
                for turn in 0_u64.. {
                    let held = if (turn + worker) % 3 == 0 {
                        // A wait that is given up now and then must not swallow a key.
                        tokio::select! { biased; () = tokio::task::yield_now() => continue, held = queue.next() => held }
                    } else {
                        queue.next().await
                    };
                    let Some(held) = held else { return };
                    let object = &objects[held.key().name().parse::<usize>().expect("a number")];
                    assert!(!object.busy.swap(true, Ordering::SeqCst), "two workers hold one key");
                    let wanted = object.wanted.load(Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    object.seen.fetch_max(wanted, Ordering::SeqCst);
                    match turn % 4 {
                        0 => drop(queue.add_rate_limited(held.key().clone(), Priority::Normal)),
                        1 => queue.forget(held.key()),
                        _ => {}
                    }
                    object.busy.store(false, Ordering::SeqCst);
                }
            })
        })
        .collect();
    let producers: Vec<_> = (0..4_u64)
        .map(|producer| {
            let (queue, objects) = (queue.clone(), objects.clone());
            tokio::spawn(async move {
                for n in 0..5000 {
                    let number = (n * (7 + producer) + producer) % KEYS;
                    objects[number as usize].wanted.fetch_add(1, Ordering::SeqCst);
                    let key = key(&number.to_string());
                    match n % 5 {
                        0 => queue.add_after(key, Priority::Normal, Duration::from_millis(n % 7)),
                        1 => queue.add(key, Priority::Low),
                        _ => queue.add(key, Priority::Normal),
                    }
                    if n % 16 == 0 {
                        tokio::task::yield_now().await;
                    }
                }
            })
        })
        .collect();
    for producer in producers {
        producer.await.expect("producers end");
    }
    let all_seen = || {
        objects
            .iter()
            .all(|object| object.seen.load(Ordering::SeqCst) == object.wanted.load(Ordering::SeqCst))
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while !all_seen() && Instant::now() < deadline {
        sleep(Duration::from_millis(5)).await;
    }
    assert!(all_seen(), "a request was lost");
    queue.shut_down();
    for worker in workers {
        worker.await.expect("no worker panicked");
    }
    assert_eq!(queue.tracked(), 0);
}
