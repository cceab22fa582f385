//! Children with generated values: made once, and never from a cache that lacks them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::Secret;
use kubewright_runtime::{Action, Context, Controller, Reconciler, Result};
use serde_json::{Value, json};

use crate::support::{
    World,
    kinds::{FooBar, Running, at, foobar, seconds, world},
    notes::{child, manager},
};

const SECRET: &str = "/api/v1/namespaces/default/secrets/a";

/// Keeps a Secret whose password is generated, and counts the passwords.
#[derive(Clone, Default)]
struct Password {
    /// With `create_once`, and otherwise only if the cache has no Secret.
    once: bool,
    generated: Arc<AtomicUsize>,
}

impl Password {
    fn secret(&self, cx: &Context<FooBar>) -> Secret {
        let password = format!("password-{}", self.generated.fetch_add(1, Ordering::SeqCst));
        child(json!({"metadata": {"name": cx.key().name()}, "stringData": {"password": password}}))
    }
}

impl Reconciler<FooBar> for Password {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        if self.once {
            cx.create_once(self.secret(cx)).await?;
            assert!(cx.child::<Secret>(cx.key().name())?.is_some(), "it is in the cache");
        } else if cx.child::<Secret>(cx.key().name())?.is_none() {
            cx.apply_child(self.secret(cx)).await?;
        }
        Ok(Action::Done)
    }
}

fn run(world: &World, reconciler: &Password) -> Running {
    let manager = manager(world);
    let controller = Controller::new("foobar").owns::<Secret>();
    controller.register(&manager, reconciler.clone()).unwrap();
    Running::start(manager)
}

fn both() -> [Password; 2] {
    [false, true].map(|once| Password {
        once,
        ..Password::default()
    })
}

/// The password, and the operator's label.
fn stored(world: &World) -> [Value; 2] {
    let secret = world.object(SECRET).unwrap();
    [
        secret["data"]["password"].clone(),
        secret["metadata"]["labels"]["kubewright.dev/operator"].clone(),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_generated_password_stays_when_somebody_removes_the_label_of_its_secret() {
    for reconciler in both() {
        let world = world();
        let running = run(&world, &reconciler);
        world.put(&at("a"), foobar("x"));
        seconds(1).await;
        let before = stored(&world);
        assert_eq!(before[1], json!("test"));
        for labels in [json!({}), json!({"kubewright.dev/operator": "other", "app": "b"})] {
            world.edit(SECRET, |secret| secret["metadata"]["labels"] = labels);
            seconds(60).await;
            assert_eq!(stored(&world), before);
        }
        let settled = world.writes("/").len();
        world.edit(&at("a"), |object| object["spec"]["target"] = json!("y"));
        seconds(60).await;
        assert_eq!(world.writes("/").len(), settled);
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_password_of_another_process_stays_although_the_watch_is_late() {
    for reconciler in both() {
        let world = world();
        let running = run(&world, &reconciler);
        seconds(1).await;
        world.delay_watches("secrets", Duration::from_secs(30));
        world.put(&at("a"), foobar("x"));
        let uid = world.object(&at("a")).unwrap()["metadata"]["uid"].clone();
        let owner = json!([{"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "a", "uid": uid, "controller": true}]);
        // Nothing has run since: another replica led a moment ago.
        world.put(
            SECRET,
            json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"password": "first"},
                "metadata": {"labels": {"kubewright.dev/operator": "test"}, "ownerReferences": owner}}),
        );
        let before = stored(&world);
        seconds(60).await;
        assert_eq!(stored(&world), before);
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn create_once_changes_neither_what_others_changed_nor_an_object_of_another_owner() {
    let world = world();
    let running = run(&world, &both()[1]);
    world.put(&at("a"), foobar("x"));
    seconds(1).await;
    world.edit(SECRET, |secret| secret["data"] = json!({"password": "dGhlaXJz"}));
    seconds(60).await;
    assert_eq!(stored(&world)[0], json!("dGhlaXJz"));
    world.put(
        "/api/v1/namespaces/default/secrets/b",
        json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"password": "foreign"}}),
    );
    world.put(&at("b"), foobar("x"));
    seconds(60).await;
    let foreign = world.object("/api/v1/namespaces/default/secrets/b").unwrap();
    assert_eq!(foreign["metadata"]["labels"], Value::Null);
    let [status, reason, _] = crate::support::kinds::condition(&world, "b");
    assert_eq!([status, reason], [json!("False"), json!("ChildNotOwned")]);
    running.stop().await.unwrap();
}
