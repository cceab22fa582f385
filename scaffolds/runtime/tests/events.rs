//! Events from the reconciler to the API server: when they are written at the latest, and how long they delay the end
//! of a process.

mod support;

use std::{sync::Arc, time::Duration};

use kubewright_runtime::{Action, Context, Controller, EventType, Manager, Reconciler, Result};
use serde_json::{Value, json};
use support::{
    World,
    kinds::{FooBar, Running, at, foobar, seconds, world},
};
use tokio::time::sleep;

/// A reconcile that takes as many seconds as the target says, and records three events before and one after.
struct Slow;

impl Reconciler<FooBar> for Slow {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let record = || cx.event(EventType::Normal, "Working", "at work");
        (0..3).for_each(|_| record());
        seconds(foobar.spec.target.parse().expect("a number of seconds")).await;
        record();
        Ok(Action::Done)
    }
}

/// An operator with this shutdown timeout.
fn operator(world: &World, drain: Duration) -> Running {
    let manager = Manager::builder(world.client()).graceful_shutdown_timeout(drain);
    let manager = manager.build();
    Controller::<FooBar>::new("foobar").register(&manager, Slow).unwrap();
    Running::start(manager)
}

/// The objects with stored events, and the counts of those.
fn stored_events(world: &World) -> Vec<(Value, Value)> {
    let events = world.list("/apis/events.k8s.io/v1/namespaces/default/events");
    let stored_events = events.into_iter().map(|event| {
        let times = event["series"]["count"].clone();
        (event["regarding"]["name"].clone(), times)
    });
    stored_events.collect()
}

#[tokio::test(start_paused = true)]
async fn waiting_events_are_written_when_the_process_is_stopped() {
    let world = world();
    let running = operator(&world, Duration::from_secs(30));
    seconds(1).await;
    world.put(&at("a"), foobar("5"));
    sleep(Duration::from_millis(500)).await;
    assert_eq!(stored_events(&world), [], "the event waits for the reconcile");
    seconds(1).await;
    assert_eq!(stored_events(&world), [(json!("a"), json!(3))]);
    running.stop().await.unwrap();
    assert_eq!(
        stored_events(&world),
        [(json!("a"), json!(4))],
        "the last one would have waited for minutes"
    );
}

#[tokio::test(start_paused = true)]
async fn events_of_a_reconcile_that_is_cut_off_are_written() {
    let world = world();
    let running = operator(&world, Duration::from_millis(400));
    seconds(1).await;
    world.put(&at("a"), foobar("3600"));
    sleep(Duration::from_millis(100)).await;
    let stopped = running.stop().await;
    assert!(stopped.is_err(), "it is cut off while its event still waits");
    assert_eq!(stored_events(&world), [(json!("a"), json!(3))]);
}

#[tokio::test(start_paused = true)]
async fn an_event_of_a_slow_reconcile_is_written_after_a_second_although_objects_wait() {
    let world = world();
    for name in ["a", "b", "c"] {
        world.put(&at(name), foobar("60"));
    }
    let running = operator(&world, Duration::from_secs(30));
    sleep(Duration::from_millis(1500)).await;
    assert_eq!(stored_events(&world).len(), 1, "the events of the running reconcile");
    running.stop().await.unwrap_err();
}
