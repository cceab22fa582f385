//! One tenant tries to use all workers: with many objects, with objects that always fail, with reconciles that never
//! end, with one object that wants more replicas than can be created. Another tenant's object is still reconciled
//! within a second.

use std::{
    collections::BTreeMap,
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{
    Action, Context, Controller, Error, Manager, ObjectKey, Priority, Reconciler, Result, WorkQueue,
};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::support::{
    World,
    kinds::{FooBar, Running, foobar, seconds, world},
    notes::child,
};

const LOUD: &str = "loud";
const QUIET: &str = "quiet";

/// The behaviour of reconciles for the attacking tenant; reconciles for the other tenant are recorded.
#[derive(Clone, Copy)]
enum Attack {
    Works,
    Fails,
    Hangs,
    Replicas,
}

struct Tenants {
    attack: Attack,
    runs: Arc<Mutex<BTreeMap<ObjectKey, Vec<Instant>>>>,
}

impl Reconciler<FooBar> for Tenants {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        self.runs
            .lock()
            .unwrap()
            .entry(cx.key().clone())
            .or_default()
            .push(Instant::now());
        if cx.key().namespace() == Some(QUIET) {
            return Ok(Action::Done);
        }
        sleep(Duration::from_millis(5)).await;
        match self.attack {
            Attack::Works => Ok(Action::Done),
            Attack::Fails => Err(Error::retry("as it always does")),
            Attack::Hangs => pending().await,
            Attack::Replicas => {
                for n in 0..i32::MAX {
                    let map = json!({"metadata": {"name": format!("{}-{n}", cx.key().name())}});
                    cx.apply_child::<ConfigMap>(child(map)).await?;
                    sleep(Duration::from_millis(500)).await;
                }
                Ok(Action::Done)
            }
        }
    }
}

fn path(namespace: &str, name: &str) -> String {
    format!("/apis/test.example.com/v1/namespaces/{namespace}/foobars/{name}")
}

/// A world with this many objects of the attacking tenant, and an operator that reconciles them.
struct Scene {
    world: World,
    running: Running,
    runs: Arc<Mutex<BTreeMap<ObjectKey, Vec<Instant>>>>,
}

impl Scene {
    fn new(attack: Attack, objects: usize, controller: Controller<FooBar>) -> Self {
        let world = world();
        for namespace in [LOUD, QUIET] {
            let namespace = json!({"metadata": {"name": namespace}});
            world.post("/api/v1/namespaces", &namespace);
        }
        for n in 0..objects {
            world.put(&path(LOUD, &format!("a-{n}")), foobar("x"));
        }
        let runs = Arc::default();
        let manager = Manager::builder(world.client()).name("test").build();
        let tenants = Tenants {
            attack,
            runs: Arc::clone(&runs),
        };
        controller.register(&manager, tenants).unwrap();
        Self {
            world,
            running: Running::start(manager),
            runs,
        }
    }

    /// The wait of the other tenant's new object for its reconcile, observed for so many seconds.
    async fn delay(&self, name: &str, looked_at: u64) -> Option<Duration> {
        let made = Instant::now();
        self.world.put(&path(QUIET, name), foobar("x"));
        seconds(looked_at).await;
        let runs = self.runs.lock().unwrap();
        let first = runs
            .get(&ObjectKey::new(Some(QUIET), name))
            .and_then(|runs| runs.first().copied());
        first.map(|first| first - made)
    }
}

fn controller(workers: usize) -> Controller<FooBar> {
    Controller::new("foobar").owns::<ConfigMap>().concurrency(workers)
}

#[tokio::test(start_paused = true)]
async fn a_tenant_delays_another_by_at_most_a_second() {
    for (what, attack, objects) in [
        ("works", Attack::Works, 100),
        ("fails", Attack::Fails, 100),
        ("hangs", Attack::Hangs, 100),
        ("replicas: i32::MAX", Attack::Replicas, 8),
    ] {
        let scene = Scene::new(attack, objects, controller(8));
        seconds(1).await;
        for name in ["first", "second"] {
            let delay = scene.delay(name, 2).await;
            assert!(
                delay.is_some_and(|delay| delay <= Duration::from_secs(1)),
                "{what}: {delay:?}"
            );
        }
        drop(scene.running);
    }
}

#[tokio::test(start_paused = true)]
async fn with_one_worker_a_reconcile_that_hangs_delays_others_until_it_is_cut_off() {
    let scene = Scene::new(Attack::Hangs, 1, controller(1));
    seconds(90).await;
    let delay = scene
        .delay("first", 40)
        .await
        .expect("after the two minutes of the default limit");
    assert!(delay >= Duration::from_secs(25), "{delay:?}");
    // The reconcile that hangs again is cut off by the shutdown.
    assert!(scene.running.stop().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_reconcile_that_is_cut_off_is_retried_with_a_growing_delay() {
    let limits: [(Controller<FooBar>, usize); 3] = [
        (controller(1).reconcile_timeout(Duration::from_secs(10)), 6),
        (controller(1), 1),
        (controller(1).reconcile_timeout(None), 1),
    ];
    for (controller, expected) in limits {
        let scene = Scene::new(Attack::Hangs, 1, controller);
        seconds(59).await;
        let runs = scene.runs.lock().unwrap()[&ObjectKey::new(Some(LOUD), "a-0")].clone();
        assert_eq!(runs.len(), expected);
        for (n, pair) in runs.windows(2).enumerate() {
            let backoff = (pair[1] - pair[0]).saturating_sub(Duration::from_secs(10));
            assert!(backoff >= Duration::from_millis(5 << n), "retry {n} after {backoff:?}");
        }
        scene.running.stop().await.ok();
    }
}

/// On the level of the queue, with very many objects.
#[tokio::test(start_paused = true)]
async fn ten_thousand_keys_of_one_namespace_do_not_delay_another() {
    let queue = WorkQueue::new(Default::default(), kubewright_runtime::Metrics::new().queue("test")).shared_by(8);
    for n in 0..10_000 {
        queue.add(ObjectKey::new(Some(LOUD), &n.to_string()), Priority::Normal);
    }
    for n in 0..10 {
        queue.add(ObjectKey::new(Some(QUIET), &n.to_string()), Priority::Normal);
    }
    let mut order = Vec::new();
    for _ in 0..20 {
        let held = queue.next().await.unwrap();
        order.push(held.key().namespace() == Some(QUIET));
    }
    assert_eq!(order, [false, true].repeat(10));
}
