//! Objects that a change wakes, and reconciles of objects that are gone.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResourceExt;
use kubewright_runtime::{Action, Context, Controller, Manager, Predicate, Reconciler, Result};
use serde_json::json;

use crate::{
    script::{FINALIZER, Script, controller, run},
    support::{
        World,
        faults::failure,
        kinds::{CONFIG_MAPS, FooBar, Planet, Running, at, foobar, seconds, world},
    },
};

#[tokio::test(start_paused = true)]
async fn k08_a_child_wakes_its_controller_in_any_version_and_its_previous_controller() {
    let (world, script) = (
        World::uncollected(&[FooBar::crd(), Planet::crd()]),
        Arc::<Script>::default(),
    );
    for name in ["works-a", "works-b", "works-c"] {
        world.put(&at(name), foobar("x"));
    }
    let child = |controller: &str, other: &str| {
        let labels = json!({"kubewright.dev/operator": "test"});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"labels": labels, "ownerReferences": [
            {"apiVersion": "test.example.com/v1beta7", "kind": "FooBar", "name": controller, "uid": "u", "controller": true},
            {"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": other, "uid": "v"}]}})
    };
    let running = run(&world, &script, controller());
    seconds(1).await;
    let before = ["works-a", "works-b", "works-c"].map(|name| script.runs(name).len());
    let path = format!("{CONFIG_MAPS}/child");
    world.put(&path, child("works-a", "works-c"));
    seconds(1).await;
    world.put(&path, child("works-b", "works-c"));
    seconds(1).await;

    assert_eq!(
        script.runs("works-a").len(),
        before[0] + 2,
        "once when the child gets this owner, once when it loses it"
    );
    assert_eq!(script.runs("works-b").len(), before[1] + 1);
    assert_eq!(
        script.runs("works-c").len(),
        before[2],
        "an owner that is not the controller is not woken"
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn k09_a_cluster_scoped_owner_has_one_key_for_children_in_all_namespaces() {
    struct Seen(Arc<Mutex<Vec<String>>>);
    impl Reconciler<Planet> for Seen {
        async fn reconcile(&self, cx: &Context<Planet>, _: Arc<Planet>) -> Result<Action> {
            self.0.lock().unwrap().push(cx.key().to_string());
            Ok(Action::Done)
        }
    }
    let (world, seen) = (
        World::uncollected(&[FooBar::crd(), Planet::crd()]),
        Arc::<Mutex<Vec<String>>>::default(),
    );
    world.put(
        "/apis/test.example.com/v1/planets/earth",
        json!({"apiVersion": "test.example.com/v1", "kind": "Planet", "spec": {}}),
    );
    world.put_as(
        "/api/v1/namespaces/kube-system/configmaps/moon",
        "test/planet",
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"ownerReferences": [
        {"apiVersion": "test.example.com/v1", "kind": "Planet", "name": "earth", "uid": "u", "controller": true}]}}),
    );
    let manager = Manager::builder(world.client()).name("test").build();
    Controller::<Planet>::new("planet")
        .owns::<ConfigMap>()
        .register(&manager, Seen(seen.clone()))
        .unwrap();
    let running = Running::start(manager);
    seconds(1).await;
    world.edit("/api/v1/namespaces/kube-system/configmaps/moon", |moon| {
        moon["data"] = json!({"phase": "full"})
    });
    seconds(1).await;

    assert_eq!(*seen.lock().unwrap(), ["earth", "earth"]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn k10_the_reconciler_learns_that_an_object_is_gone() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.put(&at("works-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(1).await;
    world.delete(&at("works-a"));
    seconds(1).await;
    assert_eq!(*script.deleted.lock().unwrap(), ["default/works-a"]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn k14_a_deletion_passes_the_controllers_predicate() {
    for predicate in [Predicate::generation_changed(), Predicate::new(|_| false)] {
        let (world, script) = (world(), Arc::<Script>::default());
        world.put(&at("works-a"), foobar("x"));
        let running = run(&world, &script, controller().predicate(predicate));
        seconds(1).await;
        world.delete(&at("works-a"));
        seconds(1).await;
        assert_eq!(script.deleted.lock().unwrap().len(), 1);
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_to_delete_passes_every_named_predicate() {
    let selector = || Predicate::label_selector("app=other").unwrap();
    for predicate in [
        Predicate::labels_changed(),
        Predicate::annotations_changed().not(),
        selector(),
    ] {
        let script = Arc::new(Script {
            finalizer: Some(FINALIZER),
            ..Script::default()
        });
        let world = world();
        let mut object = foobar("x");
        object["metadata"]["finalizers"] = json!([FINALIZER]);
        world.put(&at("works-a"), object.clone());
        let running = run(&world, &script, controller().predicate(predicate.clone()));
        seconds(1).await;
        world.delete(&at("works-a"));
        seconds(60).await;
        assert!(world.object(&at("works-a")).is_none(), "cleaned up");
        // Also if it was deleted while no operator ran.
        world.put(&at("works-a"), object);
        running.stop().await.unwrap();
        world.delete(&at("works-a"));
        let running = run(&world, &script, controller().predicate(predicate));
        seconds(60).await;
        assert!(world.object(&at("works-a")).is_none(), "cleaned up by the next process");
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_foreign_object_with_the_childs_name_is_never_changed_and_its_deletion_wakes_the_owner() {
    let (world, script) = (world(), Arc::<Script>::default());
    let child = format!("{CONFIG_MAPS}/child-a-foobar");
    world.put(
        &child,
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": {"theirs": "1"}}),
    );
    let theirs = world.object(&child);
    world.put(&at("child-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(2).await;
    assert_eq!(world.object(&child), theirs);

    world.delete(&child);
    // No watch shows an object without the operator's label: it is polled, with growing delays.
    seconds(2).await;
    assert_eq!(world.object(&child).unwrap()["data"], json!({"target": "x"}));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_foreign_object_of_a_watched_or_unwatched_kind_wakes_the_owner_when_it_is_deleted() {
    for (watched, within) in [(true, 1), (false, 2)] {
        let (world, script) = (world(), Arc::<Script>::default());
        let child = format!("{CONFIG_MAPS}/patient-a-foobar");
        world.put(
            &child,
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": {"theirs": "1"}}),
        );
        world.put(&at("patient-a"), foobar("x"));
        let controller = Controller::new("foobar");
        let controller = if watched {
            controller.watches::<ConfigMap>(|_| Vec::new())
        } else {
            controller
        };
        let running = run(&world, &script, controller);
        seconds(2).await;
        world.delete(&child);
        seconds(within).await;
        let data = world.object(&child).map(|child| child["data"].clone());
        assert_eq!(data, Some(json!({"target": "x"})), "watched: {watched}");
        running.stop().await.unwrap();
    }
}

/// The object in the way existed when it was read, and was deleted, and the watch event delivered, before the wait for
/// it began.
#[tokio::test(start_paused = true)]
async fn a_foreign_object_that_is_deleted_before_the_wait_begins_is_not_waited_for() {
    let (world, script) = (world(), Arc::<Script>::default());
    let child = format!("{CONFIG_MAPS}/patient-a-foobar");
    let (posts, gets, path) = (AtomicUsize::new(0), AtomicUsize::new(0), child.clone());
    world.intercept(move |verb, asked| match verb {
        "POST" if asked == CONFIG_MAPS && posts.fetch_add(1, Ordering::SeqCst) == 0 => {
            Some((409, failure(409, "AlreadyExists", asked)))
        }
        "GET" if asked == path && gets.fetch_add(1, Ordering::SeqCst) == 0 => {
            let metadata =
                json!({"name": "patient-a-foobar", "namespace": "default", "uid": "theirs", "resourceVersion": "1"});
            Some((
                200,
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}),
            ))
        }
        _ => None,
    });
    world.put(&at("patient-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(11).await;
    assert_eq!(
        world.object(&child).map(|child| child["data"].clone()),
        Some(json!({"target": "x"}))
    );
    running.stop().await.unwrap();
}

/// The garbage collector deletes each child that is created for a deleted owner, and each deletion wakes the owner.
#[tokio::test(start_paused = true)]
async fn an_owner_whose_deletion_is_seen_late_does_not_create_its_child_again_and_again() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.put(&at("child-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(1).await;
    world.delay_watches("foobars", Duration::from_secs(30));
    world.delete(&at("child-a"));
    seconds(20).await;
    let creates = || world.requests(&format!("POST {CONFIG_MAPS}")).len();
    assert_eq!(creates(), 2, "the first child, and another one");
    assert!(script.runs("child-a").len() <= 3);
    assert!(script.deleted.lock().unwrap().is_empty(), "the watch is late");

    world.put(&at("child-a"), foobar("y"));
    seconds(60).await;
    assert_eq!(*script.deleted.lock().unwrap(), ["default/child-a"]);
    let child = world.object(&format!("{CONFIG_MAPS}/child-a-foobar"));
    assert_eq!(
        child.unwrap()["data"],
        json!({"target": "y"}),
        "the next object of the name"
    );
    assert_eq!(creates(), 3);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_child_that_users_delete_again_and_again_is_created_each_time() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.put(&at("child-a"), foobar("x"));
    let running = run(&world, &script, controller());
    let child = format!("{CONFIG_MAPS}/child-a-foobar");
    let reads = || world.requests(&format!("GET {}", at("child-a"))).len();
    for (n, read) in [0, 1, 1, 2].into_iter().enumerate() {
        seconds(1).await;
        world.delete(&child);
        seconds(1).await;
        assert!(world.object(&child).is_some());
        assert_eq!(
            reads(),
            read,
            "after deletion {n}: its owner is read before every second one"
        );
    }
    running.stop().await.unwrap();
}
