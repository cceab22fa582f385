//! A process before it leads, and at its shutdown: what it keeps, which tasks run, when the lease is released.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use crate::support::{
    World,
    faults::failure,
    kinds::{FooBar, Running, at, config_map, foobar, seconds, world},
    notes::{Notes, Seen, manager, taken},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{
    Action, Context, Controller, Election, ElectionConfig, Error, Manager, Metrics, ObjectKey, Reconciler, Result,
};
use serde_json::json;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases/op";

fn candidate(world: &World, identity: &str) -> Arc<Election> {
    let config = ElectionConfig {
        identity: identity.to_owned(),
        ..ElectionConfig::new("op", "default")
    };
    Arc::new(Election::spawn(config, world.client(), &Metrics::new()).unwrap())
}

/// Runs the manager with an election, until the sender is used.
fn elected(manager: Manager, election: Arc<Election>) -> (oneshot::Sender<()>, JoinHandle<Result<()>>) {
    let (stop, stopped) = oneshot::channel();
    let running = tokio::spawn(async move { manager.run(async { _ = stopped.await }, Some(election)).await });
    (stop, running)
}

#[tokio::test(start_paused = true)]
async fn a_standby_fills_its_caches_and_reconciles_as_soon_as_it_leads() {
    let (world, seen) = (world(), Seen::default());
    let leader = candidate(&world, "leader");
    leader.begin();
    leader.acquired().await;
    world.put(&at("a"), foobar("x"));
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    let uid = world.object(&at("a")).unwrap()["metadata"]["uid"].clone();
    let owner =
        json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "a", "uid": uid, "controller": true});
    let old = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"ownerReferences": [owner]}});
    world.put_as(&config_map("old"), "test/foobar", old);
    let store = manager.informer::<FooBar>().store();
    let (stop, running) = elected(manager, candidate(&world, "standby"));
    seconds(60).await;
    assert_eq!(
        (taken(&seen).len(), store.len()),
        (0, 1),
        "it reads, and does not write"
    );

    let lists = world.requests("GET /apis/test.example.com/v1/foobars").len();
    let is_labelled = || !world.object(&config_map("old")).unwrap()["metadata"]["labels"].is_null();
    assert!(!is_labelled());
    world.intercept(|verb, path| {
        let refused = verb == "GET" && path == "/api/v1/configmaps";
        refused.then(|| (429, failure(429, "TooManyRequests", path)))
    });

    leader.release().await;
    seconds(5).await;
    assert_eq!(taken(&seen), ["a"]);
    assert!(is_labelled(), "it was found before");
    seconds(130).await;
    assert!(!running.is_finished(), "a list that fails ends no leader");
    assert_eq!(
        world.requests("GET /apis/test.example.com/v1/foobars").len(),
        lists,
        "nothing was listed again"
    );
    _ = stop.send(());
    running.await.unwrap().unwrap();
}

/// Counts its runs, and the calls of `deleted`.
#[derive(Clone, Default)]
struct Memory {
    runs: Arc<AtomicUsize>,
    forgotten: Arc<AtomicUsize>,
}

impl Reconciler<FooBar> for Memory {
    async fn reconcile(&self, _: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        Ok(Action::Done)
    }

    fn deleted(&self, _: &ObjectKey) {
        self.forgotten.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_standby_keeps_no_keys_of_deleted_objects_and_later_reconciles_all_existing_ones() {
    let (world, memory) = (world(), Memory::default());
    let leader = candidate(&world, "leader");
    leader.begin();
    leader.acquired().await;
    let manager = manager(&world);
    let metrics = manager.metrics().clone();
    let (wake, keys) = mpsc::channel(1);
    Controller::<FooBar>::new("foobar")
        .watches_channel(keys)
        .register(&manager, memory.clone())
        .unwrap();
    let (stop, running) = elected(manager, candidate(&world, "standby"));
    seconds(1).await;
    for n in 0..200 {
        let name = format!("passing-{n}");
        world.put(&at(&name), foobar("x"));
        wake.send(ObjectKey::new(Some("default"), &name)).await.unwrap();
        sleep(Duration::from_millis(10)).await;
        world.delete(&at(&name));
    }
    for name in ["a", "b", "c"] {
        world.put(&at(name), foobar("x"));
    }
    seconds(10).await;
    let counted = || {
        let page = metrics.encode();
        let adds = page
            .lines()
            .find(|line| line.starts_with("workqueue_adds_total{"))
            .unwrap();
        adds.rsplit(' ').next().unwrap().to_owned()
    };
    assert_eq!(counted(), "0", "it keeps no keys");

    leader.release().await;
    seconds(5).await;
    assert_eq!(counted(), "3");
    let done = [&memory.runs, &memory.forgotten].map(|count| count.load(Ordering::Relaxed));
    assert_eq!(done, [3, 0], "the existing objects, and none of the deleted ones");
    world.delete(&at("a"));
    seconds(1).await;
    assert_eq!(memory.forgotten.load(Ordering::Relaxed), 1);
    _ = stop.send(());
    running.await.unwrap().unwrap();
}

/// A reconcile that takes this long.
struct Slow(Duration);

impl Reconciler<FooBar> for Slow {
    async fn reconcile(&self, _: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        if self.0.is_zero() {
            pending::<()>().await;
        }
        sleep(self.0).await;
        Ok(Action::Done)
    }
}

/// A leader that is stopped during a reconcile; and the candidate that waits for the lease.
async fn stopped_at_work(world: &World, takes: Duration) -> (JoinHandle<Result<()>>, Arc<Election>) {
    let manager = manager(world);
    Controller::<FooBar>::new("foobar")
        .register(&manager, Slow(takes))
        .unwrap();
    world.put(&at("a"), foobar("x"));
    let (stop, running) = elected(manager, candidate(world, "leader"));
    seconds(5).await;
    let next = candidate(world, "next");
    next.begin();
    seconds(1).await;
    _ = stop.send(());
    (running, next)
}

#[tokio::test(start_paused = true)]
async fn the_lease_is_released_when_the_last_reconcile_has_ended() {
    let world = world();
    let (running, next) = stopped_at_work(&world, Duration::from_secs(20)).await;
    assert!(
        timeout(Duration::from_secs(13), next.acquired()).await.is_err(),
        "a reconcile still runs"
    );
    running.await.unwrap().unwrap();
    assert!(
        timeout(Duration::from_secs(5), next.acquired()).await.is_ok(),
        "the lease need not expire"
    );
}

/// Lets the `n`th request for the lease fail, counted from the end of the manager, with this code, and stops it. Returns
/// whether the next leader need not wait for the lease to expire.
async fn released_in_spite_of(n: usize, code: u16) -> bool {
    let world = world();
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .register(&manager, Notes(Seen::default()))
        .unwrap();
    let (stop, running) = elected(manager, candidate(&world, "leader"));
    seconds(5).await;
    let count = AtomicUsize::new(0);
    world.intercept(move |_, path| {
        let fails = path.contains("/leases") && count.fetch_add(1, Ordering::SeqCst) == n;
        fails.then(|| (code, failure(code, "Failed", path)))
    });
    _ = stop.send(());
    running.await.unwrap().unwrap();
    let next = candidate(&world, "next");
    next.begin();
    timeout(Duration::from_secs(1), next.acquired()).await.is_ok()
}

#[tokio::test(start_paused = true)]
async fn the_lease_is_released_although_any_one_request_for_it_fails() {
    for code in [500, 503, 429, 403] {
        for n in 0..2 {
            assert!(released_in_spite_of(n, code).await, "{code} of request {n}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_whose_reconciles_were_cut_off_is_left_to_expire() {
    let world = world();
    let (running, next) = stopped_at_work(&world, Duration::ZERO).await;
    let error = running.await.unwrap().unwrap_err().to_string();
    assert_eq!(error, "1 reconciles did not end within 30s and were cancelled");
    assert!(
        timeout(Duration::from_secs(10), next.acquired()).await.is_err(),
        "the reconcile may still have written"
    );
    // The renewal is seen one try later, the lease then expires after 15 s, and the next try acquires it; tries are up
    // to 4.4 s apart.
    assert!(timeout(Duration::from_secs(20), next.acquired()).await.is_ok());
}

/// From now on the API server answers requests for the lease with 503, for this time.
fn refuse_the_lease(world: &World, time: Duration) {
    let until = Instant::now() + time;
    world.intercept(move |_, path| {
        let refused = path.contains("/leases") && Instant::now() < until;
        refused.then(|| (503, failure(503, "ServiceUnavailable", path)))
    });
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_lost_during_the_shutdown_cancels_its_reconciles() {
    let world = world();
    let (running, next) = stopped_at_work(&world, Duration::from_secs(25)).await;
    let stopped = Instant::now();
    refuse_the_lease(&world, Duration::from_secs(60));
    let error = running.await.unwrap().unwrap_err().to_string();
    assert!(error.starts_with("the leader lease is lost"), "{error}");
    assert!(stopped.elapsed() <= Duration::from_secs(10), "{:?}", stopped.elapsed());
    drop(next);
}

#[tokio::test(start_paused = true)]
async fn a_lost_lease_is_left_to_expire() {
    let world = world();
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .register(&manager, Slow(Duration::ZERO))
        .unwrap();
    world.put(&at("a"), foobar("x"));
    let (_stop, running) = elected(manager, candidate(&world, "leader"));
    seconds(5).await;
    // The last renewal was at most two seconds ago: the lease is lost, and the API server responds again at once.
    refuse_the_lease(&world, Duration::from_secs(8));
    let error = running.await.unwrap().unwrap_err().to_string();
    assert!(error.starts_with("the leader lease is lost"), "{error}");
    let lease = world.object(LEASE).unwrap();
    assert_eq!(lease["spec"]["holderIdentity"], json!("leader"));
}

#[tokio::test(start_paused = true)]
async fn a_replica_whose_cache_cannot_be_filled_does_not_acquire_the_lease() {
    let world = world();
    world.intercept(|_, path| {
        let refused = path.ends_with("/foobars");
        let status = json!({"kind": "Status", "status": "Failure", "reason": "Forbidden", "message": "foobars is forbidden", "code": 403});
        refused.then_some((403, status))
    });
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .register(&manager, Notes(Seen::default()))
        .unwrap();
    let election = candidate(&world, "broken");
    let (_stop, running) = elected(manager, election.clone());
    seconds(100).await;
    assert!(world.object(LEASE).is_none() && !election.is_leader());
    let error = running.await.unwrap().unwrap_err().to_string();
    let expected = "the cache of `FooBar.test.example.com` in all namespaces is not filled, without progress for 120s: \
                    watch of foobars.test.example.com in all namespaces: 403 foobars is forbidden\n\nhint: run \
                    `make manifests` and apply config/rbac: the operator may not list it";
    assert_eq!(error, expected);
    assert!(world.object(LEASE).is_none());
}

/// Its first write is refused, as by a write gate that opens again.
#[derive(Clone, Default)]
struct Refused(Arc<AtomicUsize>);

impl Reconciler<FooBar> for Refused {
    async fn reconcile(&self, _: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => Err(Error::NotLeader),
            _ => Ok(Action::Done),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_refused_without_the_lease_is_retried() {
    let (world, refused) = (world(), Refused::default());
    world.put(&at("a"), foobar("x"));
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .register(&manager, refused.clone())
        .unwrap();
    let running = Running::start(manager);
    seconds(5).await;
    assert_eq!(refused.0.load(Ordering::Relaxed), 2);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn idle_workers_need_no_time_to_end() {
    let world = world();
    let manager = Manager::builder(world.client())
        .name("test")
        .graceful_shutdown_timeout(Duration::ZERO)
        .build();
    Controller::<FooBar>::new("foobar")
        .concurrency(8)
        .register(&manager, Notes(Seen::default()))
        .unwrap();
    let (stop, running) = elected(manager, candidate(&world, "leader"));
    seconds(5).await;
    let next = candidate(&world, "next");
    next.begin();
    seconds(1).await;
    _ = stop.send(());
    running.await.unwrap().unwrap();
    assert!(timeout(Duration::from_secs(5), next.acquired()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_background_task_ends_with_the_manager_and_its_end_ends_nothing_else() {
    let (world, seen) = (world(), Seen::default());
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    let (ticks, mut ticked) = mpsc::unbounded_channel();
    manager.background(async move {
        loop {
            sleep(Duration::from_secs(1)).await;
            if ticks.send(()).is_err() {
                return;
            }
        }
    });
    manager.background(async {});
    seconds(5).await;
    assert!(ticked.is_empty(), "nothing runs before the manager does");
    let running = Running::start(manager);
    sleep(Duration::from_millis(5500)).await;
    assert_eq!(ticked.len(), 5);
    world.put(&at("a"), foobar("x"));
    seconds(1).await;
    assert_eq!(taken(&seen), ["a"]);
    running.stop().await.unwrap();
    while ticked.recv().await.is_some() {}
}
