//! Events from the reconciler to the API server: when they are there at the latest, and what the end of a process costs.

mod support;

use std::{sync::Arc, time::Duration};

use kubewright_runtime::{Action, Context, Controller, EventType, Manager, Reconciler, Result};
use serde_json::{Value, json};
use support::{
    World,
    kinds::{FooBar, Running, at, foobar, seconds, world},
};
use tokio::time::sleep;

/// Is at work for as many seconds as the target says, and tells so three times before and once after.
struct Slow;

impl Reconciler<FooBar> for Slow {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let tell = || cx.event(EventType::Normal, "Working", "at work");
        (0..3).for_each(|_| tell());
        seconds(foobar.spec.target.parse().expect("a number of seconds")).await;
        tell();
        Ok(Action::Done)
    }
}

/// An operator that waits at its end for as long.
fn operator(world: &World, drain: Duration) -> Running {
    let manager = Manager::builder(world.client()).graceful_shutdown_timeout(drain);
    let manager = manager.build();
    Controller::<FooBar>::new("foobar").register(&manager, Slow).unwrap();
    Running::start(manager)
}

/// The objects that the API server knows of, with how often.
fn told(world: &World) -> Vec<(Value, Value)> {
    let events = world.list("/apis/events.k8s.io/v1/namespaces/default/events");
    let told = events.into_iter().map(|event| {
        let times = event["series"]["count"].clone();
        (event["regarding"]["name"].clone(), times)
    });
    told.collect()
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_written_when_the_process_is_told_to_end() {
    let world = world();
    let running = operator(&world, Duration::from_secs(30));
    seconds(1).await;
    world.put(&at("a"), foobar("5"));
    sleep(Duration::from_millis(500)).await;
    assert_eq!(told(&world), [], "it gives way to the reconcile");
    seconds(1).await;
    assert_eq!(told(&world), [(json!("a"), json!(3))]);
    running.stop().await.unwrap();
    assert_eq!(
        told(&world),
        [(json!("a"), json!(4))],
        "the last one would have waited for minutes"
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_reconcile_has_told_that_is_cut_off_is_written_too() {
    let world = world();
    let running = operator(&world, Duration::from_millis(400));
    seconds(1).await;
    world.put(&at("a"), foobar("3600"));
    sleep(Duration::from_millis(100)).await;
    let stopped = running.stop().await;
    assert!(
        stopped.is_err(),
        "it is cut off before its event has given way for long enough"
    );
    assert_eq!(told(&world), [(json!("a"), json!(3))]);
}

#[tokio::test(start_paused = true)]
async fn an_event_of_a_slow_reconcile_is_there_after_a_second_though_others_wait() {
    let world = world();
    for name in ["a", "b", "c"] {
        world.put(&at(name), foobar("60"));
    }
    let running = operator(&world, Duration::from_secs(30));
    sleep(Duration::from_millis(1500)).await;
    assert_eq!(told(&world).len(), 1, "of the one that is at work");
    running.stop().await.unwrap_err();
}
