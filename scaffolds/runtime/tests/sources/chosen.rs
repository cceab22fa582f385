//! Namespaces that are chosen by a label while the manager runs.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::support::{
    World,
    faults::failure,
    kinds::{FooBar, Planet, Running, foobar, planet, seconds, world},
    notes::{Notes as Names, Seen, child, taken},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{Action, AddedWatches, Cleanup, Context, Controller, Manager, ObjectKey, Reconciler, Result};
use serde_json::json;
use tokio::time::sleep;

const GROUP: &str = "/apis/test.example.com/v1";

fn label(world: &World, namespace: &str, team: &str) {
    let fields = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"labels": {"team": team}}});
    world.put(&format!("/api/v1/namespaces/{namespace}"), fields);
}

fn at(namespace: &str, name: &str) -> String {
    format!("{GROUP}/namespaces/{namespace}/foobars/{name}")
}

fn config_map(namespace: &str, name: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps/{name}")
}

fn manager(world: &World) -> Manager {
    let manager = Manager::builder(world.client()).name("test").namespace("default");
    manager.namespace_selector("team=a").unwrap().build()
}

/// Creates a ConfigMap, notes how many children it has, and every call.
#[derive(Clone, Default)]
struct Notes {
    seen: Seen,
    takes: Duration,
}

impl Notes {
    fn note(&self, what: &str, key: &ObjectKey) {
        self.seen.lock().unwrap().push(format!("{what} {key}"));
    }

    /// Starts a manager with a controller of FooBars.
    async fn run(&self, world: &World) -> Running {
        let manager = manager(world);
        Controller::<FooBar>::new("foobar")
            .owns::<ConfigMap>()
            .register(&manager, self.clone())
            .unwrap();
        let running = Running::start(manager);
        seconds(5).await;
        running
    }

    fn taken(&self) -> Vec<String> {
        let mut taken = taken(&self.seen);
        taken.sort();
        taken
    }
}

impl Reconciler<FooBar> for Notes {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/cleanup")
    }

    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        self.note("reconcile", cx.key());
        sleep(self.takes).await;
        let children = cx.children::<ConfigMap>()?.len();
        if children == 0 {
            let name = format!("{}-{}", cx.key().name(), cx.reconcile_id());
            cx.apply_child::<ConfigMap>(child(json!({"metadata": {"name": name}})))
                .await?;
        }
        Ok(Action::Done)
    }

    async fn cleanup(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Cleanup> {
        self.note("cleanup", cx.key());
        Ok(Cleanup::Done)
    }

    fn deleted(&self, key: &ObjectKey) {
        self.note("deleted", key);
    }
}

#[tokio::test(start_paused = true)]
async fn objects_are_reconciled_while_their_namespace_has_the_label() {
    let (world, notes) = (world(), Notes::default());
    label(&world, "one", "a");
    label(&world, "two", "b");
    world.put(&at("one", "x"), foobar("x"));
    world.put(&at("two", "y"), foobar("x"));
    let running = notes.run(&world).await;
    assert_eq!(notes.taken(), ["reconcile one/x"]);

    label(&world, "two", "a");
    seconds(5).await;
    assert_eq!(notes.taken(), ["reconcile two/y"]);
    label(&world, "three", "a");
    world.put(&at("three", "z"), foobar("x"));
    seconds(5).await;
    assert_eq!(
        notes.taken(),
        ["reconcile three/z"],
        "a namespace that is created with the label"
    );

    label(&world, "one", "b");
    seconds(5).await;
    let writes = world.writes("").len();
    world.edit(&at("one", "x"), |foobar| foobar["spec"]["target"] = json!("new"));
    world.put(&at("one", "new"), foobar("x"));
    seconds(3600).await;
    assert_eq!(
        notes.taken(),
        [""; 0],
        "neither reconciled nor cleaned up, nor reported as deleted"
    );
    assert_eq!(world.writes("").len(), writes);
    assert_eq!(world.count("/api/v1/namespaces/one/configmaps"), 1, "children stay");

    label(&world, "one", "a");
    seconds(5).await;
    assert_eq!(notes.taken(), ["reconcile one/new", "reconcile one/x"]);
    assert_eq!(
        world.count("/api/v1/namespaces/one/configmaps"),
        2,
        "the child of x was found, not made again"
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_is_deleted_is_cleaned_up_first() {
    let (world, notes) = (world(), Notes::default());
    label(&world, "one", "a");
    world.put(&at("one", "x"), foobar("x"));
    let running = notes.run(&world).await;
    world.delete("/api/v1/namespaces/one");
    seconds(60).await;
    let taken = notes.taken();
    assert!(
        taken.contains(&"cleanup one/x".to_owned()) && taken.contains(&"deleted one/x".to_owned()),
        "{taken:?}"
    );
    assert_eq!(world.object("/api/v1/namespaces/one"), None);
    label(&world, "one", "a");
    world.put(&at("one", "x"), foobar("x"));
    seconds(5).await;
    assert_eq!(notes.taken(), ["reconcile one/x"]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_deleted_outside_waits_with_its_finalizer_until_its_namespace_is_back() {
    let (world, notes) = (world(), Notes::default());
    label(&world, "one", "a");
    world.put(&at("one", "x"), foobar("x"));
    let running = notes.run(&world).await;
    label(&world, "one", "b");
    seconds(5).await;
    world.delete(&at("one", "x"));
    seconds(60).await;
    assert!(world.object(&at("one", "x")).is_some());
    assert_eq!(notes.taken(), ["reconcile one/x"]);
    label(&world, "one", "a");
    seconds(5).await;
    assert!(notes.taken().contains(&"cleanup one/x".to_owned()));
    assert_eq!(world.object(&at("one", "x")), None);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_running_reconcile_ends_before_its_namespace_leaves_the_caches() {
    let world = world();
    let notes = Notes {
        takes: Duration::from_secs(60),
        ..Notes::default()
    };
    label(&world, "one", "a");
    world.put(&at("one", "x"), foobar("x"));
    let running = notes.run(&world).await;
    seconds(100).await;
    world.edit(&at("one", "x"), |foobar| foobar["spec"]["target"] = json!("new"));
    seconds(10).await;
    notes.taken();
    label(&world, "one", "b");
    seconds(200).await;
    assert_eq!(
        world.count("/api/v1/namespaces/one/configmaps"),
        1,
        "its cache still had the child"
    );
    assert_eq!(notes.taken(), [""; 0]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn two_hundred_namespaces_have_one_watch_and_each_is_listed_once() {
    let (world, notes) = (world(), Notes::default());
    for n in 0..100 {
        label(&world, &format!("n{n}"), "a");
        world.put(&at(&format!("n{n}"), "x"), foobar("x"));
    }
    let running = notes.run(&world).await;
    assert_eq!(notes.taken().len(), 100);
    assert_eq!(world.requests("GET /apis/test.example.com/v1/namespaces").len(), 0);
    for n in 100..200 {
        label(&world, &format!("n{n}"), "a");
        world.put(&at(&format!("n{n}"), "x"), foobar("x"));
    }
    seconds(30).await;
    assert_eq!(notes.taken().len(), 100, "each object once");
    assert_eq!(world.requests("GET /apis/test.example.com/v1/namespaces").len(), 100);
    assert_eq!(
        world.requests(&format!("WATCH {GROUP}")),
        [format!("WATCH {GROUP}/foobars")]
    );
    running.stop().await.unwrap();

    let next = notes.run(&world).await;
    assert_eq!(notes.taken().len(), 200, "after a restart");
    assert_eq!(world.count("/api/v1/configmaps"), 200, "every child was found");
    next.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn children_without_the_label_are_found_in_chosen_namespaces_alone() {
    let (world, notes) = (world(), Notes::default());
    for (namespace, team) in [("one", "a"), ("two", "b"), ("three", "b")] {
        label(&world, namespace, team);
        world.put(&at(namespace, "x"), foobar("x"));
        let uid = world.object(&at(namespace, "x")).unwrap()["metadata"]["uid"].clone();
        let owner =
            json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "x", "uid": uid, "controller": true});
        let fields = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"ownerReferences": [owner]}});
        world.put_as(&config_map(namespace, "old"), "test/foobar", fields);
    }
    let running = notes.run(&world).await;
    label(&world, "two", "a");
    seconds(5).await;
    for (namespace, labelled) in [("one", true), ("two", true), ("three", false)] {
        assert_eq!(
            world.count(&format!("/api/v1/namespaces/{namespace}/configmaps")),
            1,
            "{namespace}"
        );
        let old = world.object(&config_map(namespace, "old")).unwrap();
        assert_eq!(old["metadata"]["labels"].is_object(), labelled, "{namespace}");
    }
    running.stop().await.unwrap();
}

/// Makes a ConfigMap in the namespace `one`, as a child or without an owner, and keeps the last error.
struct Makes {
    unowned: bool,
    error: Arc<Mutex<String>>,
}

impl Reconciler<Planet> for Makes {
    async fn reconcile(&self, cx: &Context<Planet>, _: Arc<Planet>) -> Result<Action> {
        let intent = child(json!({"metadata": {"name": "x", "namespace": "one"}}));
        let made = if self.unowned {
            cx.apply_unowned::<ConfigMap>(intent).await
        } else {
            cx.apply_child::<ConfigMap>(intent).await
        };
        *self.error.lock().unwrap() = made.as_ref().err().map(ToString::to_string).unwrap_or_default();
        made.map(|_| Action::Done)
    }
}

/// Runs a controller of planets that makes a ConfigMap in a namespace that is chosen later.
async fn is_made_once_its_namespace_is_chosen(unowned: bool) {
    let (world, error) = (world(), Arc::<Mutex<String>>::default());
    label(&world, "one", "b");
    world.put("/apis/test.example.com/v1/planets/x", planet());
    let manager = manager(&world);
    let makes = Makes {
        unowned,
        error: error.clone(),
    };
    Controller::<Planet>::new("planet")
        .owns::<ConfigMap>()
        .applies_unowned::<ConfigMap>()
        .register(&manager, makes)
        .unwrap();
    let running = Running::start(manager);
    seconds(60).await;
    assert!(
        error.lock().unwrap().contains("namespace `one` is not chosen"),
        "{error:?}"
    );
    // By now a retry is up to 18 minutes away.
    seconds(3600).await;
    assert_eq!(world.count("/api/v1/configmaps"), 0);
    label(&world, "one", "a");
    seconds(5).await;
    assert_eq!(*error.lock().unwrap(), "");
    assert_eq!(world.count("/api/v1/configmaps"), 1);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cluster_scoped_owner_gets_no_child_in_a_namespace_that_is_not_chosen() {
    is_made_once_its_namespace_is_chosen(false).await;
}

#[tokio::test(start_paused = true)]
async fn no_object_without_an_owner_is_applied_in_a_namespace_that_is_not_chosen() {
    is_made_once_its_namespace_is_chosen(true).await;
}

#[tokio::test(start_paused = true)]
async fn a_controller_that_is_started_later_works_in_the_chosen_namespaces() {
    let (world, notes) = (world(), Notes::default());
    label(&world, "one", "a");
    label(&world, "two", "b");
    for namespace in ["one", "two"] {
        world.put(&at(namespace, "x"), foobar("x"));
    }
    let manager = manager(&world);
    let controllers = manager.controllers();
    let running = Running::start(manager);
    seconds(1).await;
    let controller = Controller::<FooBar>::new("foobar").owns::<ConfigMap>();
    controllers.start(controller, notes.clone()).await.unwrap();
    seconds(5).await;
    assert_eq!(notes.taken(), ["reconcile one/x"]);
    label(&world, "two", "a");
    seconds(5).await;
    assert_eq!(notes.taken(), ["reconcile two/x"]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_namespace_does_not_wait_for_a_cache_that_may_be_late() {
    let (world, seen, refused) = (world(), Seen::default(), Arc::new(AtomicBool::new(true)));
    label(&world, "two", "b");
    world.put(&at("two", "y"), foobar("x"));
    world.put(&config_map("two", "y"), json!({"data": {"a": "1"}}));
    let now = refused.clone();
    world.intercept(move |_, path| {
        let refused = path == "/api/v1/configmaps" && now.load(Ordering::Relaxed);
        refused.then(|| (403, failure(403, "Forbidden", path)))
    });
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .watches::<ConfigMap>(|map| vec![ObjectKey::of(map)])
        .starts_without::<ConfigMap>()
        .register(&manager, Names(seen.clone()))
        .unwrap();
    let running = Running::start(manager);
    seconds(160).await;
    label(&world, "two", "a");
    seconds(5).await;
    assert_eq!(taken(&seen), ["y"]);
    refused.store(false, Ordering::Relaxed);
    seconds(60).await;
    assert_eq!(taken(&seen), ["y"], "the objects of the cache wake the controller");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_chosen_is_refused_by_name() {
    let world = world();
    let builder = Manager::builder(world.client());
    let error = builder.namespace_selector("team in (a").err().unwrap().to_string();
    assert!(error.contains("`team in (a`"), "{error}");
    let added = Controller::<FooBar>::new("foobar").adds_watches(&AddedWatches::new());
    let error = added
        .register(&manager(&world), Notes::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`AddedWatches` cannot be used with --namespace-selector"),
        "{error}"
    );

    world.intercept(|_, path| (path == "/api/v1/namespaces").then(|| (403, failure(403, "Forbidden", path))));
    let running = Running::start(manager(&world));
    let error = running.done.await.unwrap().unwrap_err().to_string();
    assert!(
        error.starts_with("the cache of `Namespace` in all namespaces is not filled"),
        "{error}"
    );
    assert!(
        error.contains("403") && error.contains("hint: add `.chooses_namespaces()`"),
        "{error}"
    );
}
