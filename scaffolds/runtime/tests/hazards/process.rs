//! The process around the reconciles: its start, its events, its shutdown, the caches that controllers share.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use kubewright_runtime::{Controller, Manager};
use serde_json::json;
use tokio::time::Instant;

use crate::{
    script::{ByName, Script, controller, run},
    support::{
        faults::failure,
        kinds::{FooBar, Running, at, foobar, seconds, world},
    },
};

#[tokio::test(start_paused = true)]
async fn k05_a_cache_that_cannot_be_filled_ends_the_process_and_names_the_watch() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.intercept(|_, path| {
        path.contains("configmaps")
            .then(|| (403, failure(403, "Forbidden", path)))
    });
    world.put(&at("works-a"), foobar("x"));
    let running = run(&world, &script, controller());
    let error = running.done.await.unwrap().unwrap_err().to_string();
    assert!(error.contains("ConfigMap") && error.contains("403"), "{error}");
    assert!(script.runs("works-a").is_empty(), "nothing runs on half a cache");
}

#[tokio::test(start_paused = true)]
async fn k18_events_delay_neither_a_reconcile_nor_the_shutdown() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.hang("events.k8s.io");
    world.put(&at("chatty-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(1).await;
    let status = world.object(&at("chatty-a")).unwrap()["status"].clone();
    assert_eq!(
        status["conditions"][0]["status"],
        json!("True"),
        "reconciled, although no event got a response"
    );
    assert!(
        !world.requests("POST /apis/events.k8s.io").is_empty(),
        "events are sent in the background"
    );

    let asked = Instant::now();
    running.stop().await.unwrap();
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
}

#[tokio::test(start_paused = true)]
async fn k19_shutdown_waits_for_running_reconciles_up_to_a_limit() {
    for (drain, in_time) in [(30, true), (1, false)] {
        let (world, script) = (world(), Arc::<Script>::default());
        let manager = Manager::builder(world.client())
            .graceful_shutdown_timeout(Duration::from_secs(drain))
            .build();
        controller().register(&manager, ByName(script.clone())).unwrap();
        world.put(&at("slow-a"), foobar("x"));
        let running = Running::start(manager);
        seconds(1).await;
        world.put(&at("works-b"), foobar("x"));
        let asked = Instant::now();
        let ended = running.stop().await;
        assert_eq!(ended.is_ok(), in_time, "{ended:?}");
        assert!(asked.elapsed() <= Duration::from_secs(drain + 1));
        assert_eq!(script.now.load(Ordering::SeqCst) == 0, in_time);
        assert!(script.runs("works-b").is_empty(), "no new work after the signal");
    }
}

#[tokio::test(start_paused = true)]
async fn two_controllers_share_one_list_and_one_watch() {
    let world = world();
    world.put(&at("works-a"), foobar("x"));
    let manager = Manager::builder(world.client()).build();
    let (one, two) = (Arc::<Script>::default(), Arc::<Script>::default());
    Controller::<FooBar>::new("one")
        .register(&manager, ByName(one.clone()))
        .unwrap();
    Controller::<FooBar>::new("two")
        .register(&manager, ByName(two.clone()))
        .unwrap();
    let twice = Controller::<FooBar>::new("two")
        .register(&manager, ByName(two.clone()))
        .unwrap_err();
    assert!(twice.to_string().contains("`two`"));
    let running = Running::start(manager);
    seconds(5).await;

    assert!(!one.runs("works-a").is_empty() && !two.runs("works-a").is_empty());
    let reads = world.requests("GET /apis/test.example.com/v1/foobars").len();
    let watches = world.requests("WATCH /apis/test.example.com/v1/foobars").len();
    assert!(reads <= 1 && watches == 1, "{reads} lists, {watches} watches");
    running.stop().await.unwrap();
}
