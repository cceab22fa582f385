//! Objects with several owners: joined without losing a reference, repaired for any of them, and deleted with the last.

use std::{sync::Arc, time::Duration};

use crate::support::{
    World,
    kinds::{CONFIG_MAPS, FooBar, PLANETS, Running, at, condition, config_map, foobar, planet, seconds, world},
    notes::{Seen, child, manager, taken},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{Action, Conditions, Context, Controller, Reconciler, Result};
use serde_json::{Value, json};

/// Joins the owners of one ConfigMap whose data is the target's first word, unless the target's second word is `leave`.
#[derive(Clone, Default)]
struct Joined {
    adopts: bool,
    seen: Seen,
}

impl Reconciler<FooBar> for Joined {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        self.seen.lock().unwrap().push(cx.key().name().to_owned());
        let (value, leaves) = foobar.spec.target.split_once(' ').unwrap_or((&foobar.spec.target, ""));
        let mut map = json!({"metadata": {"name": "common"}, "data": {"value": value}});
        if value == "more" {
            map["data"]["more"] = json!("1");
        }
        match (leaves, self.adopts) {
            ("leave", _) => drop(cx.release_shared::<ConfigMap>(&[]).await?),
            (_, true) => drop(cx.adopt_shared::<ConfigMap>(child(map)).await?),
            (_, false) => drop(cx.apply_shared::<ConfigMap>(child(map)).await?),
        }
        let shared = cx.shared_objects::<ConfigMap>()?.len();
        assert_eq!(shared, usize::from(leaves != "leave"));
        cx.patch_status(|status| status.conditions.set(cx.condition("Ready", true, "Applied", "")))
            .await?;
        Ok(Action::Done)
    }
}

fn joined(world: &World, reconciler: &Joined, workers: usize) -> Running {
    let manager = manager(world);
    Controller::<FooBar>::new("foobar")
        .shares::<ConfigMap>()
        .prunes::<ConfigMap>()
        .concurrency(workers)
        .register(&manager, reconciler.clone())
        .unwrap();
    Running::start(manager)
}

fn common(world: &World) -> Option<Value> {
    world.object(&config_map("common"))
}

/// The names of the owners.
fn owners(world: &World) -> Vec<String> {
    let object = common(world).unwrap_or_default();
    let owners = object["metadata"]["ownerReferences"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    assert!(
        owners.iter().all(|owner| owner["controller"] != json!(true)),
        "{owners:?}"
    );
    let mut names: Vec<_> = owners
        .iter()
        .map(|owner| owner["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// Creates the owners `a` and `b`, one after the other.
async fn put_both(world: &World, target: &str) {
    for name in ["a", "b"] {
        world.put(&at(name), foobar(target));
        seconds(10).await;
    }
}

fn retarget(world: &World, name: &str, target: &str) {
    world.edit(&at(name), |object| object["spec"]["target"] = json!(target));
}

#[tokio::test(start_paused = true)]
async fn a_shared_object_has_all_owners_and_goes_with_the_last() {
    let (world, reconciler) = (world(), Joined::default());
    let running = joined(&world, &reconciler, 1);
    put_both(&world, "x").await;
    assert_eq!(owners(&world), ["a", "b"]);
    assert_eq!(world.writes(CONFIG_MAPS).len(), 2, "a create and an apply");
    world.delete(&at("a"));
    seconds(60).await;
    assert_eq!(owners(&world), ["b"], "the garbage collector removes the reference");
    world.delete(&at("b"));
    seconds(60).await;
    assert_eq!(common(&world), None);
    assert_eq!(world.writes(CONFIG_MAPS).len(), 2, "nothing is joined again");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn owners_that_join_at_the_same_time_lose_no_reference() {
    let (world, reconciler) = (world(), Joined::default());
    let running = joined(&world, &reconciler, 8);
    world.delay_replies(Duration::from_millis(50));
    world.delay_watches("configmaps", Duration::from_secs(1));
    let names: Vec<_> = (0..16).map(|number| format!("owner-{number:02}")).collect();
    names.iter().for_each(|name| world.put(&at(name), foobar("x")));
    seconds(120).await;
    assert_eq!(owners(&world), names);
    let settled = world.writes(CONFIG_MAPS).len();
    seconds(600).await;
    assert_eq!(world.writes(CONFIG_MAPS).len(), settled);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_change_by_others_wakes_every_owner_and_one_repairs_it() {
    let (world, reconciler) = (world(), Joined::default());
    let running = joined(&world, &reconciler, 1);
    put_both(&world, "x").await;
    taken(&reconciler.seen);
    let before = world.writes(CONFIG_MAPS).len();
    world.edit(&config_map("common"), |map| {
        map["data"] = json!({"value": "y", "theirs": "1"})
    });
    seconds(60).await;
    let mut woken = taken(&reconciler.seen);
    woken.sort();
    assert_eq!(woken, ["a", "b"]);
    assert_eq!(common(&world).unwrap()["data"], json!({"value": "x", "theirs": "1"}));
    assert_eq!(world.writes(CONFIG_MAPS).len(), before + 1);

    world.delete(&config_map("common"));
    seconds(60).await;
    assert_eq!(owners(&world), ["a", "b"], "it is created, and joined again");
    world.edit(&config_map("common"), |map| map["metadata"]["labels"] = json!({}));
    seconds(60).await;
    assert_eq!(
        common(&world).unwrap()["metadata"]["labels"]["kubewright.dev/operator"],
        "test"
    );
    assert_eq!(owners(&world), ["a", "b"]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn owners_that_disagree_do_not_write_in_turn_forever() {
    let (world, reconciler) = (world(), Joined::default());
    let running = joined(&world, &reconciler, 2);
    world.put(&at("a"), foobar("x"));
    world.put(&at("b"), foobar("y"));
    seconds(60).await;
    let settled = world.writes(CONFIG_MAPS).len();
    seconds(3600).await;
    assert_eq!(world.writes(CONFIG_MAPS).len(), settled);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_owner_leaves_and_the_last_one_that_leaves_deletes_the_object() {
    let (world, reconciler) = (world(), Joined::default());
    let running = joined(&world, &reconciler, 1);
    put_both(&world, "x").await;
    retarget(&world, "a", "x leave");
    seconds(10).await;
    assert_eq!(owners(&world), ["b"]);
    assert_eq!(common(&world).unwrap()["data"], json!({"value": "x"}));
    retarget(&world, "b", "x leave");
    seconds(10).await;
    assert_eq!(common(&world), None);
    let settled = world.writes(CONFIG_MAPS).len();
    seconds(600).await;
    assert_eq!(world.writes(CONFIG_MAPS).len(), settled);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_leaves_does_not_delete_an_object_that_another_one_has_joined_unseen() {
    let (world, reconciler) = (world(), Joined::default());
    let running = joined(&world, &reconciler, 1);
    world.put(&at("a"), foobar("x"));
    seconds(10).await;
    world.delay_watches("configmaps", Duration::from_secs(30));
    world.put(&at("other"), foobar("x leave"));
    let other = world.object(&at("other")).unwrap()["metadata"]["uid"].clone();
    // As another process of this operator would.
    world.edit(&config_map("common"), |map| {
        let owners = map["metadata"]["ownerReferences"].as_array_mut().unwrap();
        let mut joins = owners[0].clone();
        (joins["name"], joins["uid"]) = (json!("other"), other);
        owners.push(joins);
    });
    retarget(&world, "a", "x leave");
    seconds(5).await;
    assert_eq!(
        owners(&world),
        ["a", "other"],
        "the deletion names the observed version"
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_object_of_a_controller_or_of_nobody_is_not_joined() {
    for adopts in [false, true] {
        let (world, reconciler) = (
            world(),
            Joined {
                adopts,
                ..Joined::default()
            },
        );
        world.put(&format!("{PLANETS}/earth"), planet());
        let uid = world.object(&format!("{PLANETS}/earth")).unwrap()["metadata"]["uid"].clone();
        world.put(
            &config_map("common"),
            json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"theirs": "1"}}),
        );
        let running = joined(&world, &reconciler, 1);
        world.put(&at("a"), foobar("x"));
        seconds(10).await;
        let data = common(&world).unwrap()["data"].clone();
        if adopts {
            assert_eq!(
                (data, owners(&world)),
                (json!({"theirs": "1", "value": "x"}), vec!["a".to_owned()])
            );
        } else {
            assert_eq!(data, json!({"theirs": "1"}));
            let said = "ConfigMap `default/common` exists and is not controlled by this object";
            assert_eq!(
                condition(&world, "a"),
                [json!("False"), json!("ChildNotOwned"), json!(said)]
            );
        }

        let planets = json!([{"apiVersion": "test.example.com/v1", "kind": "Planet", "name": "earth", "uid": uid,
            "controller": true}]);
        world.edit(&config_map("common"), |map| {
            map["metadata"]["ownerReferences"] = planets
        });
        seconds(10).await;
        let theirs = common(&world);
        retarget(&world, "a", "y");
        seconds(300).await;
        assert_eq!(common(&world), theirs);
        let said = "ConfigMap `default/common` exists and is controlled by Planet/earth";
        assert_eq!(condition(&world, "a")[2], json!(said));

        world.delete(&config_map("common"));
        seconds(600).await;
        assert_eq!(owners(&world), ["a"], "it is created once the other one is gone");
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_restart_writes_nothing_and_a_field_that_leaves_the_intent_is_removed() {
    let (world, reconciler) = (world(), Joined::default());
    let running = joined(&world, &reconciler, 1);
    put_both(&world, "more").await;
    assert_eq!(common(&world).unwrap()["data"], json!({"value": "more", "more": "1"}));
    running.stop().await.unwrap();
    let before = world.writes("/").len();
    let running = joined(&world, &reconciler, 1);
    seconds(60).await;
    assert_eq!(world.writes("/").len(), before);

    for name in ["a", "b"] {
        retarget(&world, name, "less");
        seconds(10).await;
        assert_eq!(common(&world).unwrap()["data"], json!({"value": "less"}));
        assert_eq!(owners(&world), ["a", "b"]);
    }
    assert_eq!(world.writes(CONFIG_MAPS).len(), 3, "the second owner agrees already");
    running.stop().await.unwrap();
}

/// Declares no sharing.
struct Undeclared;

impl Reconciler<FooBar> for Undeclared {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        cx.apply_shared::<ConfigMap>(child(json!({"metadata": {"name": "common"}})))
            .await?;
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn sharing_that_is_not_declared_is_refused() {
    let world = world();
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .register(&manager, Undeclared)
        .unwrap();
    let running = Running::start(manager);
    world.put(&at("a"), foobar("x"));
    seconds(10).await;
    let said =
        "`test/foobar` does not declare that its objects share ConfigMap\n\nhint: add `.shares::<ConfigMap>()` to it";
    assert_eq!(condition(&world, "a")[2], json!(said));
    running.stop().await.unwrap();
}

/// Applies one ConfigMap as its child, and shares another.
struct Both(Seen);

impl Reconciler<FooBar> for Both {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        self.0.lock().unwrap().push(cx.key().name().to_owned());
        let map = |name: &str| child(json!({"metadata": {"name": name}, "data": {"value": foobar.spec.target}}));
        cx.apply_child::<ConfigMap>(map(cx.key().name())).await?;
        cx.apply_shared::<ConfigMap>(map("common")).await?;
        assert_eq!(cx.children::<ConfigMap>()?.len(), 1);
        Ok(Action::Done)
    }
}

#[tokio::test]
async fn owners_may_join_where_a_change_of_owner_references_needs_delete() {
    let manager = manager(&world());
    Controller::<FooBar>::new("foobar")
        .shares::<ConfigMap>()
        .register(&manager, Both(Seen::default()))
        .unwrap();
    let roles = json!(manager.roles(false).unwrap());
    let mut rules = roles[0]["rules"].as_array().unwrap().iter();
    let rule = rules.find(|rule| rule["resources"] == json!(["configmaps"])).unwrap();
    assert!(rule["verbs"].as_array().unwrap().contains(&json!("delete")), "{rule}");
}

#[tokio::test(start_paused = true)]
async fn own_writes_wake_nobody_if_a_kind_is_both_owned_and_shared() {
    let (world, seen) = (world(), Seen::default());
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .shares::<ConfigMap>()
        .register(&manager, Both(seen.clone()))
        .unwrap();
    let running = Running::start(manager);
    world.put(&at("a"), foobar("x"));
    seconds(60).await;
    assert_eq!(taken(&seen), ["a"]);
    retarget(&world, "a", "y");
    seconds(60).await;
    assert_eq!(taken(&seen), ["a"]);
    for path in [config_map("a"), config_map("common")] {
        world.edit(&path, |map| map["data"]["value"] = json!("z"));
        seconds(60).await;
        assert_eq!(taken(&seen), ["a"], "{path}");
        assert_eq!(world.object(&path).unwrap()["data"]["value"], "y");
    }
    running.stop().await.unwrap();
}
