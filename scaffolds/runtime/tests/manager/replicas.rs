//! Pods that an object keeps: never a surplus Pod, whatever the cache, the network or the process does.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use crate::support::{World, faults::failure};
use k8s_openapi::api::core::v1::{Container, Pod, PodSpec};
use kube::{CustomResource, CustomResourceExt, ResourceExt, api::ObjectMeta};
use kubewright_runtime::{Action, Context, Controller, InformerConfig, Manager, Reconciler, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "FooBar", namespaced)]
struct FooBarSpec {
    replicas: i32,
}

const FOOBAR: &str = "/apis/test.example.com/v1/namespaces/default/foobars/a";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// Keeps as many Pods as the spec says.
struct Keeper;

impl Reconciler<FooBar> for Keeper {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let template = Pod {
            metadata: ObjectMeta {
                name: Some(foobar.name_any()),
                labels: Some(all_labels(&foobar)),
                ..ObjectMeta::default()
            },
            spec: Some(PodSpec {
                containers: vec![Container {
                    name: "main".to_owned(),
                    image: Some("image".to_owned()),
                    ..Container::default()
                }],
                ..PodSpec::default()
            }),
            ..Pod::default()
        };
        cx.keep_pods(foobar.spec.replicas, &template).await?;
        Ok(Action::Done)
    }
}

fn labels(foobar: &FooBar) -> BTreeMap<String, String> {
    BTreeMap::from([("foobar".to_owned(), foobar.name_any())])
}

/// As [`labels`], with one more that no claim asks for.
fn all_labels(foobar: &FooBar) -> BTreeMap<String, String> {
    let mut all = labels(foobar);
    all.insert("app".to_owned(), "web".to_owned());
    all
}

fn operator(world: &World) -> JoinHandle<Result<()>> {
    let manager = Manager::builder(world.client()).name("test").build();
    let controller = Controller::<FooBar>::new("foobar").claims::<Pod>(labels);
    controller.register(&manager, Keeper).unwrap();
    tokio::spawn(async move { manager.run(std::future::pending(), None).await })
}

/// A claim that the template does not match would release each Pod, and a new one would be created for it, without end.
#[tokio::test(start_paused = true)]
async fn a_template_without_the_claimed_labels_creates_nothing() {
    let world = world();
    let manager = Manager::builder(world.client()).name("test").build();
    let others = |_: &FooBar| BTreeMap::from([("other".to_owned(), "label".to_owned())]);
    let controller = Controller::<FooBar>::new("foobar").claims::<Pod>(others);
    controller.register(&manager, Keeper).unwrap();
    let running = tokio::spawn(async move { manager.run(std::future::pending(), None).await });
    ask_for(&world, 3);
    settle().await;
    assert_eq!((names(&world), world.writes(PODS)), (vec![], vec![]));
    running.abort();
}

async fn settle() {
    tokio::time::sleep(Duration::from_secs(60)).await;
}

fn ask_for(world: &World, replicas: i32) {
    let object =
        json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "metadata": {}, "spec": {"replicas": replicas}});
    match world.object(FOOBAR) {
        Some(_) => world.edit(FOOBAR, |object| object["spec"]["replicas"] = json!(replicas)),
        None => world.put(FOOBAR, object),
    }
}

/// Causes another reconcile of the object, without another change.
async fn nudge(world: &World) {
    world.edit(FOOBAR, |object| {
        let nudges = object["metadata"]["annotations"]["nudges"]
            .as_str()
            .unwrap_or_default()
            .len();
        object["metadata"]["annotations"] = json!({"nudges": "x".repeat(nudges + 1)});
    });
    tokio::time::sleep(Duration::from_secs(5)).await;
}

fn pod(labels: Value, owners: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": labels, "ownerReferences": owners},
        "spec": {"containers": [{"name": "main", "image": "image"}]}})
}

/// Stores a Pod of the object, and returns the answer to a client that does not learn of it.
fn lose_response(world: &World, path: &str, labels: Value) -> (u16, Value) {
    let owner = json!([{"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "a", "controller": true,
        "uid": world.object(FOOBAR).unwrap()["metadata"]["uid"]}]);
    world.put(path, pod(labels, owner));
    (504, failure(504, "Timeout", path))
}

fn at(name: &str) -> String {
    format!("{PODS}/{name}")
}

fn names(world: &World) -> Vec<String> {
    let pods = world.list(PODS);
    let names = pods.iter().filter_map(|pod| pod["metadata"]["name"].as_str());
    names.map(str::to_owned).collect()
}

fn owners(world: &World, name: &str) -> Value {
    world.object(&at(name)).unwrap()["metadata"]["ownerReferences"].clone()
}

/// A world whose garbage collector ignores children of owners that do not exist.
fn world() -> World {
    World::uncollected(&[FooBar::crd()])
}

/// The maximum number of Pods at the time of any request.
fn count_most(world: &World) -> Arc<AtomicUsize> {
    let most = Arc::new(AtomicUsize::new(0));
    let (counted, inner) = (most.clone(), world.clone());
    world.intercept(move |_, _| {
        counted.fetch_max(inner.count(PODS), Ordering::Relaxed);
        None
    });
    most
}

#[tokio::test(start_paused = true)]
async fn pods_are_created_and_inactive_ones_are_deleted_first() {
    let world = world();
    let running = operator(&world);
    ask_for(&world, 3);
    settle().await;
    assert_eq!(names(&world), ["a-0", "a-1", "a-2"]);
    // The active one stays, the other two are deleted; the next one gets the first free number.
    world.edit_status(&at("a-1"), |pod| pod["status"]["phase"] = json!("Running"));
    settle().await;
    ask_for(&world, 1);
    settle().await;
    assert_eq!(names(&world), ["a-1"]);
    ask_for(&world, 2);
    settle().await;
    assert_eq!(names(&world), ["a-0", "a-1"]);
    ask_for(&world, 0);
    settle().await;
    running.abort();
    assert!(names(&world).is_empty());
}

#[tokio::test(start_paused = true)]
async fn matching_orphans_are_adopted_others_released_and_pods_of_other_controllers_unchanged() {
    let world = world();
    let theirs = json!([{"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "o", "controller": true}]);
    let beside = json!([{"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "o"}]);
    world.put(&at("foreign"), pod(json!({"foobar": "a"}), theirs.clone()));
    world.put(&at("orphan"), pod(json!({"foobar": "a"}), beside.clone()));
    world.put(&at("stranger"), pod(json!({"foobar": "b"}), Value::Null));
    ask_for(&world, 2);
    let running = operator(&world);
    settle().await;
    assert_eq!(names(&world), ["a-0", "foreign", "orphan", "stranger"]);
    assert_eq!(owners(&world, "foreign"), theirs);
    assert_eq!(owners(&world, "stranger"), Value::Null);
    let adopted = owners(&world, "orphan");
    assert_eq!(adopted[0], beside[0], "other owner references stay");
    assert_eq!(
        (&adopted[1]["kind"], &adopted[1]["controller"]),
        (&json!("FooBar"), &json!(true))
    );

    // Released, it keeps its other owner reference, and a new Pod replaces it.
    world.edit(&at("orphan"), |pod| {
        pod["metadata"]["labels"] = json!({"foobar": "none"})
    });
    settle().await;
    assert_eq!(names(&world), ["a-0", "a-1", "foreign", "orphan", "stranger"]);
    assert_eq!(owners(&world, "orphan"), beside);

    // An orphan that begins to match is surplus: it is adopted, and then one Pod is deleted.
    world.edit(&at("stranger"), |pod| {
        pod["metadata"]["labels"] = json!({"foobar": "a"})
    });
    settle().await;
    running.abort();
    let ours = names(&world)
        .into_iter()
        .filter(|name| owners(&world, name)[0]["kind"] == "FooBar");
    assert_eq!(ours.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn deleted_and_ended_pods_are_replaced_and_not_changed() {
    let world = world();
    let running = operator(&world);
    ask_for(&world, 2);
    settle().await;
    // The kubelet has not ended the Pod yet.
    world.edit(&at("a-0"), |pod| {
        pod["metadata"]["finalizers"] = json!(["test.example.com/kubelet"])
    });
    world.delete(&at("a-0"));
    world.edit_status(&at("a-1"), |pod| pod["status"]["phase"] = json!("Failed"));
    settle().await;
    assert_eq!(names(&world), ["a-0", "a-1", "a-2", "a-3"]);
    world.edit(&at("a-0"), |pod| pod["metadata"]["finalizers"] = Value::Null);
    settle().await;
    running.abort();
    assert_eq!(names(&world), ["a-1", "a-2", "a-3"]);
    assert_eq!(world.requests("DELETE").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn with_a_late_watch_no_pod_is_created_or_deleted_twice() {
    let world = world();
    world.delay_watches("pods", Duration::from_secs(600));
    let running = operator(&world);
    ask_for(&world, 3);
    for _ in 0..5 {
        nudge(&world).await;
    }
    assert_eq!(world.requests(&format!("POST {PODS}")).len(), 3);
    assert_eq!(names(&world).len(), 3);
    ask_for(&world, 1);
    for _ in 0..5 {
        nudge(&world).await;
    }
    running.abort();
    assert_eq!(world.requests("DELETE").len(), 2);
    assert_eq!(names(&world).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_create_whose_response_is_lost_is_not_repeated() {
    let world = world();
    world.delay_watches("pods", Duration::from_secs(600));
    let inner = world.clone();
    world.intercept(move |verb, path| {
        let second = at("a-1");
        if verb != "POST" || path != PODS || inner.object(&at("a-0")).is_none() || inner.object(&second).is_some() {
            return None;
        }
        Some(lose_response(&inner, &second, json!({"foobar": "a"})))
    });
    let running = operator(&world);
    ask_for(&world, 3);
    for _ in 0..5 {
        nudge(&world).await;
    }
    running.abort();
    assert_eq!(names(&world), ["a-0", "a-1", "a-2"]);
    assert_eq!(
        world.requests(&format!("POST {PODS}")).len(),
        4,
        "the second create was sent twice"
    );
}

/// The cache shows neither the Pod nor the change of its labels, which would release it.
#[tokio::test(start_paused = true)]
async fn a_pod_that_only_its_create_finds_is_released_if_its_labels_were_changed() {
    let world = world();
    world.delay_watches("pods", Duration::from_secs(600));
    let inner = world.clone();
    world.intercept(move |verb, path| {
        let first = at("a-0");
        if verb != "POST" || path != PODS || inner.object(&first).is_some() {
            return None;
        }
        Some(lose_response(&inner, &first, json!({"foobar": "another"})))
    });
    let running = operator(&world);
    ask_for(&world, 1);
    settle().await;
    running.abort();
    assert_eq!(names(&world), ["a-0", "a-1"]);
    assert_eq!(owners(&world, "a-0"), Value::Null);
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_leaves_the_cache_with_a_label_causes_no_loop() {
    // Without the label of the cache it still counts; without the label of the claim it is released.
    for (label, owned, pods) in [("app", true, vec!["a-0"]), ("foobar", false, vec!["a-0", "a-1"])] {
        let world = world();
        let manager = Manager::builder(world.client()).name("test").build();
        let selector = format!("{label}={}", if label == "app" { "web" } else { "a" });
        let only_selected = |config: &mut InformerConfig<Pod>| config.label_selector = Some(selector);
        manager.configure_cache::<Pod>(only_selected).unwrap();
        let controller = Controller::<FooBar>::new("foobar").claims::<Pod>(labels);
        controller.register(&manager, Keeper).unwrap();
        let running = tokio::spawn(async move { manager.run(std::future::pending(), None).await });
        ask_for(&world, 1);
        settle().await;
        world.edit(&at("a-0"), |pod| pod["metadata"]["labels"][label] = json!("isolated"));
        settle().await;
        let before = world.requests("").len();
        settle().await;
        let after = world.requests("").len() - before;
        assert!(after < 10, "{label}: {after} requests in a quiet minute");
        running.abort();
        assert_eq!(names(&world), pods, "{label}");
        assert_eq!(owners(&world, "a-0") != Value::Null, owned, "{label}");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_kill_at_any_write_the_next_process_creates_no_surplus_pod() {
    for stored in [false, true] {
        let mut n = 0;
        loop {
            let world = world();
            world.crash_at(n, stored);
            let most = count_most(&world);
            let first = operator(&world);
            ask_for(&world, 3);
            settle().await;
            ask_for(&world, 1);
            settle().await;
            first.abort();
            let crashed = world.restart();
            ask_for(&world, 2);
            let second = operator(&world);
            settle().await;
            second.abort();
            assert_eq!(names(&world).len(), 2, "died at write {n}, stored: {stored}");
            assert!(most.load(Ordering::Relaxed) <= 3, "died at write {n}, stored: {stored}");
            if !crashed {
                break;
            }
            n += 1;
        }
        assert_eq!(n, 5, "three creates and two deletes");
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_being_deleted_adopts_nothing() {
    let world = world();
    let running = operator(&world);
    ask_for(&world, 1);
    settle().await;
    // The cache does not show yet that the object is being deleted.
    world.delay_watches("foobars", Duration::from_secs(600));
    world.edit(FOOBAR, |object| {
        object["metadata"]["finalizers"] = json!(["test.example.com/somebody"])
    });
    world.delete(FOOBAR);
    world.put(&at("orphan"), pod(json!({"foobar": "a"}), Value::Null));
    settle().await;
    running.abort();
    assert_eq!(owners(&world, "orphan"), Value::Null);
    assert_eq!(world.requests("PATCH").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_pod_whose_deletion_was_cancelled_counts_again() {
    let world = world();
    let manager = Manager::builder(world.client()).name("test").build();
    let controller = Controller::<FooBar>::new("foobar").claims::<Pod>(labels);
    controller
        .reconcile_timeout(Duration::from_secs(10))
        .register(&manager, Keeper)
        .unwrap();
    let running = tokio::spawn(async move { manager.run(std::future::pending(), None).await });
    ask_for(&world, 3);
    settle().await;
    // The first request to delete a Pod never arrives.
    world.hang("/pods/a-");
    ask_for(&world, 1);
    tokio::time::sleep(Duration::from_secs(5)).await;
    world.answer_again();
    settle().await;
    running.abort();
    assert_eq!(names(&world).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_released_pod_is_adopted_by_its_sibling() {
    let world = world();
    let running = operator(&world);
    ask_for(&world, 1);
    let sibling = world.object(FOOBAR).unwrap()["spec"].clone();
    let sibling = json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "metadata": {}, "spec": sibling});
    world.put(&FOOBAR.replace("/foobars/a", "/foobars/b"), sibling);
    settle().await;
    assert_eq!(names(&world), ["a-0", "b-0"]);
    ask_for(&world, 2);
    settle().await;
    world.edit(&at("b-0"), |pod| pod["metadata"]["labels"]["foobar"] = json!("a"));
    settle().await;
    running.abort();
    // One of a's three Pods was surplus.
    let mut of: Vec<_> = names(&world)
        .iter()
        .map(|name| owners(&world, name)[0]["name"].clone())
        .collect();
    of.sort_by_key(ToString::to_string);
    assert_eq!(of, ["a", "a", "b"]);
    assert_eq!(world.requests("DELETE").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_object_with_very_many_pods_delays_others_by_one_burst() {
    let world = world();
    ask_for(&world, 510);
    let other = FOOBAR.replace("/foobars/a", "/foobars/b");
    world.put(
        &other,
        json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "metadata": {}, "spec": {"replicas": 1}}),
    );
    let (posts, before) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let (seen, inner) = (before.clone(), world.clone());
    world.intercept(move |verb, path| {
        if verb == "POST" && path == PODS {
            let nth = posts.fetch_add(1, Ordering::Relaxed);
            if seen.load(Ordering::Relaxed) == 0 && inner.object(&at("b-0")).is_some() {
                seen.store(nth, Ordering::Relaxed);
            }
        }
        None
    });
    let running = operator(&world);
    settle().await;
    running.abort();
    assert_eq!(world.count(PODS), 511);
    assert!((1..=501).contains(&before.load(Ordering::Relaxed)), "{before:?}");
}

#[tokio::test(start_paused = true)]
async fn a_selector_without_labels_is_refused_and_releases_nothing() {
    let world = world();
    let running = operator(&world);
    ask_for(&world, 2);
    settle().await;
    running.abort();
    let manager = Manager::builder(world.client()).name("test").build();
    let controller = Controller::<FooBar>::new("foobar").claims::<Pod>(|_| BTreeMap::new());
    controller.register(&manager, Keeper).unwrap();
    let running = tokio::spawn(async move { manager.run(std::future::pending(), None).await });
    nudge(&world).await;
    running.abort();
    assert_eq!(world.requests(&format!("PATCH {PODS}")).len(), 0);
    assert_eq!(owners(&world, "a-0")[0]["name"], json!("a"));
}
