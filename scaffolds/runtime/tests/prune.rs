//! Children that an earlier spec asked for are found by what is there, not by what somebody remembers.

mod support;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResourceExt, api::ObjectMeta};
use kubewright_runtime::{Action, Context, Controller, Manager, Reconciler, Result};
use serde_json::json;
use support::{
    World,
    kinds::{CONFIG_MAPS, FooBar, foobar},
};
use tokio::task::JoinHandle;

const FOOBAR: &str = "/apis/test.example.com/v1/namespaces/default/foobars/a";

/// Names its child after the target.
struct Named;

impl Reconciler<FooBar> for Named {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let name = format!("{}-{}", cx.key().name(), foobar.spec.target);
        let child = ConfigMap {
            metadata: ObjectMeta {
                name: Some(name.clone()),
                ..ObjectMeta::default()
            },
            data: Some(BTreeMap::from([("target".to_owned(), foobar.spec.target.clone())])),
            ..ConfigMap::default()
        };
        cx.apply_child(child).await?;
        cx.prune_children::<ConfigMap>(&[&name]).await?;
        Ok(Action::Done)
    }
}

fn controller() -> Controller<FooBar> {
    Controller::<FooBar>::new("foobar").owns::<ConfigMap>()
}

fn operator(world: &World, controller: Controller<FooBar>) -> JoinHandle<Result<()>> {
    let manager = Manager::builder(world.client()).name("test").build();
    controller.register(&manager, Named).unwrap();
    tokio::spawn(async move { manager.run(std::future::pending(), None).await })
}

async fn settle() {
    tokio::time::sleep(Duration::from_secs(60)).await;
}

fn children(world: &World) -> Vec<String> {
    let paths = world.end_state().into_keys();
    paths
        .filter_map(|path| path.strip_prefix(CONFIG_MAPS).map(str::to_owned))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn killed_between_the_new_child_and_the_old_ones_end_the_next_process_finishes() {
    // Of the writes, the first makes the old child, the second the new one, the third removes the old one.
    for (write, stored) in [(1, true), (2, false), (2, true)] {
        let world = World::new(&[FooBar::crd()]);
        world.crash_at(write, stored);
        let first = operator(&world, controller().prunes::<ConfigMap>());
        world.put(FOOBAR, foobar("old"));
        settle().await;
        assert_eq!(children(&world), ["/a-old"]);
        world.edit(FOOBAR, |object| object["spec"]["target"] = json!("new"));
        settle().await;
        first.abort();
        assert!(world.restart(), "the process died");
        let second = operator(&world, controller().prunes::<ConfigMap>());
        settle().await;
        second.abort();
        assert_eq!(
            children(&world),
            ["/a-new"],
            "died at write {write}, which was stored: {stored}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_somebody_else_controls_stays_and_nothing_is_sent_without_need() {
    let world = World::uncollected(&[FooBar::crd()]);
    let foreign = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"ownerReferences": [
        {"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "a", "uid": "an earlier a", "controller": true}]}});
    world.put(&format!("{CONFIG_MAPS}/foreign"), foreign);
    let running = operator(&world, controller().prunes::<ConfigMap>());
    world.put(FOOBAR, foobar("one"));
    settle().await;
    running.abort();
    assert_eq!(children(&world), ["/a-one", "/foreign"]);
    assert_eq!(world.requests("DELETE").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_controller_that_does_not_say_that_it_prunes_may_not() {
    let world = World::new(&[FooBar::crd()]);
    let running = operator(&world, controller());
    world.put(FOOBAR, foobar("one"));
    settle().await;
    world.edit(FOOBAR, |object| object["spec"]["target"] = json!("two"));
    settle().await;
    running.abort();
    assert_eq!(children(&world), ["/a-one", "/a-two"]);
    assert_eq!(world.requests("DELETE").len(), 0);
}
