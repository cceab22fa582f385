//! Namespaces of children, and the number of children that are created.

use std::{sync::Arc, time::Duration};

use crate::support::{
    kinds::{CONFIG_MAPS, FooBar, Moon, PLANETS, Planet, Running, at, config_map, foobar, planet, seconds, world},
    notes::{child, manager},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{Action, Context, Controller, Error, Reconciler, Result};
use serde_json::json;

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
async fn a_cluster_scoped_owner_has_children_in_any_namespace_and_cluster_scoped_ones() {
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
        "each is created again"
    );
    let settled = world.writes("/api").len();
    seconds(60).await;
    assert_eq!(world.writes("/api").len(), settled);

    world.delete(&earth);
    seconds(10).await;
    assert_eq!(
        all.map(|path| world.object(path).is_some()),
        [false; 3],
        "each is deleted with its owner"
    );
    running.stop().await.unwrap();
}

/// Applies a child that it cannot own.
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
async fn a_child_that_the_garbage_collector_would_delete_is_refused_before_any_request() {
    for (target, message) in [
        ("moon", "a child of kind Moon is cluster-scoped, but its owner is not"),
        (
            "elsewhere",
            "a child of kind ConfigMap has another namespace than its owner",
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
            (&json!("False"), &json!(message))
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

/// Wants one child with a generated name: lists its children, and creates one if there is none.
struct Generated {
    /// Creates through the context, whose writes are in the cache at once; or with the plain client.
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
async fn a_slow_watch_causes_duplicates_unless_own_writes_are_in_the_cache() {
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
