//! A reconciler's decisions about the next run: requeue with back-off without an error, priorities, and a limit for all
//! retries of a controller.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use crate::support::{
    kinds::{FooBar, Running, at, config_map, foobar, seconds, world},
    notes::{Notes, Seen, manager, taken},
};
use k8s_openapi::{api::core::v1::ConfigMap, jiff::Timestamp};
use kubewright_runtime::{
    Action, Backoff, Cleanup, Clock, Context, Controller, Error, Manager, ObjectKey, Predicate, Priority, RateLimit,
    Reconciler, Result, Wake,
};
use serde_json::json;
use tokio::{sync::mpsc, time::Instant};

const EXACT: Backoff = Backoff {
    base: Duration::from_secs(1),
    max: Duration::from_secs(100),
    jitter: 0.0,
};

/// When it ran, in seconds, and with which attempt.
type Runs = Arc<Mutex<Vec<(u64, u32)>>>;

/// Is not finished before the fourth run of `reconcile`, nor before the third of `cleanup`.
struct Patient {
    started: Instant,
    runs: Runs,
    cleanups: Runs,
}

impl Patient {
    fn note(&self, runs: &Runs, cx: &Context<FooBar>) -> usize {
        let mut runs = runs.lock().unwrap();
        runs.push((self.started.elapsed().as_secs(), cx.attempt()));
        runs.len()
    }
}

impl Reconciler<FooBar> for Patient {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/patient")
    }

    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let count = self.note(&self.runs, cx);
        Ok(if count.is_multiple_of(4) {
            Action::Done
        } else {
            Action::RequeueWithBackoff
        })
    }

    async fn cleanup(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Cleanup> {
        let count = self.note(&self.cleanups, cx);
        Ok(if count == 3 {
            Cleanup::Done
        } else {
            Cleanup::PendingWithBackoff
        })
    }
}

#[tokio::test(start_paused = true)]
async fn work_that_is_not_finished_runs_again_with_growing_delays_and_is_no_error() {
    let (world, runs, cleanups) = (world(), Runs::default(), Runs::default());
    let manager = manager(&world);
    let metrics = manager.metrics().clone();
    world.put(&at("a"), foobar("x"));
    let patient = Patient {
        started: Instant::now(),
        runs: runs.clone(),
        cleanups: cleanups.clone(),
    };
    Controller::<FooBar>::new("foobar")
        .backoff(EXACT)
        .register(&manager, patient)
        .unwrap();
    let running = Running::start(manager);
    seconds(20).await;
    assert_eq!(
        std::mem::take(&mut *runs.lock().unwrap()),
        [(0, 0), (1, 1), (3, 2), (7, 3)]
    );
    world.edit(&at("a"), |object| object["spec"]["target"] = json!("y"));
    seconds(20).await;
    let again: Vec<_> = runs.lock().unwrap().iter().map(|(_, attempt)| *attempt).collect();
    assert_eq!(again, [0, 1, 2, 3], "the end of the work resets the delay");
    world.delete(&at("a"));
    seconds(20).await;
    assert!(world.object(&at("a")).is_none());
    let between: Vec<_> = cleanups
        .lock()
        .unwrap()
        .windows(2)
        .map(|two| two[1].0 - two[0].0)
        .collect();
    assert_eq!(between, [1, 2]);
    let text = metrics.encode();
    let counted = |result: &str| {
        let series = format!("controller_runtime_reconcile_total{{controller=\"foobar\",result=\"{result}\"}} ");
        text.lines()
            .find_map(|line| line.strip_prefix(&series).map(str::to_owned))
    };
    assert_eq!(counted("requeue").as_deref(), Some("8"));
    assert_eq!(counted("error").as_deref(), Some("0"));
    running.stop().await.unwrap();
}

/// Is never finished.
struct Unfinished(Runs, Instant);

impl Reconciler<FooBar> for Unfinished {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/unfinished")
    }

    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        self.0.lock().unwrap().push((self.1.elapsed().as_secs(), cx.attempt()));
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok(Action::RequeueWithBackoff)
    }

    async fn cleanup(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Cleanup> {
        self.reconcile(cx, object).await?;
        Ok(Cleanup::PendingWithBackoff)
    }
}

#[tokio::test(start_paused = true)]
async fn unfinished_work_runs_at_once_when_only_the_status_changes() {
    let (world, runs) = (world(), Runs::default());
    let manager = manager(&world);
    world.put(&at("a"), foobar("x"));
    Controller::<FooBar>::new("foobar")
        .backoff(EXACT)
        .register(&manager, Unfinished(runs.clone(), Instant::now()))
        .unwrap();
    let running = Running::start(manager);
    let count = || runs.lock().unwrap().len();
    let changed = |generation: i64| {
        world.edit_status(&at("a"), |object| {
            object["status"] = json!({"observedGeneration": generation})
        });
    };
    for (deleted, generation) in [(false, 10), (true, 20)] {
        seconds(50).await;
        let before = count();
        changed(generation);
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(count(), before + 1, "deleted: {deleted}");
        changed(generation + 1);
        seconds(1).await;
        assert_eq!(count(), before + 2, "deleted: {deleted}");
        seconds(20).await;
        assert_eq!(count(), before + 2, "the delay has grown; deleted: {deleted}");
        world.delete(&at("a"));
    }
    running.stop().await.unwrap();
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new(Some("default"), name)
}

#[tokio::test(start_paused = true)]
async fn a_source_says_how_urgent_its_objects_are() {
    let (world, seen) = (world(), Seen::default());
    let manager = manager(&world);
    for name in ["a", "b", "c", "d"] {
        world.put(&at(name), foobar("x"));
    }
    let (wake, wakes) = mpsc::channel(10);
    Controller::<FooBar>::new("foobar")
        .watches_channel(wakes)
        .watches_with_priority::<ConfigMap>(Predicate::new(|_| true), |map| {
            let name = map.metadata.name.as_deref().unwrap_or_default();
            vec![Wake::new(key(name), Priority::High)]
        })
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    let running = Running::start(manager);
    // Each run takes a second; objects of a list are in no order.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let first = taken(&seen);
    let others = ["a", "b", "c", "d"].into_iter().filter(|name| *name != first[0]);
    let [sent, watched, plain] = others.collect::<Vec<_>>()[..] else {
        panic!("one run has begun: {first:?}")
    };
    wake.send(key(plain).into()).await.unwrap();
    wake.send(Wake::new(key(sent), Priority::High)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(10)).await;
    world.put(&config_map(watched), json!({}));
    seconds(10).await;
    let mut seen = taken(&seen);
    assert_eq!(seen.pop().as_deref(), Some(plain));
    // A key whose priority is raised keeps its place of arrival among those of that priority.
    seen.sort();
    assert_eq!(seen, [sent, watched]);
    running.stop().await.unwrap();
}

/// Each run takes a second. The first one requests another object and asks to run again, urgently.
struct Urgent {
    seen: Seen,
    fails: bool,
}

impl Reconciler<FooBar> for Urgent {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let first = {
            let mut seen = self.seen.lock().unwrap();
            seen.push(cx.key().name().to_owned());
            seen.len() == 1
        };
        seconds(1).await;
        if !first {
            return Ok(Action::Done);
        }
        let other = if cx.key().name() == "c" { "d" } else { "c" };
        cx.wake(Wake::new(key(other), Priority::High));
        cx.requeue_with(Priority::High);
        if self.fails {
            return Err(Error::retry("no"));
        }
        Ok(Action::RequeueAfter(Duration::from_millis(500)))
    }
}

#[tokio::test(start_paused = true)]
async fn a_reconciler_says_how_urgent_the_next_run_is() {
    for fails in [false, true] {
        let (world, seen) = (world(), Seen::default());
        let manager = manager(&world);
        for name in ["a", "b", "c", "d"] {
            world.put(&at(name), foobar("x"));
        }
        let urgent = Urgent {
            seen: seen.clone(),
            fails,
        };
        Controller::<FooBar>::new("foobar").register(&manager, urgent).unwrap();
        let running = Running::start(manager);
        seconds(20).await;
        let seen = taken(&seen);
        let other = if seen[0] == "c" { "d" } else { "c" };
        assert_eq!(
            (seen.len(), &*seen[1], &seen[2]),
            (5, other, &seen[0]),
            "fails: {fails}, {seen:?}"
        );
        running.stop().await.unwrap();
    }
}

/// Fails in the first run of each object, and counts the second ones.
struct FailsOnce(Arc<AtomicUsize>);

impl Reconciler<FooBar> for FailsOnce {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        if cx.attempt() > 0 {
            self.0.fetch_add(1, Ordering::Relaxed);
            return Ok(Action::Done);
        }
        Err(Error::retry("no"))
    }
}

#[tokio::test(start_paused = true)]
async fn retries_of_a_controller_are_limited_together() {
    let world = world();
    let manager = manager(&world);
    for n in 0..20 {
        world.put(&at(&format!("f{n}")), foobar("x"));
    }
    let retried = Arc::<AtomicUsize>::default();
    Controller::<FooBar>::new("foobar")
        .rate_limit(RateLimit::new(1.0, 5))
        .register(&manager, FailsOnce(retried.clone()))
        .unwrap();
    let running = Running::start(manager);
    let mut counts = Vec::new();
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(5100)).await;
        counts.push(retried.load(Ordering::Relaxed));
    }
    assert_eq!(counts, [10, 15, 20]);
    running.stop().await.unwrap();
}

/// Returns the next result of a list, and notes when it ran, in seconds of the clock.
struct Timed {
    start: Timestamp,
    runs: Arc<Mutex<Vec<i64>>>,
    results: Mutex<Vec<Result<Action>>>,
}

impl Reconciler<FooBar> for Timed {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let passed = cx.now().as_second() - self.start.as_second();
        self.runs.lock().unwrap().push(passed);
        self.results.lock().unwrap().pop().unwrap_or(Ok(Action::Done))
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_is_reconciled_at_a_time_of_the_clock_after_a_success_and_after_an_error() {
    let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let after = |seconds: i64| Timestamp::from_second(start.as_second() + seconds).unwrap();
    let clock = Clock::started_at(start);
    let (world, runs) = (world(), Arc::<Mutex<Vec<i64>>>::default());
    let manager = Manager::builder(world.client()).clock(clock.clone()).build();
    world.put(&at("a"), foobar("x"));
    let mut results = vec![
        Ok(Action::At(after(600))),
        // A change runs it at 700; the time that this run returns replaces the pending one.
        Ok(Action::At(after(5_000))),
        Ok(Action::At(after(900))),
        // Not retried for its class, but for its deadline; the class decides that the status contains it.
        Err(Error::terminal("Taken", "the name is taken").with_deadline(after(1_000))),
        // The clock is moved.
        Ok(Action::At(after(100_000))),
        // A deadline or time that has passed does not make it spin.
        Err(Error::terminal("Taken", "the name is taken").with_deadline(start)),
    ];
    results.reverse();
    let timed = Timed {
        start,
        runs: runs.clone(),
        results: Mutex::new(results),
    };
    Controller::<FooBar>::new("foobar").register(&manager, timed).unwrap();
    let running = Running::start(manager);
    seconds(700).await;
    world.edit(&at("a"), |object| object["spec"]["target"] = json!("y"));
    seconds(210).await;
    assert_eq!(*runs.lock().unwrap(), [0, 600, 700, 900]);
    let status = world.object(&at("a")).unwrap()["status"].clone();
    assert_eq!(status["conditions"][0]["reason"], "Taken");
    seconds(200).await;
    clock.advance(Duration::from_secs(200_000));
    seconds(3_600).await;
    assert_eq!(*runs.lock().unwrap(), [0, 600, 700, 900, 1_000, 201_110]);
    running.stop().await.unwrap();
}

/// Is to run at a time that has passed.
struct Late(Runs, Instant);

impl Reconciler<FooBar> for Late {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        self.0.lock().unwrap().push((self.1.elapsed().as_secs(), cx.attempt()));
        Ok(Action::At(cx.now()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_time_that_has_passed_is_a_requeue_with_backoff() {
    let (world, runs) = (world(), Runs::default());
    let manager = manager(&world);
    world.put(&at("a"), foobar("x"));
    Controller::<FooBar>::new("foobar")
        .backoff(EXACT)
        .register(&manager, Late(runs.clone(), Instant::now()))
        .unwrap();
    let running = Running::start(manager);
    seconds(10).await;
    assert_eq!(*runs.lock().unwrap(), [(0, 0), (1, 1), (3, 2), (7, 3)]);
    running.stop().await.unwrap();
}
