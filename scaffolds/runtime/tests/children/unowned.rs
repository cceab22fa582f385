//! Objects that are applied without an owner: in another namespace and cluster-scoped, found again by the annotation that
//! names the object they are applied for, and deleted by its cleanup.

use std::sync::Arc;

use crate::support::{
    World,
    kinds::{FooBar, Moon, PLANETS, Running, at, condition, config_map, foobar, planet, seconds, world},
    notes::{Seen, child, manager, taken},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{Action, Cleanup, Conditions, Context, Controller, Manager, ObjectKey, Reconciler, Result};
use serde_json::{Value, json};

const FAR: &str = "/api/v1/namespaces/kube-system/configmaps";
const MOONS: &str = "/apis/test.example.com/v1/moons";
const MARK: &str = "kubewright.dev/applied-for";

/// Applies a ConfigMap of the target's name in another namespace, and a moon.
#[derive(Clone, Default)]
struct Far {
    adopts: bool,
    seen: Seen,
}

impl Reconciler<FooBar> for Far {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/far")
    }

    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        self.seen.lock().unwrap().push(cx.key().name().to_owned());
        let target = &foobar.spec.target;
        let far = ObjectKey::new(Some("kube-system"), target);
        let map = json!({"metadata": {"name": target, "namespace": "kube-system"}, "data": {"for": cx.key().name()}});
        if self.adopts {
            cx.adopt_unowned::<ConfigMap>(child(map)).await?;
        } else {
            cx.apply_unowned::<ConfigMap>(child(map)).await?;
        }
        let moon = json!({"metadata": {"name": cx.key().name()}, "spec": {}});
        cx.apply_unowned::<Moon>(child(moon)).await?;
        cx.delete_unowned::<ConfigMap>(&[far]).await?;
        assert_eq!(cx.unowned_objects::<ConfigMap>()?.len(), 1);
        cx.patch_status(|status| status.conditions.set(cx.condition("Ready", true, "Applied", "")))
            .await?;
        Ok(Action::Done)
    }

    async fn cleanup(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Cleanup> {
        cx.delete_unowned::<ConfigMap>(&[]).await?;
        cx.delete_unowned::<Moon>(&[]).await?;
        Ok(Cleanup::Done)
    }
}

fn register(manager: &Manager, reconciler: &Far) {
    Controller::<FooBar>::new("foobar")
        .applies_unowned::<ConfigMap>()
        .prunes::<ConfigMap>()
        .applies_unowned::<Moon>()
        .prunes::<Moon>()
        .register(manager, reconciler.clone())
        .unwrap();
}

fn far(world: &World, reconciler: &Far) -> Running {
    let manager = manager(world);
    register(&manager, reconciler);
    Running::start(manager)
}

fn map(name: &str) -> String {
    format!("{FAR}/{name}")
}

fn stranger(annotations: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"annotations": annotations}, "data": {"theirs": "1"}})
}

#[tokio::test(start_paused = true)]
async fn an_object_elsewhere_and_a_cluster_scoped_one_are_applied_repaired_and_deleted_by_the_cleanup() {
    let (world, reconciler) = (world(), Far::default());
    let running = far(&world, &reconciler);
    for name in ["a", "b"] {
        world.put(&at(name), foobar(&format!("map-{name}")));
    }
    seconds(1).await;
    let moon = format!("{MOONS}/a");
    for path in [&map("map-a"), &moon] {
        let meta = world.object(path).unwrap()["metadata"].clone();
        assert_eq!(meta["annotations"][MARK], "FooBar.test.example.com/default/a");
        assert_eq!(meta["labels"]["kubewright.dev/operator"], "test");
        assert_eq!(meta["ownerReferences"], Value::Null);
    }
    assert_eq!(
        [FAR, MOONS].map(|path| world.writes(path).len()),
        [2, 2],
        "one create each"
    );

    taken(&reconciler.seen);
    world.edit(&map("map-a"), |map| map["data"] = json!({"for": "them", "theirs": "1"}));
    seconds(60).await;
    assert_eq!(
        world.object(&map("map-a")).unwrap()["data"],
        json!({"for": "a", "theirs": "1"})
    );
    world.delete(&moon);
    seconds(60).await;
    assert!(world.object(&moon).is_some(), "it is created again");
    assert_eq!(
        taken(&reconciler.seen),
        ["a", "a"],
        "one run for each change, and none of `b`"
    );
    assert_eq!([FAR, MOONS].map(|path| world.writes(path).len()), [3, 3]);

    world.edit(&at("a"), |object| object["spec"]["target"] = json!("other"));
    seconds(60).await;
    assert!(
        world.object(&map("map-a")).is_none(),
        "that of the earlier spec is deleted"
    );
    world.delete(&at("a"));
    seconds(60).await;
    let left = [at("a"), map("other"), moon, map("map-b"), format!("{MOONS}/b")];
    let left = left.map(|path| world.object(&path).is_some());
    assert_eq!(left, [false, false, false, true, true], "those of `b` stay");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_restart_writes_nothing_and_finds_what_changed_and_what_was_deleted_meanwhile() {
    let (world, reconciler) = (world(), Far::default());
    let running = far(&world, &reconciler);
    for name in ["a", "b"] {
        world.put(&at(name), foobar(&format!("map-{name}")));
    }
    seconds(10).await;
    running.stop().await.unwrap();
    let before = world.writes("/").len();
    let running = far(&world, &reconciler);
    seconds(60).await;
    assert_eq!(world.writes("/").len(), before);
    running.stop().await.unwrap();

    world.edit(&map("map-a"), |map| map["data"] = json!({}));
    world.delete(&at("b"));
    let running = far(&world, &reconciler);
    seconds(60).await;
    assert_eq!(world.object(&map("map-a")).unwrap()["data"], json!({"for": "a"}));
    assert_eq!([at("b"), map("map-b")].map(|path| world.object(&path)), [None, None]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_object_that_names_nobody_or_another_object_is_left_alone_until_it_is_deleted() {
    let (world, reconciler) = (world(), Far::default());
    world.put(&map("taken"), stranger(json!({})));
    let theirs = world.object(&map("taken"));
    let running = far(&world, &reconciler);
    world.put(&at("a"), foobar("taken"));
    world.put(&at("b"), foobar("map-b"));
    seconds(10).await;
    world.put(&at("c"), foobar("map-b"));
    seconds(60).await;
    let refused = |said: &str| [json!("False"), json!("ChildNotOwned"), json!(said)];
    let nobody = "ConfigMap `kube-system/taken` exists and is not controlled by this object";
    let other = "ConfigMap `kube-system/map-b` exists and is controlled by FooBar.test.example.com/default/b";
    assert_eq!(condition(&world, "a"), refused(nobody));
    assert_eq!(condition(&world, "c"), refused(other));
    assert_eq!(world.object(&map("taken")), theirs);

    world.delete(&map("taken"));
    world.delete(&at("b"));
    // An object that no cache contains is polled.
    seconds(300).await;
    assert_eq!(
        ["a", "c"].map(|name| condition(&world, name)[0].clone()),
        [json!("True"), json!("True")]
    );
    assert_eq!(world.object(&map("map-b")).unwrap()["data"]["for"], "c");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_object_that_names_nobody_is_taken_over_only_by_adopt_unowned() {
    let (world, reconciler) = (
        world(),
        Far {
            adopts: true,
            ..Far::default()
        },
    );
    world.put(&map("taken"), stranger(json!({"note": "x"})));
    world.put(&format!("{PLANETS}/earth"), planet());
    let uid = world.object(&format!("{PLANETS}/earth")).unwrap()["metadata"]["uid"].clone();
    world.put(&map("controlled"), stranger(json!({})));
    world.edit(&map("controlled"), |map| {
        map["metadata"]["ownerReferences"] = json!([{"apiVersion": "test.example.com/v1", "kind": "Planet",
            "name": "earth", "uid": uid, "controller": true}]);
    });
    let theirs = world.object(&map("controlled"));
    let running = far(&world, &reconciler);
    world.put(&at("a"), foobar("taken"));
    world.put(&at("b"), foobar("controlled"));
    seconds(60).await;
    let taken = world.object(&map("taken")).unwrap();
    assert_eq!(taken["data"], json!({"theirs": "1", "for": "a"}));
    let marks = json!({"note": "x", MARK: "FooBar.test.example.com/default/a"});
    assert_eq!(taken["metadata"]["annotations"], marks);
    assert_eq!(world.object(&map("controlled")), theirs);
    let said = "ConfigMap `kube-system/controlled` exists and is controlled by Planet/earth";
    assert_eq!(condition(&world, "b")[2], json!(said));
    running.stop().await.unwrap();
}

/// Anybody may write annotations.
#[tokio::test(start_paused = true)]
async fn the_annotation_alone_makes_nothing_deleted_and_an_invalid_one_wakes_nobody() {
    let (world, reconciler) = (world(), Far::default());
    let running = far(&world, &reconciler);
    world.put(&at("a"), foobar("map-a"));
    seconds(10).await;
    let forged = [
        ("unlabelled", "FooBar.test.example.com/default/a", json!({})),
        (
            "other",
            "FooBar.test.example.com/default/a",
            json!({"kubewright.dev/operator": "other"}),
        ),
        (
            "invalid",
            "FooBar.test.example.com/default/../a",
            json!({"kubewright.dev/operator": "test"}),
        ),
    ];
    taken(&reconciler.seen);
    for (name, mark, labels) in &forged {
        let mut object = stranger(json!({MARK: mark}));
        object["metadata"]["labels"] = labels.clone();
        world.put(&config_map(name), object);
    }
    seconds(60).await;
    assert_eq!(taken(&reconciler.seen), [""; 0]);
    world.delete(&at("a"));
    seconds(60).await;
    assert!(world.object(&map("map-a")).is_none());
    assert!(
        forged
            .iter()
            .all(|(name, ..)| world.object(&config_map(name)).is_some())
    );
    running.stop().await.unwrap();
}

/// Another process changed the object, and the watch is behind.
#[tokio::test(start_paused = true)]
async fn an_object_that_changed_unseen_is_not_deleted_in_that_version() {
    let (world, reconciler) = (world(), Far::default());
    let running = far(&world, &reconciler);
    world.put(&at("a"), foobar("map-a"));
    seconds(10).await;
    world.delay_watches("configmaps", std::time::Duration::from_secs(30));
    world.edit(&map("map-a"), |map| map["metadata"]["annotations"] = json!({}));
    world.delete(&at("a"));
    seconds(120).await;
    assert!(world.object(&map("map-a")).is_some(), "it names nobody any more");
    assert!(world.object(&at("a")).is_none(), "the cleanup is repeated");
    running.stop().await.unwrap();
}

/// Needs an object for its cleanup.
struct Last;

impl Reconciler<FooBar> for Last {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/last")
    }

    async fn reconcile(&self, _: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        Ok(Action::Done)
    }

    async fn cleanup(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Cleanup> {
        let last = child(json!({"metadata": {"name": "last"}}));
        match cx.apply_unowned::<ConfigMap>(last).await {
            Err(error) if error.is_namespace_terminating() => Ok(Cleanup::Done),
            applied => applied.map(|_| Cleanup::Pending(std::time::Duration::from_secs(1))),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cleanup_can_end_where_nothing_can_be_created_any_more() {
    let world = world();
    let manager = manager(&world);
    let controller = Controller::<FooBar>::new("foobar").applies_unowned::<ConfigMap>();
    controller.register(&manager, Last).unwrap();
    let running = Running::start(manager);
    world.post("/api/v1/namespaces", &json!({"metadata": {"name": "brief"}}));
    let brief = at("a").replace("default", "brief");
    for path in [&at("a"), &brief] {
        world.put(path, foobar("x"));
    }
    seconds(10).await;
    world.delete(&at("a"));
    world.delete("/api/v1/namespaces/brief");
    seconds(60).await;
    assert_eq!(
        [&at("a"), &brief].map(|path| world.object(path).is_some()),
        [true, false]
    );
    assert!(world.object(&config_map("last")).is_some());
    running.stop().await.unwrap();
}

/// Applies without the declarations, or where nothing is watched.
struct Impossible;

impl Reconciler<FooBar> for Impossible {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let far = json!({"metadata": {"name": "far", "namespace": "kube-system"}});
        match foobar.spec.target.as_str() {
            "moon" => drop(
                cx.apply_unowned::<Moon>(child(json!({"metadata": {"name": "x"}, "spec": {}})))
                    .await?,
            ),
            "delete" => drop(cx.delete_unowned::<ConfigMap>(&[]).await?),
            "name" => drop(
                cx.apply_unowned::<ConfigMap>(child(json!({"metadata": {"name": "a/b"}})))
                    .await?,
            ),
            _ => drop(cx.apply_unowned::<ConfigMap>(child(far)).await?),
        }
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_declared_or_not_watched_is_refused_before_any_request() {
    for (target, said) in [
        (
            "moon",
            "`test/foobar` does not declare that it applies Moon without an owner\n\nhint: add `.applies_unowned::<Moon>()` to it",
        ),
        (
            "delete",
            "`test/foobar` does not declare that it prunes ConfigMap\n\nhint: add `.prunes::<ConfigMap>()` to it",
        ),
        (
            "name",
            "a ConfigMap without an owner cannot be named `a/b`: only letters, digits, `-`, `.`, `_` and `:` are allowed",
        ),
        (
            "far",
            "a ConfigMap without an owner cannot be `kube-system/far`: its namespace is not watched\n\nhint: name the namespace in `--namespace`, or in the configuration of the cache",
        ),
    ] {
        let world = world();
        let manager = Manager::builder(world.client())
            .name("test")
            .watch_namespaces(["default".to_owned()]);
        let manager = manager.build();
        Controller::<FooBar>::new("foobar")
            .applies_unowned::<ConfigMap>()
            .register(&manager, Impossible)
            .unwrap();
        let running = Running::start(manager);
        world.put(&at("a"), foobar(target));
        seconds(10).await;
        assert_eq!(condition(&world, "a")[2], json!(said), "{target}");
        assert_eq!(world.writes("/api/v1").len(), 0);
        running.stop().await.unwrap();
    }
}
