//! The process dies before or after each of its writes, one write in each run; the next process reaches the same state
//! as a run without a crash.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use crate::support::{
    World,
    kinds::{CONFIG_MAPS, FOOBARS, FooBar, foobar, world},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ObjectMeta;
use kubewright_runtime::{Action, Cleanup, Conditions, Context, Controller, Manager, Reconciler, Result, child_name};
use serde_json::json;
use tokio::task::JoinHandle;

struct Child;

impl Reconciler<FooBar> for Child {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/cleanup")
    }

    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let child = ConfigMap {
            metadata: ObjectMeta {
                name: Some(child_name(cx.key().name(), "foobar")),
                ..ObjectMeta::default()
            },
            data: Some(BTreeMap::from([("target".to_owned(), foobar.spec.target.clone())])),
            ..ConfigMap::default()
        };
        cx.apply_child(child).await?;
        cx.patch_status(|status| status.conditions.set(cx.condition("Ready", true, "Applied", "")))
            .await?;
        Ok(Action::Done)
    }

    async fn cleanup(&self, _: &Context<FooBar>, _: Arc<FooBar>) -> Result<Cleanup> {
        Ok(Cleanup::Done)
    }
}

fn operator(world: &World) -> JoinHandle<Result<()>> {
    let manager = Manager::builder(world.client()).name("test").build();
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .concurrency(2)
        .register(&manager, Child)
        .unwrap();
    tokio::spawn(async move { manager.run(std::future::pending(), None).await })
}

async fn settle() {
    tokio::time::sleep(Duration::from_secs(60)).await;
}

/// Three objects are created, one is changed, one is deleted, while the operator runs from the start.
async fn story(world: &World, crash: Option<(usize, bool)>) -> bool {
    if let Some((n, stored)) = crash {
        world.crash_at(n, stored);
    }
    let first = operator(world);
    for name in ["a", "b", "c"] {
        world.put(&format!("{FOOBARS}/{name}"), foobar("one"));
    }
    settle().await;
    world.edit(&format!("{FOOBARS}/b"), |object| {
        object["spec"]["target"] = json!("two")
    });
    world.delete(&format!("{FOOBARS}/c"));
    settle().await;
    first.abort();
    let crashed = world.restart();
    let second = operator(world);
    settle().await;
    second.abort();
    crashed
}

#[tokio::test(start_paused = true)]
async fn after_a_crash_at_any_write_the_next_process_reaches_the_same_state() {
    let undisturbed = world();
    story(&undisturbed, None).await;
    let expected = undisturbed.end_state();
    assert_eq!(
        expected[&format!("{CONFIG_MAPS}/b-foobar")]["data"],
        json!({"target": "two"})
    );
    for gone in [format!("{FOOBARS}/c"), format!("{CONFIG_MAPS}/c-foobar")] {
        assert!(!expected.contains_key(&gone), "{gone}");
    }

    for stored in [false, true] {
        let mut n = 0;
        loop {
            let world = world();
            if !story(&world, Some((n, stored))).await {
                break;
            }
            assert_eq!(world.end_state(), expected, "died at write {n}, stored: {stored}");
            n += 1;
        }
        assert!(n > 10, "a story of {n} writes is too short");
    }
}

#[tokio::test(start_paused = true)]
async fn a_restart_with_nothing_to_do_writes_nothing() {
    let world = world();
    story(&world, None).await;
    let writes = |world: &World| world.requests("PATCH").len() + world.requests("POST /api").len();
    let before = writes(&world);
    let again = operator(&world);
    settle().await;
    again.abort();
    assert_eq!(writes(&world), before);
}
