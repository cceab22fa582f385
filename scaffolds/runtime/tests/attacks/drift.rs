//! A tenant edits a child under the operator's own field manager, with the hash of its intent: anybody may use any
//! field manager. The edit is repaired.

use std::sync::Arc;

use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kubewright_runtime::{Action, Context, Controller, Reconciler, Result};
use serde_json::{Value, json};

use crate::support::{
    World,
    kinds::{FooBar, Running, at, config_map, foobar, seconds, world},
    notes::{child, manager},
};

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/a";

/// Owns a ConfigMap, and a Deployment with a CPU quantity that the server stores in another form.
struct Two;

impl Reconciler<FooBar> for Two {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let metadata = json!({"name": cx.key().name()});
        let data = json!({"target": foobar.spec.target});
        cx.apply_child::<ConfigMap>(child(json!({"metadata": metadata, "data": data})))
            .await?;
        let labels = json!({"app": "a"});
        let container = json!({"name": "c", "image": "image", "resources": {"limits": {"cpu": "1000m"}}});
        let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [container]}});
        let spec = json!({"selector": {"matchLabels": labels}, "template": template});
        cx.apply_child::<Deployment>(child(json!({"metadata": metadata, "spec": spec})))
            .await?;
        Ok(Action::Done)
    }
}

fn two(world: &World) -> Running {
    let manager = manager(world);
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .owns::<Deployment>()
        .register(&manager, Two)
        .unwrap();
    Running::start(manager)
}

/// Edits the object under the field manager that created it.
fn forge(world: &World, path: &str, change: Value) {
    let entries = world.object(path).unwrap()["metadata"]["managedFields"].clone();
    let entries = entries.as_array().cloned().unwrap_or_default();
    let mut made = entries.iter().filter_map(|entry| entry["manager"].as_str());
    let forged = made.rfind(|manager| manager.starts_with("test/foobar")).unwrap();
    world.merge_as(path, forged, &change);
}

fn edits() -> [(String, Value); 2] {
    let container = json!({"name": "c", "image": "theirs", "resources": {"limits": {"cpu": "2"}}});
    [
        (config_map("a"), json!({"data": {"target": "theirs"}})),
        (
            DEPLOYMENT.to_owned(),
            json!({"spec": {"template": {"spec": {"containers": [container]}}}}),
        ),
    ]
}

fn assert_repaired(world: &World, when: &str) {
    assert_eq!(
        world.object(&config_map("a")).unwrap()["data"],
        json!({"target": "x"}),
        "{when}"
    );
    let container = &world.object(DEPLOYMENT).unwrap()["spec"]["template"]["spec"]["containers"][0];
    let values = (&container["image"], &container["resources"]["limits"]["cpu"]);
    assert_eq!(values, (&json!("image"), &json!("1")), "{when}");
}

#[tokio::test(start_paused = true)]
async fn an_edit_under_the_operators_own_manager_and_hash_is_repaired() {
    let world = world();
    world.put(&at("a"), foobar("x"));
    let running = two(&world);
    seconds(10).await;
    // The first edit uses the field manager of the create, with the hash; the second one that of an apply.
    for edit in ["first", "second"] {
        for (path, change) in edits() {
            forge(&world, &path, change);
        }
        seconds(10).await;
        assert_repaired(&world, edit);
    }
    let settled = world.writes("/").len();
    for nth in 0..5 {
        world.edit_status(DEPLOYMENT, |deployment| {
            deployment["status"]["observedGeneration"] = json!(nth)
        });
        seconds(10).await;
    }
    assert_eq!(
        world.writes("/").len(),
        settled,
        "the other form of a quantity is not repaired repeatedly"
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_edit_under_the_operators_own_manager_while_the_operator_is_down_is_repaired() {
    let world = world();
    world.put(&at("a"), foobar("x"));
    let running = two(&world);
    seconds(10).await;
    running.stop().await.unwrap();
    for (path, change) in edits() {
        forge(&world, &path, change);
    }
    let running = two(&world);
    seconds(10).await;
    assert_repaired(&world, "after the restart");
    running.stop().await.unwrap();
    let settled = world.writes("/").len();
    let running = two(&world);
    seconds(10).await;
    assert_eq!(world.writes("/").len(), settled);
    running.stop().await.unwrap();
}
