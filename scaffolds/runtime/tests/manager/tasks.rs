//! No task remains after managers are stopped or killed, definitions are removed and created again, or watches fail.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::support::{
    World,
    kinds::{FOOBARS, FooBar, Running, at, foobar, seconds, world},
    notes::{child, manager},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResourceExt;
use kubewright_runtime::{Action, Context, Controller, Election, ElectionConfig, Metrics, Reconciler, Result};
use serde_json::json;
use tokio::runtime::Handle;

struct Child;

impl Reconciler<FooBar> for Child {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let map = json!({"metadata": {"name": cx.key().name()}, "data": {"a": "1"}});
        cx.apply_child::<ConfigMap>(child(map)).await?;
        Ok(Action::Done)
    }
}

fn operator(world: &World) -> Running {
    let manager = manager(world);
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .concurrency(4)
        .register(&manager, Child)
        .unwrap();
    Running::start(manager)
}

/// Tasks of this runtime that have not ended.
fn alive() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

/// The definition of FooBars.
const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/foobars.test.example.com";

#[tokio::test(start_paused = true)]
async fn a_manager_that_is_stopped_or_killed_leaves_no_task() {
    let world = world();
    world.put(&at("a"), foobar("x"));
    seconds(10).await;
    let before = alive();
    for _ in 0..5 {
        let running = operator(&world);
        seconds(10).await;
        assert!(alive() > before + 4, "workers are tasks");
        running.stop().await.unwrap();
        seconds(10).await;
        assert_eq!(alive(), before, "after it was stopped");

        let running = operator(&world);
        seconds(10).await;
        running.done.abort();
        seconds(10).await;
        assert_eq!(alive(), before, "after it was killed");
    }
}

#[tokio::test(start_paused = true)]
async fn an_election_that_ends_leaves_no_task() {
    let world = world();
    seconds(10).await;
    let before = alive();
    for released in [true, false] {
        let config = ElectionConfig::new("op", "default");
        let election = Election::spawn(config, world.client(), &Metrics::new()).unwrap();
        election.begin();
        election.acquired().await;
        assert!(alive() > before);
        if released {
            election.release().await;
        }
        drop(election);
        seconds(60).await;
        assert_eq!(alive(), before, "released: {released}");
    }
}

#[tokio::test(start_paused = true)]
async fn recreated_definitions_and_failing_watches_leave_no_task() {
    let (world, failing) = (world(), Arc::<AtomicBool>::default());
    let fails = failing.clone();
    world.intercept(move |verb, path| {
        let refused = fails.load(Ordering::Relaxed) && path.ends_with("foobars") && matches!(verb, "GET" | "WATCH");
        let gone =
            json!({"kind": "Status", "status": "Failure", "reason": "Expired", "message": "too old", "code": 410});
        refused.then_some((410, gone))
    });
    let running = operator(&world);
    world.put(&at("a"), foobar("x"));
    seconds(60).await;
    let before = alive();
    let definition = serde_json::to_value(FooBar::crd()).unwrap();
    for n in 0..10 {
        world.delete(DEFINITION);
        seconds(60).await;
        world.put(DEFINITION, definition.clone());
        failing.store(n % 2 == 0, Ordering::Relaxed);
        seconds(300).await;
        failing.store(false, Ordering::Relaxed);
        // A watch that has failed for long is retried every half minute.
        tokio::time::sleep(Duration::from_secs(120)).await;
        world.put(&at("a"), foobar("x"));
        seconds(60).await;
        assert!(
            world.object(&crate::support::kinds::config_map("a")).is_some(),
            "the watch works again"
        );
        assert_eq!(alive(), before, "round {n}");
    }
    assert!(
        world
            .requests(&format!("WATCH {}", FOOBARS.replace("/namespaces/default", "")))
            .len()
            > 10
    );
    running.stop().await.unwrap();
}
