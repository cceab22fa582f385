//! Workers that wait, die and end, on a paused clock and on several threads.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use kubewright_runtime::{Held, Priority};
use tokio::time::{Instant, advance, sleep};

use crate::{SECOND, key, names, queue, ready};

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
    // One wake-up for both: the worker that takes `now` must wake another one to wait for `soon`.
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
async fn a_worker_that_panics_returns_its_key() {
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
    assert_eq!((queue.tracked(), queue.len()), (1, 0), "the held key");
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

/// Several producers and workers on several threads, with some cancelled waits: no key is held twice at once, and no
/// request is lost: each key runs once more after its last request.
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
                        // A cancelled wait must not lose a key.
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
