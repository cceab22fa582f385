//! Panics of the author's code outside of `reconcile`: each affects only its object; no wake-up is lost, and the
//! controller goes on.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kubewright_runtime::{Action, Context, Controller, ObjectKey, Predicate, Reconciler, Result};
use serde_json::json;
use tokio::time::timeout;

use crate::support::{
    World,
    kinds::{FOOBARS, FooBar, Running, at, config_map, foobar, seconds, world},
    notes::{Notes, Seen, manager, taken},
};

/// A ConfigMap that an object of this name controls.
fn child_of(world: &World, owner: &str) -> serde_json::Value {
    let uid = world.object(&at(owner)).unwrap()["metadata"]["uid"].clone();
    let labels = json!({"kubewright.dev/operator": "test"});
    json!({"metadata": {"labels": labels, "ownerReferences": [{"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": owner,
        "uid": uid, "controller": true}]}})
}

#[tokio::test(start_paused = true)]
async fn if_a_predicate_panics_the_change_passes() {
    let (world, seen) = (world(), Seen::default());
    world.put(&at("a"), foobar("x"));
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .predicate(Predicate::new(|_| panic!("of its own kind")))
        // Also if the panicking predicate is negated.
        .owns_where::<ConfigMap>(Predicate::new(|_| panic!("of a child")).not())
        .watches_where::<Pod>(Predicate::new(|_| panic!("of a watched object")), |_| {
            vec![ObjectKey::new(Some("default"), "a")]
        })
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    let running = Running::start(manager);
    seconds(5).await;
    assert_eq!(taken(&seen), ["a"], "what is there at the start");
    world.edit(&at("a"), |object| object["spec"]["target"] = json!("y"));
    seconds(5).await;
    assert_eq!(taken(&seen), ["a"], "what changes later");
    world.put(&config_map("child"), child_of(&world, "a"));
    seconds(5).await;
    assert_eq!(taken(&seen), ["a"], "a child");
    let pod = json!({"metadata": {"name": "pod"}, "spec": {"containers": [{"name": "a", "image": "b"}]}});
    world.post("/api/v1/namespaces/default/pods", &pod);
    seconds(5).await;
    assert_eq!(taken(&seen), ["a"], "a watched object");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_mapping_or_selector_that_panics_affects_only_the_object_it_was_called_with() {
    let (world, seen) = (world(), Seen::default());
    for name in ["a-panics", "b-works"] {
        world.put(&at(name), foobar("x"));
    }
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .watches::<ConfigMap>(|map| {
            assert!(map.data.is_none(), "an object that the mapping does not expect");
            vec![ObjectKey::new(Some("default"), "b-works")]
        })
        .claims::<Pod>(|foobar: &FooBar| {
            let name = foobar.metadata.name.clone().unwrap_or_default();
            assert_eq!(name, "b-works", "an object that the selector does not expect");
            BTreeMap::from([("app".to_owned(), "web".to_owned())])
        })
        .index::<ConfigMap>("bad", |_| panic!("an index function"))
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    let running = Running::start(manager);
    seconds(5).await;
    taken(&seen);
    world.put(&config_map("good"), json!({"metadata": {}}));
    seconds(5).await;
    assert_eq!(taken(&seen), ["b-works"]);
    // Of the old and the new object, one can be mapped.
    world.edit(&config_map("good"), |map| map["data"] = json!({"a": "b"}));
    seconds(5).await;
    assert_eq!(taken(&seen), ["b-works"]);
    let labels = json!({"app": "web"});
    let pod = json!({"metadata": {"name": "orphan", "labels": labels}, "spec": {"containers": [{"name": "a", "image": "b"}]}});
    world.post("/api/v1/namespaces/default/pods", &pod);
    seconds(5).await;
    assert_eq!(taken(&seen), ["b-works"], "whose selector does not panic");
    running.stop().await.unwrap();
}

/// Panics when an object is gone.
#[derive(Clone, Default)]
struct Forgetful(Arc<AtomicUsize>);

impl Reconciler<FooBar> for Forgetful {
    async fn reconcile(&self, _: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Action::Done)
    }

    fn deleted(&self, _: &ObjectKey) {
        panic!("nothing of the kind was remembered");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_panic_in_deleted_the_only_worker_continues() {
    let (world, forgetful) = (world(), Forgetful::default());
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .register(&manager, forgetful.clone())
        .unwrap();
    let metrics = manager.metrics().clone();
    let running = Running::start(manager);
    world.put(&at("a"), foobar("x"));
    seconds(5).await;
    world.delete(&at("a"));
    seconds(5).await;
    world.put(&at("a"), foobar("x"));
    world.put(&at("b"), foobar("x"));
    seconds(5).await;
    assert_eq!(forgetful.0.load(Ordering::Relaxed), 3);
    let counted = "controller_runtime_reconcile_panics_total{controller=\"foobar\"} 1";
    assert!(metrics.encode().contains(counted), "{}", metrics.encode());
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_mapping_is_not_called_before_the_workers_start() {
    let (world, asked) = (world(), Arc::<AtomicUsize>::default());
    let (counted, seen) = (asked.clone(), Seen::default());
    world.put(&at("a"), foobar("x"));
    for n in 0..10 {
        world.put(&config_map(&format!("m{n}")), json!({"metadata": {}}));
    }
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .watches::<ConfigMap>(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            vec![ObjectKey::new(Some("default"), "a")]
        })
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    let running = Running::start(manager);
    seconds(5).await;
    // Every object is reconciled at the start anyway.
    assert_eq!((asked.load(Ordering::Relaxed), taken(&seen).len()), (0, 1));
    world.delete(&config_map("m0"));
    seconds(5).await;
    assert_eq!((asked.load(Ordering::Relaxed), taken(&seen).len()), (1, 1));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_background_task_ends_the_process_after_the_running_reconciles() {
    let (world, seen) = (world(), Seen::default());
    world.put(&format!("{FOOBARS}/a"), foobar("x"));
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    manager.background(async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        panic!("out of luck");
    });
    let running = Running::start(manager);
    let ended = timeout(Duration::from_secs(5), running.done).await.unwrap().unwrap();
    let error = ended.unwrap_err().to_string();
    assert_eq!(error, "a background task ended unexpectedly: it panicked: out of luck");
    assert_eq!(taken(&seen), ["a"]);
}
