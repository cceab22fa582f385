//! Tasks of the operator's author: when they start, how they are asked to stop, and what their errors and panics end.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::support::{
    World,
    kinds::{FooBar, Running, at, foobar, seconds, world},
    notes::{Notes, Seen, manager, taken},
};
use kubewright_runtime::{Controller, Election, ElectionConfig, Error, Manager, Metrics, Result, Task};
use serde_json::json;
use tokio::{sync::oneshot, task::JoinHandle, time::sleep};

/// The events of a test, in order.
type Diary = Arc<Mutex<Vec<String>>>;

fn read(diary: &Diary) -> Vec<String> {
    std::mem::take(&mut *diary.lock().unwrap())
}

/// A task that notes its start and its end, which comes a second after it is asked to stop.
fn noting(diary: &Diary, name: &'static str) -> Task {
    let diary = diary.clone();
    Task::new(name, move |stop| async move {
        let note = |what: &str| diary.lock().unwrap().push(format!("{name} {what}"));
        note("starts");
        stop.requested().await;
        sleep(Duration::from_secs(1)).await;
        assert!(stop.is_requested());
        note("ends");
        Ok(())
    })
}

fn candidate(world: &World, identity: &str) -> Arc<Election> {
    let config = ElectionConfig {
        identity: identity.to_owned(),
        ..ElectionConfig::new("op", "default")
    };
    Arc::new(Election::spawn(config, world.client(), &Metrics::new()).unwrap())
}

fn elected(manager: Manager, election: Arc<Election>) -> (oneshot::Sender<()>, JoinHandle<Result<()>>) {
    let (stop, stopped) = oneshot::channel();
    let running = tokio::spawn(async move { manager.run(async { _ = stopped.await }, Some(election)).await });
    (stop, running)
}

#[tokio::test(start_paused = true)]
async fn tasks_start_in_order_and_those_of_every_replica_outlive_the_leaders() {
    let (world, diary) = (world(), Diary::default());
    let leader = candidate(&world, "leader");
    leader.begin();
    leader.acquired().await;
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .register(&manager, Notes(Seen::default()))
        .unwrap();
    manager.task(noting(&diary, "leading"));
    manager.task(noting(&diary, "filled").leaderless());
    manager.task(noting(&diary, "early").before_caches());
    let filled = Arc::<AtomicBool>::default();
    let is_filled = filled.clone();
    world.intercept(move |verb, path| {
        let is_refused = !is_filled.load(Ordering::Relaxed) && verb == "GET" && path.ends_with("foobars");
        is_refused.then_some((503, json!({"kind": "Status", "status": "Failure", "code": 503})))
    });
    let (stop, running) = elected(manager, candidate(&world, "standby"));
    seconds(20).await;
    assert_eq!(read(&diary), ["early starts"]);
    filled.store(true, Ordering::Relaxed);
    seconds(60).await;
    assert_eq!(read(&diary), ["filled starts"]);
    leader.release().await;
    seconds(5).await;
    assert_eq!(read(&diary), ["leading starts"]);

    let next = candidate(&world, "next");
    next.begin();
    seconds(1).await;
    _ = stop.send(());
    sleep(Duration::from_millis(500)).await;
    assert!(!next.is_leader(), "a task of the leader still runs");
    running.await.unwrap().unwrap();
    let ends = read(&diary);
    assert_eq!(ends[0], "leading ends");
    assert_eq!(ends.len(), 3, "{ends:?}");
    // Longer than candidates wait between two attempts, and shorter than the lease lasts.
    seconds(6).await;
    assert!(next.is_leader(), "the lease was released");
}

#[tokio::test(start_paused = true)]
async fn a_standby_does_not_run_a_task_of_the_leader() {
    let (world, diary) = (world(), Diary::default());
    let leader = candidate(&world, "leader");
    leader.begin();
    leader.acquired().await;
    let manager = manager(&world);
    manager.task(noting(&diary, "leading"));
    let (stop, running) = elected(manager, candidate(&world, "standby"));
    seconds(60).await;
    _ = stop.send(());
    running.await.unwrap().unwrap();
    assert_eq!(read(&diary), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_task_that_returns_ends_nothing_else() {
    let (world, seen) = (world(), Seen::default());
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    for start in [|task: Task| task, Task::leaderless, Task::before_caches] {
        manager.task(start(Task::new("short", |_| async { Ok(()) })));
    }
    let running = Running::start(manager);
    seconds(5).await;
    world.put(&at("a"), foobar("x"));
    seconds(5).await;
    assert_eq!(taken(&seen), ["a"]);
    running.stop().await.unwrap();
}

/// The error of a manager with this task, whose reconcile of a second is running when the task fails.
async fn fails(task: Task) -> String {
    let (world, seen) = (world(), Seen::default());
    world.put(&at("a"), foobar("x"));
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    manager.task(task);
    let running = Running::start(manager);
    let error = running.done.await.unwrap().unwrap_err();
    assert_eq!(taken(&seen), ["a"]);
    error.to_string()
}

/// Waits until the reconcile has begun.
fn soon<F: Future<Output = Result<()>> + Send + 'static>(name: &str, end: fn() -> F) -> Task {
    Task::new(name, move |_| async move {
        sleep(Duration::from_millis(500)).await;
        end().await
    })
}

#[tokio::test(start_paused = true)]
async fn an_error_or_a_panic_of_a_task_ends_the_process_after_the_running_reconciles() {
    for start in [|task: Task| task, Task::leaderless, Task::before_caches] {
        let error = fails(start(soon("poll", || async { Err(Error::retry("no answer")) }))).await;
        assert_eq!(error, "the task `poll` failed: no answer");
        let error = fails(start(soon("poll", || async { panic!("boom") }))).await;
        assert_eq!(error, "the task `poll` panicked: boom");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_while_stopping_is_the_managers() {
    for start in [|task: Task| task, Task::leaderless, Task::before_caches] {
        let manager = manager(&world());
        manager.task(start(Task::new("flush", |stop| async move {
            stop.requested().await;
            Err(Error::retry("the disk is full"))
        })));
        let running = Running::start(manager);
        seconds(5).await;
        let error = running.stop().await.unwrap_err().to_string();
        assert_eq!(error, "the task `flush` failed: the disk is full");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_does_not_end_is_named_and_the_lease_is_left_to_expire() {
    for start in [|task: Task| task, Task::leaderless] {
        let world = world();
        let manager = manager(&world);
        manager.task(start(Task::new("stuck", |_| std::future::pending())));
        let (stop, running) = elected(manager, candidate(&world, "leader"));
        seconds(5).await;
        let next = candidate(&world, "next");
        next.begin();
        seconds(1).await;
        _ = stop.send(());
        let error = running.await.unwrap().unwrap_err().to_string();
        assert_eq!(error, "the task `stuck` did not end within 30s and was cancelled");
        seconds(5).await;
        assert!(!next.is_leader(), "one of its requests may still be in progress");
        seconds(30).await;
        assert!(next.is_leader());
    }
}

#[tokio::test(start_paused = true)]
async fn tasks_that_are_added_to_a_running_manager_start_as_soon_as_their_time_has_come() {
    let (world, diary) = (world(), Diary::default());
    let leader = candidate(&world, "leader");
    leader.begin();
    leader.acquired().await;
    let manager = Arc::new(manager(&world));
    let (stop, stopped) = oneshot::channel::<()>();
    let (runs, election) = (manager.clone(), candidate(&world, "standby"));
    let running = tokio::spawn(async move { runs.run(async { _ = stopped.await }, Some(election)).await });
    let adds = |round: u32| {
        manager.task(noting(&diary, "leading"));
        manager.task(noting(&diary, "filled").leaderless());
        manager.task(noting(&diary, "early").before_caches());
        let notes = diary.clone();
        manager.background(async move { notes.lock().unwrap().push(format!("background {round}")) });
    };
    let sorted = || {
        let mut read = read(&diary);
        read.sort();
        read
    };
    seconds(60).await;
    adds(1);
    seconds(1).await;
    assert_eq!(sorted(), ["background 1", "early starts", "filled starts"]);
    leader.release().await;
    seconds(5).await;
    assert_eq!(sorted(), ["leading starts"]);
    adds(2);
    seconds(1).await;
    assert_eq!(
        sorted(),
        ["background 2", "early starts", "filled starts", "leading starts"]
    );

    _ = stop.send(());
    running.await.unwrap().unwrap();
    let ends = sorted();
    assert_eq!(ends.len(), 6, "{ends:?}");
    assert!(ends.iter().all(|line| line.ends_with("ends")), "{ends:?}");
    adds(3);
    seconds(60).await;
    assert_eq!(sorted(), [""; 0], "it has stopped");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_added_to_a_running_manager_and_fails_ends_the_process() {
    let starts: [fn(Task) -> Task; 3] = [|task| task, Task::leaderless, Task::before_caches];
    for start in starts {
        let world = world();
        let manager = Arc::new(manager(&world));
        let runs = manager.clone();
        let running = tokio::spawn(async move { runs.run(std::future::pending(), None).await });
        seconds(5).await;
        manager.task(start(Task::new("late", |_| async { Err(Error::retry("no")) })));
        let error = running.await.unwrap().unwrap_err().to_string();
        assert_eq!(error, "the task `late` failed: no");
    }
}
