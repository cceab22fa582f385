//! A tenant fills namespaces with objects of a kind that the operator owns: they are neither sent to it nor kept.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{Action, Context, Controller, Manager, Reconciler, Result};
use serde_json::{Value, json};

use crate::support::{
    World,
    faults::failure,
    kinds::{CONFIG_MAPS, FooBar, Running, at, config_map, foobar, seconds, world},
    notes::{child, manager},
    page::Page,
};

/// Owns a ConfigMap, and prunes all others.
pub struct One;

impl Reconciler<FooBar> for One {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let name = format!("{}-{}", cx.key().name(), foobar.spec.target);
        let data = json!({"target": foobar.spec.target});
        cx.apply_child::<ConfigMap>(child(json!({"metadata": {"name": name}, "data": data})))
            .await?;
        cx.prune_children::<ConfigMap>(&[&name]).await?;
        Ok(Action::Done)
    }
}

pub fn controller() -> Controller<FooBar> {
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .prunes::<ConfigMap>()
}

pub fn start(manager: Manager, controller: Controller<FooBar>) -> Running {
    controller.register(&manager, One).unwrap();
    Running::start(manager)
}

fn map(labels: Value, owners: Value) -> Value {
    let metadata = json!({"labels": labels, "ownerReferences": owners});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"filler": "x".repeat(1024)}})
}

fn owner(world: &World, kind: &str, name: &str) -> Value {
    let uid = world.object(&at(name)).map(|object| object["metadata"]["uid"].clone());
    let group = "test.example.com/v1alpha1";
    json!([{"apiVersion": group, "kind": kind, "name": name, "uid": uid.unwrap_or(json!("u")), "controller": true}])
}

/// The queries of lists and watches that request whole ConfigMaps.
fn whole_reads(world: &World) -> Vec<String> {
    let all = world.reads("/api/v1/configmaps").into_iter();
    all.filter(|(_, accept)| !accept.contains("PartialObjectMetadata"))
        .map(|(query, _)| query)
        .collect()
}

const SELECTED: &str = "labelSelector=kubewright.dev%2Foperator%3Dtest";

#[tokio::test(start_paused = true)]
async fn foreign_objects_of_an_owned_kind_are_neither_sent_nor_kept() {
    let world = world();
    for nth in 0..20 {
        world.put(&config_map(&format!("foreign-{nth}")), map(json!({}), Value::Null));
    }
    world.put(&at("a"), foobar("x"));
    for restart in 0..2 {
        let running = start(manager(&world), controller());
        seconds(60).await;
        running.stop().await.unwrap();
        let reads = whole_reads(&world);
        assert!(
            reads.len() >= 2 && reads.iter().all(|query| query.contains(SELECTED)),
            "{restart}: {reads:?}"
        );
    }
    let labels = world.object(&config_map("a-x")).unwrap()["metadata"]["labels"].clone();
    assert_eq!(labels, json!({"kubewright.dev/operator": "test"}));
    assert_eq!(
        world.writes(CONFIG_MAPS).len(),
        1,
        "the child is created once, and nothing else is written"
    );
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_only_owned_is_cached_without_a_selector() {
    let uses: [fn(Controller<FooBar>) -> Controller<FooBar>; 2] = [
        |controller| controller.watches::<ConfigMap>(|_| Vec::new()),
        |controller| controller.caches_all::<ConfigMap>(),
    ];
    for uses in uses {
        let world = world();
        let running = start(manager(&world), uses(controller()));
        seconds(1).await;
        let reads = whole_reads(&world);
        assert!(
            reads.len() >= 2 && !reads.iter().any(|query| query.contains("labelSelector")),
            "{reads:?}"
        );
        running.stop().await.unwrap();
    }
    let world = world();
    let manager = manager(&world);
    let informer = manager.informer::<ConfigMap>();
    let running = start(manager, controller());
    world.put(&config_map("foreign"), map(json!({}), Value::Null));
    seconds(1).await;
    assert_eq!(informer.store().len(), 1);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn children_without_the_label_are_labelled_at_the_start() {
    let world = World::uncollected(&[<FooBar as kube::CustomResourceExt>::crd()]);
    world.put(&at("a"), foobar("x"));
    let ours = owner(&world, "FooBar", "a");
    // They are on the second page. Children of another owner kind, and objects without a controller, are not changed.
    for nth in 0..500 {
        world.put(&config_map(&format!("free-{nth}")), map(json!({}), Value::Null));
    }
    for nth in 0..5 {
        world.put_as(
            &config_map(&format!("old-{nth}")),
            "test/foobar",
            map(json!({"app": "web"}), ours.clone()),
        );
    }
    let other = map(json!({}), owner(&world, "Other", "a"));
    world.put_as(&config_map("other-kind"), "test/foobar", other);
    let running = start(manager(&world), controller());
    seconds(60).await;
    let left = world.list(CONFIG_MAPS).into_iter();
    let left = left.filter_map(|map| map["metadata"]["name"].as_str().map(str::to_owned));
    let left: Vec<_> = left.filter(|name| !name.starts_with("free-")).collect();
    assert_eq!(
        left,
        ["a-x", "other-kind"],
        "each was labelled, and pruned in the first reconcile"
    );
    assert_eq!(world.requests(&format!("PATCH {CONFIG_MAPS}")).len(), 5);
    running.stop().await.unwrap();

    let before = world.writes("/").len();
    let running = start(manager(&world), controller());
    seconds(60).await;
    assert_eq!(world.writes("/").len(), before, "no object lacks the label any more");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn objects_with_large_annotations_are_listed_in_small_pages_to_label_children() {
    let world = world();
    let annotations = json!({"filler": "x".repeat(250 << 10)});
    for nth in 0..40 {
        let mut foreign = map(json!({}), Value::Null);
        foreign["metadata"]["annotations"] = annotations.clone();
        world.put(&config_map(&format!("foreign-{nth}")), foreign);
    }
    let running = start(manager(&world), controller());
    world.put(&at("a"), foobar("x"));
    seconds(60).await;
    running.stop().await.unwrap();
    let looks = world.reads("/api/v1/configmaps").into_iter();
    let looks = looks.filter(|(_, accept)| accept.contains("PartialObjectMetadata"));
    let limits: Vec<_> = looks
        .filter_map(|(query, _)| query.split("limit=").nth(1)?.split('&').next()?.parse::<u32>().ok())
        .collect();
    // The first response is not read to its end.
    assert_eq!(limits.first(), Some(&500));
    let rest = &limits[1..];
    assert!(rest.len() > 1 && rest.iter().all(|limit| *limit <= 62), "{limits:?}");
    assert!(world.object(&config_map("a-x")).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_child_whose_label_is_removed_is_labelled_again() {
    let world = world();
    let running = start(manager(&world), controller());
    world.put(&at("a"), foobar("x"));
    seconds(1).await;
    let path = config_map("a-x");
    let uid = world.object(&path).unwrap()["metadata"]["uid"].clone();
    for labels in [Value::Null, json!({"kubewright.dev/operator": "other"})] {
        world.edit(&path, |map| map["metadata"]["labels"] = labels);
        seconds(60).await;
        let metadata = world.object(&path).unwrap()["metadata"].clone();
        assert_eq!(
            (&metadata["labels"]["kubewright.dev/operator"], &metadata["uid"]),
            (&json!("test"), &uid)
        );
    }
    let settled = world.writes("/").len();
    world.edit(&at("a"), |object| {
        object["metadata"]["labels"] = json!({"touched": "yes"})
    });
    seconds(60).await;
    assert_eq!(world.writes("/").len(), settled, "the child is in the cache again");
    // The watch sees drift again.
    world.edit(&path, |map| map["data"]["target"] = json!("theirs"));
    seconds(1).await;
    assert_eq!(world.object(&path).unwrap()["data"]["target"], json!("x"));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_uncached_object_in_the_way_is_polled_with_growing_delays() {
    let world = world();
    world.put(&config_map("a-x"), map(json!({}), Value::Null));
    let running = start(manager(&world), controller());
    world.put(&at("a"), foobar("x"));
    tokio::time::sleep(std::time::Duration::from_millis(90)).await;
    let asked = || world.requests(&format!("GET {}", config_map("a-x"))).len();
    let (posts, first) = (world.requests(&format!("POST {CONFIG_MAPS}")).len(), asked());
    assert_eq!((posts, first), (1, 1), "tried once");
    seconds(3600).await;
    let polls = asked() - first;
    assert!(
        (20..=26).contains(&polls),
        "delays of 0.1 s, doubled up to 5 min: {polls}"
    );
    assert_eq!(
        world.requests(&format!("POST {CONFIG_MAPS}")).len(),
        1,
        "polling causes no reconcile"
    );
    world.delete(&config_map("a-x"));
    seconds(331).await;
    assert_eq!(
        world.object(&config_map("a-x")).unwrap()["data"],
        json!({"target": "x"})
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_deleted_owner_does_not_wait_for_an_object() {
    let world = world();
    world.put(&config_map("a-x"), map(json!({}), Value::Null));
    let running = start(manager(&world), controller());
    world.put(&at("a"), foobar("x"));
    seconds(1).await;
    world.delete(&at("a"));
    seconds(1).await;
    let before = world.requests("GET").len();
    seconds(3600).await;
    assert_eq!(world.requests("GET").len(), before);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_child_that_cannot_be_labelled_is_labelled_later_and_delays_no_other() {
    let world = world();
    world.put(&at("a"), foobar("x"));
    let ours = owner(&world, "FooBar", "a");
    for name in ["one", "two"] {
        world.put_as(&config_map(name), "test/foobar", map(json!({}), ours.clone()));
    }
    let refused = Arc::new(AtomicUsize::new(0));
    let count = refused.clone();
    world.intercept(move |verb, path| {
        let fails = verb == "PATCH" && path.ends_with("/one") && count.fetch_add(1, Ordering::SeqCst) < 3;
        fails.then(|| (503, failure(503, "ServiceUnavailable", path)))
    });
    let running = start(manager(&world), controller());
    seconds(1).await;
    assert!(world.object(&config_map("two")).is_none(), "labelled, and pruned");
    assert!(world.object(&config_map("one")).is_some());
    seconds(60).await;
    assert!(world.object(&config_map("one")).is_none(), "labelled later, and pruned");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_child_that_no_cache_contains_is_named_once_where_that_is_asked_for() {
    for asked in [false, true] {
        let page = Page::default();
        let writer = page.clone();
        let log = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
        // All tasks of this test run on this thread.
        let guard = tracing::subscriber::set_default(log);
        let world = world();
        let builder = Manager::builder(world.client()).name("test").namespace("default");
        let running = start(builder.report_unseen(asked).build(), controller());
        world.put(&at("a"), foobar("x"));
        seconds(1).await;
        world.put(&config_map("by-a-test"), map(json!({}), owner(&world, "FooBar", "a")));
        world.put(&config_map("foreign"), map(json!({}), owner(&world, "Other", "b")));
        seconds(60).await;
        running.stop().await.unwrap();
        drop(guard);
        let text = page.text();
        let lines: Vec<_> = text
            .lines()
            .filter(|line| line.contains("not seen by `owns`"))
            .collect();
        assert_eq!(lines.len(), usize::from(asked), "{lines:?}");
        for part in [
            "default/by-a-test",
            "FooBar/a",
            "`.caches_all::<ConfigMap>()`",
            "kubewright.dev/operator=test",
        ] {
            assert!(lines.iter().all(|line| line.contains(part)), "{part}: {lines:?}");
        }
    }
}
