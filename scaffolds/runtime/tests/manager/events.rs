//! Events from the reconciler to the API server: when they are written at the latest, and how long they delay the end
//! of a process.

use std::{sync::Arc, time::Duration};

use crate::support::{
    World,
    kinds::{FooBar, Running, at, config_map, foobar, seconds, world},
};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::core::{ApiResource, DynamicObject};
use kubewright_runtime::{Action, Context, Controller, EventType, Kind, Manager, ObjectKey, Reconciler, Result};
use serde_json::{Value, json};
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

/// Reports what it does with a ConfigMap of its name, and with its namespace.
struct Reports;

impl Reconciler<FooBar> for Reports {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        if let Some(map) = cx.get::<ConfigMap>(cx.key().name())? {
            cx.event_about(&*map, EventType::Warning, "InUse", "a FooBar uses it");
        }
        let kind = Kind::<DynamicObject>::cluster_scoped(ApiResource::erase::<Namespace>(&()));
        let namespace = DynamicObject::new(cx.namespace(), &ApiResource::erase::<Namespace>(&()));
        cx.of(&kind)
            .event_about(&namespace, EventType::Normal, "Counted", "it has a FooBar");
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_may_be_about_another_object_of_any_kind() {
    let world = world();
    let manager = Manager::builder(world.client()).build();
    Controller::<FooBar>::new("foobar")
        .watches::<ConfigMap>(|map| vec![ObjectKey::of(map)])
        .register(&manager, Reports)
        .unwrap();
    let running = Running::start(manager);
    seconds(1).await;
    world.put(&config_map("a"), json!({}));
    world.put(&at("a"), foobar("x"));
    seconds(30).await;
    running.stop().await.unwrap();
    let uid = world.object(&config_map("a")).unwrap()["metadata"]["uid"].clone();
    let events = world.list("/apis/events.k8s.io/v1/namespaces/default/events");
    let about = |kind: &str| {
        let found = events.iter().find(|event| event["regarding"]["kind"] == kind);
        let event = found.unwrap_or_else(|| panic!("no event about a {kind}: {events:?}"));
        (event["regarding"].clone(), event["reason"].clone())
    };
    let (map, reason) = about("ConfigMap");
    assert_eq!(reason, "InUse");
    assert_eq!(
        map,
        json!({"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "a", "uid": uid})
    );
    let (namespace, reason) = about("Namespace");
    assert_eq!(reason, "Counted");
    assert_eq!(namespace["name"], "default");
}
