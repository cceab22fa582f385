//! A cleared status is restored, and the operator does not depend on it.

use std::sync::Arc;

use crate::support::{
    kinds::{CONFIG_MAPS, FooBar, Running, at, condition, foobar, seconds, world},
    notes::{child, manager},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{Action, Conditions, Context, Controller, Reconciler, Result};
use serde_json::json;

/// Names its child after the target, and writes the status.
struct Named;

impl Reconciler<FooBar> for Named {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let name = format!("a-{}", foobar.spec.target);
        let metadata = json!({"name": name});
        cx.apply_child::<ConfigMap>(child(json!({"metadata": metadata})))
            .await?;
        cx.prune_children::<ConfigMap>(&[&name]).await?;
        cx.patch_status(|status| {
            status.observed_generation = foobar.metadata.generation;
            status.conditions.set(cx.condition("Ready", true, "Applied", &name));
        })
        .await?;
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn a_cleared_status_is_restored_at_once_and_old_children_are_still_pruned() {
    let world = world();
    let operator = || {
        let manager = manager(&world);
        Controller::<FooBar>::new("foobar")
            .owns::<ConfigMap>()
            .prunes::<ConfigMap>()
            .register(&manager, Named)
            .unwrap();
        Running::start(manager)
    };
    let children = || {
        let all = world
            .end_state()
            .into_keys()
            .filter_map(|path| Some(path.strip_prefix(CONFIG_MAPS)?.to_owned()));
        all.collect::<Vec<_>>()
    };
    // The fourth write, after child, status and the next child, deletes the old child.
    world.crash_at(3, false);
    let first = operator();
    world.put(&at("a"), foobar("old"));
    seconds(10).await;
    world.edit(&at("a"), |object| object["spec"]["target"] = json!("new"));
    seconds(10).await;
    first.done.abort();
    assert!(world.restart(), "the process died");
    assert_eq!(children(), ["/a-new", "/a-old"]);
    world.edit_status(&at("a"), |object| object["status"] = json!({}));

    let second = operator();
    seconds(10).await;
    assert_eq!(children(), ["/a-new"], "found by observation");
    let reported = json!(["True", "Applied", "a-new"]);
    assert_eq!(json!(condition(&world, "a")), reported);
    let patches = || world.requests(&format!("PATCH {}/status", at("a"))).len();
    let before = patches();
    world.edit_status(&at("a"), |object| object["status"] = json!({}));
    seconds(1).await;
    assert_eq!((json!(condition(&world, "a")), patches()), (reported, before + 1));
    seconds(60).await;
    assert_eq!(patches(), before + 1, "no further patch");
    second.stop().await.unwrap();
}
