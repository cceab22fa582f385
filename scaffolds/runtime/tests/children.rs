//! Children, as an API server has them: where they may be, whose they are, and who gets them.

mod support;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ObjectMeta;
use kubewright_runtime::{Action, Conditions, Context, Controller, Error, Reconciler, Result};
use serde_json::{Value, json};
use support::{
    World,
    kinds::{CONFIG_MAPS, FooBar, Moon, PLANETS, Planet, Running, at, config_map, foobar, planet, seconds, world},
    notes::{child, manager},
};

/// Owns one ConfigMap per namespace, and a moon.
struct Gravity;

impl Reconciler<Planet> for Gravity {
    async fn reconcile(&self, cx: &Context<Planet>, _: Arc<Planet>) -> Result<Action> {
        let name = cx.key().name();
        for namespace in [None, Some("kube-system")] {
            let metadata = json!({"name": name, "namespace": namespace});
            cx.apply_child::<ConfigMap>(child(json!({"metadata": metadata, "data": {"a": "1"}})))
                .await?;
        }
        let mut moon = Moon::new(&format!("{name}-moon"), child_spec());
        moon.metadata.labels = Some([("of".to_owned(), name.to_owned())].into());
        cx.apply_child(moon).await?;
        Ok(Action::Done)
    }
}

fn child_spec<S: serde::de::DeserializeOwned>() -> S {
    serde_json::from_value(json!({})).expect("an empty spec")
}

#[tokio::test(start_paused = true)]
async fn a_cluster_scoped_owner_has_children_in_any_namespace_and_in_none() {
    let world = world();
    let manager = manager(&world);
    Controller::<Planet>::new("planet")
        .owns::<ConfigMap>()
        .owns::<Moon>()
        .register(&manager, Gravity)
        .unwrap();
    let running = Running::start(manager);
    let (earth, here) = (format!("{PLANETS}/earth"), config_map("earth"));
    let there = "/api/v1/namespaces/kube-system/configmaps/earth";
    let moon = "/apis/test.example.com/v1/moons/earth-moon";
    world.put(&earth, planet());
    seconds(1).await;
    let all = [here.as_str(), there, moon];
    let owner = |path: &str| {
        world
            .object(path)
            .map(|child| child["metadata"]["ownerReferences"][0]["name"].clone())
    };
    assert_eq!(
        all.map(owner),
        [Some(json!("earth")), Some(json!("earth")), Some(json!("earth"))]
    );

    for path in all {
        world.delete(path);
    }
    seconds(1).await;
    assert_eq!(
        all.map(|path| world.object(path).is_some()),
        [true; 3],
        "each is made again"
    );
    let settled = world.writes("/api").len();
    seconds(60).await;
    assert_eq!(world.writes("/api").len(), settled);

    world.delete(&earth);
    seconds(10).await;
    assert_eq!(
        all.map(|path| world.object(path).is_some()),
        [false; 3],
        "each goes with its owner"
    );
    running.stop().await.unwrap();
}

/// Asks for a child that cannot be its.
struct Impossible;

impl Reconciler<FooBar> for Impossible {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        match foobar.spec.target.as_str() {
            "moon" => drop(cx.apply_child(Moon::new("moon", child_spec())).await?),
            "elsewhere" => {
                let far = json!({"metadata": {"name": "far", "namespace": "kube-system"}});
                cx.apply_child::<ConfigMap>(child(far)).await?;
            }
            _ => drop(cx.apply_child(ConfigMap::default()).await?),
        }
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_that_the_garbage_collector_would_take_is_refused_before_it_is_sent() {
    for (target, says) in [
        ("moon", "a child of kind Moon is cluster-scoped, and its owner is not"),
        (
            "elsewhere",
            "a child of kind ConfigMap is meant for another namespace than its owner's",
        ),
        ("nameless", "a child of kind ConfigMap has no name"),
    ] {
        let world = world();
        let manager = manager(&world);
        Controller::<FooBar>::new("foobar")
            .owns::<ConfigMap>()
            .register(&manager, Impossible)
            .unwrap();
        let running = Running::start(manager);
        world.put(&at("a"), foobar(target));
        seconds(3600).await;
        let condition = world.object(&at("a")).unwrap()["status"]["conditions"][0].clone();
        assert_eq!(
            (&condition["status"], &condition["message"]),
            (&json!("False"), &json!(says))
        );
        assert_eq!(
            (
                world.writes("/api/v1").len(),
                world.writes("/apis/test.example.com/v1/moons").len()
            ),
            (0, 0)
        );
        running.stop().await.unwrap();
    }
}

/// Makes one ConfigMap, adopting what nobody controls if `adopts`; and counts its runs.
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

fn condition(world: &World, name: &str) -> [Value; 3] {
    let condition = world.object(&at(name)).unwrap()["status"]["conditions"][0].clone();
    ["status", "reason", "message"].map(|field| condition[field].clone())
}

#[tokio::test(start_paused = true)]
async fn what_another_controls_is_reported_not_retried_and_taken_once_it_is_free() {
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
        let says = "ConfigMap `default/shared` exists and is controlled by FooBar/first";
        assert_eq!(
            condition(&world, "second"),
            [json!("False"), json!("ChildNotOwned"), json!(says)]
        );
        assert_eq!(
            *reconciler.runs.lock().unwrap(),
            2,
            "one each: asking again would not help"
        );

        world.delete(&at("first"));
        seconds(60).await;
        assert_eq!(
            condition(&world, "second")[0],
            json!("True"),
            "its end has woken the one who waits"
        );
        assert_eq!(
            world.object(&config_map("shared")).unwrap()["data"],
            json!({"target": "y"})
        );
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_orphan_is_adopted_only_where_the_reconciler_says_so() {
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
            let says = "ConfigMap `default/shared` exists and is not controlled by this object";
            assert_eq!(
                condition(&world, "a"),
                [json!("False"), json!("ChildNotOwned"), json!(says)]
            );
        } else {
            assert_eq!(
                map["data"],
                json!({"theirs": "1", "target": "x"}),
                "what it has beyond the intent stays"
            );
            assert_eq!(map["metadata"]["ownerReferences"][0]["name"], json!("a"));
            let settled = world.writes(CONFIG_MAPS).len();
            seconds(60).await;
            assert_eq!(world.writes(CONFIG_MAPS).len(), settled);
            world.delete(&at("a"));
            seconds(60).await;
            assert!(world.object(&config_map("shared")).is_none(), "it goes with its owner");
        }
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_that_adopt_one_object_one_gets_it_though_the_other_still_sees_an_orphan() {
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
        "the apply named the version that it had seen"
    );
    running.stop().await.unwrap();
}

/// Names its child after the target, and reports.
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
async fn a_wiped_status_is_repaired_at_once_and_no_old_child_is_forgotten_by_it() {
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
    // Of the writes the fourth, after child, status and the next child, removes the old one.
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
    assert_eq!(children(), ["/a-new"], "found by what there is");
    let reported = json!(["True", "Applied", "a-new"]);
    assert_eq!(json!(condition(&world, "a")), reported);
    let patches = || world.requests(&format!("PATCH {}/status", at("a"))).len();
    let before = patches();
    world.edit_status(&at("a"), |object| object["status"] = json!({}));
    seconds(1).await;
    assert_eq!((json!(condition(&world, "a")), patches()), (reported, before + 1));
    seconds(60).await;
    assert_eq!(patches(), before + 1, "and that is all");
    second.stop().await.unwrap();
}

/// Wants one child of whatever name: looks, and makes one if there is none.
struct Generated {
    /// Through the context, whose writes are in the cache at once; or past it, as with any client.
    ledger: bool,
}

impl Reconciler<FooBar> for Generated {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let children = cx.children::<ConfigMap>()?;
        if !children.is_empty() {
            return Ok(Action::Done);
        }
        let name = format!("a-{}", cx.reconcile_id());
        if self.ledger {
            cx.apply_child::<ConfigMap>(child(json!({"metadata": {"name": name}})))
                .await?;
        } else {
            let owner =
                kube::Resource::controller_owner_ref(&*foobar, &()).ok_or_else(|| Error::retry("no uid yet"))?;
            let map = child(json!({"metadata": {"name": name, "ownerReferences": [owner]}}));
            let maps = kube::Api::<ConfigMap>::default_namespaced(cx.client().clone());
            maps.create(&kube::api::PostParams::default(), &map).await?;
        }
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_watch_makes_duplicates_of_whoever_does_not_see_his_own_writes() {
    for (ledger, children) in [(false, 4), (true, 1)] {
        let world = world();
        let manager = manager(&world);
        Controller::<FooBar>::new("foobar")
            .owns::<ConfigMap>()
            .register(&manager, Generated { ledger })
            .unwrap();
        let running = Running::start(manager);
        seconds(1).await;
        world.delay_watches("configmaps", Duration::from_secs(3600));
        world.put(&at("a"), foobar("x"));
        for n in 0..3 {
            seconds(1).await;
            world.edit(&at("a"), |object| {
                object["metadata"]["labels"] = json!({"n": n.to_string()})
            });
        }
        seconds(1).await;
        assert_eq!(world.count(CONFIG_MAPS), children, "with the ledger: {ledger}");
        running.stop().await.unwrap();
    }
}
