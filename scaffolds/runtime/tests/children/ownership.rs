//! Ownership: which owner adopts an orphan, and which objects are not changed.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use crate::support::{
    World,
    kinds::{CONFIG_MAPS, FooBar, PLANETS, Running, at, condition, config_map, foobar, planet, seconds, world},
    notes::manager,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ObjectMeta;
use kubewright_runtime::{Action, Conditions, Context, Controller, Reconciler, Result};
use serde_json::{Value, json};

/// Applies one ConfigMap, adopting an orphan if `adopts`; and counts its runs.
#[derive(Clone, Default)]
struct One {
    adopts: bool,
    runs: Arc<Mutex<usize>>,
}

impl Reconciler<FooBar> for One {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        *self.runs.lock().unwrap() += 1;
        let data = BTreeMap::from([("target".to_owned(), foobar.spec.target.clone())]);
        let metadata = ObjectMeta {
            name: Some("shared".to_owned()),
            ..ObjectMeta::default()
        };
        let intent = ConfigMap {
            metadata,
            data: Some(data),
            ..ConfigMap::default()
        };
        if self.adopts {
            cx.adopt_child(intent).await?;
        } else {
            cx.apply_child(intent).await?;
        }
        cx.patch_status(|status| status.conditions.set(cx.condition("Ready", true, "Applied", "")))
            .await?;
        Ok(Action::Done)
    }
}

fn one(world: &World, reconciler: &One) -> Running {
    let manager = manager(world);
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .register(&manager, reconciler.clone())
        .unwrap();
    Running::start(manager)
}

fn orphan() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"theirs": "1"}})
}

#[tokio::test(start_paused = true)]
async fn an_object_of_another_controller_is_reported_and_created_anew_once_it_is_deleted() {
    for adopts in [false, true] {
        let (world, reconciler) = (
            world(),
            One {
                adopts,
                ..One::default()
            },
        );
        let running = one(&world, &reconciler);
        world.put(&at("first"), foobar("x"));
        seconds(1).await;
        world.put(&at("second"), foobar("y"));
        seconds(3600).await;
        let expected = "ConfigMap `default/shared` exists and is controlled by FooBar/first";
        assert_eq!(
            condition(&world, "second"),
            [json!("False"), json!("ChildNotOwned"), json!(expected)]
        );
        assert_eq!(
            *reconciler.runs.lock().unwrap(),
            2,
            "one run each: a retry would not help"
        );

        world.delete(&at("first"));
        seconds(60).await;
        assert_eq!(
            condition(&world, "second")[0],
            json!("True"),
            "its deletion wakes the waiting owner"
        );
        assert_eq!(
            world.object(&config_map("shared")).unwrap()["data"],
            json!({"target": "y"})
        );
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_orphan_is_adopted_only_by_adopt_child() {
    for adopts in [false, true] {
        let (world, reconciler) = (
            world(),
            One {
                adopts,
                ..One::default()
            },
        );
        world.put(&config_map("shared"), orphan());
        let running = one(&world, &reconciler);
        world.put(&at("a"), foobar("x"));
        seconds(60).await;
        let map = world.object(&config_map("shared")).unwrap();
        if !adopts {
            assert_eq!(map["data"], json!({"theirs": "1"}));
            let expected = "ConfigMap `default/shared` exists and is not controlled by this object";
            assert_eq!(
                condition(&world, "a"),
                [json!("False"), json!("ChildNotOwned"), json!(expected)]
            );
        } else {
            assert_eq!(
                map["data"],
                json!({"theirs": "1", "target": "x"}),
                "its other fields stay"
            );
            assert_eq!(map["metadata"]["ownerReferences"][0]["name"], json!("a"));
            let settled = world.writes(CONFIG_MAPS).len();
            seconds(60).await;
            assert_eq!(world.writes(CONFIG_MAPS).len(), settled);
            world.delete(&at("a"));
            seconds(60).await;
            assert!(
                world.object(&config_map("shared")).is_none(),
                "it is deleted with its owner"
            );
        }
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn if_two_owners_adopt_one_object_one_gets_it_although_the_other_still_sees_an_orphan() {
    let (world, reconciler) = (
        world(),
        One {
            adopts: true,
            ..One::default()
        },
    );
    world.put(&config_map("shared"), orphan());
    let running = one(&world, &reconciler);
    seconds(1).await;
    world.delay_watches("configmaps", Duration::from_secs(30));
    world.put(&format!("{PLANETS}/earth"), planet());
    let uid = world.object(&format!("{PLANETS}/earth")).unwrap()["metadata"]["uid"].clone();
    let owner =
        json!({"apiVersion": "test.example.com/v1", "kind": "Planet", "name": "earth", "uid": uid, "controller": true});
    world.edit(&config_map("shared"), |map| {
        map["metadata"]["ownerReferences"] = json!([owner])
    });
    let theirs = world.object(&config_map("shared"));
    world.put(&at("a"), foobar("x"));
    seconds(5).await;
    assert_eq!(
        world.object(&config_map("shared")),
        theirs,
        "the apply names the observed version"
    );
    // A conflict is retried; a refusal would have to be fixed by the user.
    seconds(60).await;
    let expected = "ConfigMap `default/shared` exists and is controlled by Planet/earth";
    assert_eq!(
        condition(&world, "a"),
        [json!("False"), json!("ChildNotOwned"), json!(expected)]
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_unseen_object_that_replaced_a_child_is_not_changed() {
    let (world, reconciler) = (world(), One::default());
    let running = one(&world, &reconciler);
    world.put(&at("a"), foobar("x"));
    seconds(1).await;
    world.delay_watches("configmaps", Duration::from_secs(3600));
    world.delete(&config_map("shared"));
    world.put(&config_map("shared"), orphan());
    let theirs = world.object(&config_map("shared"));
    world.edit(&at("a"), |object| object["spec"]["target"] = json!("y"));
    seconds(60).await;
    assert!(*reconciler.runs.lock().unwrap() > 1, "the reconcile was retried");
    assert_eq!(
        world.object(&config_map("shared")),
        theirs,
        "the apply names the observed uid"
    );
    running.stop().await.unwrap();
}

/// The garbage collector has taken the reference, and the watch of the owner does not show the deletion yet.
#[tokio::test(start_paused = true)]
async fn an_object_that_its_deletion_orphaned_is_not_adopted_again() {
    let (world, reconciler) = (
        world(),
        One {
            adopts: true,
            ..One::default()
        },
    );
    let running = one(&world, &reconciler);
    world.put(&at("a"), foobar("x"));
    seconds(10).await;
    world.delay_watches("foobars", Duration::from_secs(20));
    world.orphan(&at("a"));
    seconds(60).await;
    assert!(world.object(&at("a")).is_none());
    let map = world.object(&config_map("shared")).expect("the orphan stays");
    assert_eq!(map["metadata"]["ownerReferences"], json!(null));
    assert!(
        *reconciler.runs.lock().unwrap() > 1,
        "the orphan wakes its former owner"
    );
    running.stop().await.unwrap();
}

/// Creates an object of its own kind, and notes the targets that it finds.
#[derive(Clone, Default)]
struct Parent(Arc<Mutex<Vec<String>>>);

impl Reconciler<FooBar> for Parent {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let line = format!("{} {}", cx.key().name(), foobar.spec.target);
        self.0.lock().unwrap().push(line);
        if cx.key().name() == "parent" {
            let mut child = FooBar::new("child", foobar.spec.clone());
            child.metadata.namespace = None;
            cx.apply_child(child).await?;
        }
        Ok(Action::Done)
    }
}

/// The response to a write is in the cache before the watch shows it.
#[tokio::test(start_paused = true)]
async fn a_child_of_the_controllers_own_kind_is_reconciled_after_each_write_and_its_parent_is_not() {
    let (world, parent) = (world(), Parent::default());
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .owns::<FooBar>()
        .register(&manager, parent.clone())
        .unwrap();
    let running = Running::start(manager);
    seconds(1).await;
    world.delay_watches("foobars", Duration::from_secs(1));
    world.put(&at("parent"), foobar("x"));
    seconds(60).await;
    world.edit(&at("parent"), |parent| parent["spec"]["target"] = json!("y"));
    seconds(60).await;
    let runs = parent.0.lock().unwrap().clone();
    assert_eq!(runs, ["parent x", "child x", "parent y", "child y"]);
    running.stop().await.unwrap();
}
