//! Events that wake a controller, and the contents of its caches: selectors, metadata only, channels, indexes, predicates and
//! priorities.

use std::{sync::Arc, time::Duration};

use crate::support::{
    kinds::{CONFIG_MAPS, FooBar, PLANETS, Planet, Running, at, config_map, foobar, planet, seconds, world},
    notes::{Notes, Seen, manager, taken},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::PartialObjectMeta;
use kubewright_runtime::{Action, Context, Controller, Delta, ObjectKey, Predicate, Reconciler, Result};
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};

fn labelled(labels: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"labels": labels}, "data": {"a": "1"}})
}

/// The FooBars that an object's label `wakes` names.
fn woken(object: &impl kube::Resource) -> Vec<ObjectKey> {
    let labels = object.meta().labels.iter().flatten();
    let names = labels.filter(|(label, _)| *label == "wakes").map(|(_, name)| name);
    names.map(|name| ObjectKey::new(Some("default"), name)).collect()
}

#[tokio::test(start_paused = true)]
async fn keys_from_a_channel_wake_their_objects_and_never_wait_for_a_reconcile() {
    let (world, seen) = (world(), Seen::default());
    let manager = manager(&world);
    for name in ["a", "b"] {
        world.put(&at(name), foobar("x"));
    }
    let (wake, keys) = mpsc::channel(1);
    Controller::<FooBar>::new("foobar")
        .watches_channel(keys)
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    let running = Running::start(manager);
    seconds(10).await;
    assert_eq!(taken(&seen).len(), 2, "both existed at the start");

    let all = async {
        for _ in 0..100 {
            wake.send(ObjectKey::new(Some("default"), "b")).await.unwrap();
        }
        wake.send(ObjectKey::new(Some("default"), "absent")).await.unwrap();
    };
    let sent = timeout(Duration::from_millis(100), all).await;
    assert!(sent.is_ok(), "a hundred keys were received during the first reconcile");
    seconds(10).await;
    assert_eq!(
        taken(&seen),
        ["b", "b"],
        "one at once, and one for all keys received meanwhile"
    );
    running.stop().await.unwrap();
    assert!(wake.is_closed(), "the task behind it has ended with the manager");
}

#[tokio::test(start_paused = true)]
async fn a_cache_contains_its_selection_only_and_other_objects_wake_nothing() {
    let (world, seen) = (world(), Seen::default());
    let manager = manager(&world);
    manager
        .configure_cache::<ConfigMap>(|cache| {
            cache.label_selector = Some("app=web".to_owned());
            cache.transform = Some(Arc::new(|map: &mut ConfigMap| map.data = None));
        })
        .unwrap();
    world.put(&at("a"), foobar("x"));
    world.put(&config_map("other"), labelled(json!({"wakes": "a"})));
    Controller::<FooBar>::new("foobar")
        .watches::<ConfigMap>(woken)
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    let late = manager.configure_cache::<ConfigMap>(|_| ()).unwrap_err().to_string();
    assert!(late.contains("ConfigMap is in use"), "{late}");
    let store = manager.informer::<ConfigMap>().store();
    let running = Running::start(manager);
    seconds(10).await;
    assert_eq!((taken(&seen).len(), store.len()), (1, 0));

    world.put(&config_map("ours"), labelled(json!({"app": "web", "wakes": "a"})));
    seconds(10).await;
    assert_eq!(taken(&seen), ["a"]);
    assert!(store.list()[0].data.is_none(), "the transform dropped unused fields");
    world.edit(&config_map("ours"), |map| {
        map["metadata"]["labels"]["app"] = json!("db")
    });
    seconds(10).await;
    assert_eq!(
        (taken(&seen).len(), store.len()),
        (1, 0),
        "an object that no longer matches is gone"
    );
    running.stop().await.unwrap();
}

/// Owns a ConfigMap with this label.
struct Labels(&'static str);

impl Reconciler<FooBar> for Labels {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let mut child: ConfigMap = serde_json::from_value(labelled(json!({"app": self.0}))).expect("a ConfigMap");
        child.metadata.name = Some(cx.key().name().to_owned());
        child.data = Some([("target".to_owned(), foobar.spec.target.clone())].into());
        cx.apply_child(child).await?;
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn own_writes_are_in_a_cache_with_a_label_selector_at_once() {
    for (label, requests) in [("web", vec!["POST"]), ("db", vec!["POST", "POST", "GET"])] {
        let world = world();
        let manager = manager(&world);
        manager
            .configure_cache::<ConfigMap>(|cache| cache.label_selector = Some("app in (web)".to_owned()))
            .unwrap();
        Controller::<FooBar>::new("foobar")
            .owns::<ConfigMap>()
            .register(&manager, Labels(label))
            .unwrap();
        let running = Running::start(manager);
        seconds(1).await;
        world.delay_watches("configmaps", Duration::from_secs(3600));
        world.put(&at("a"), foobar("x"));
        seconds(1).await;
        world.edit(&at("a"), |object| {
            object["metadata"]["labels"] = json!({"touched": "yes"})
        });
        seconds(1).await;
        let made = |verb: &str| world.requests(&format!("{verb} {CONFIG_MAPS}")).len();
        let counted = [made("POST"), made("GET"), made("PATCH")];
        let expected = ["POST", "GET", "PATCH"].map(|verb| requests.iter().filter(|of| **of == verb).count());
        assert_eq!(counted, expected, "labelled {label}");
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn only_metadata_is_watched_for_partial_object_meta() {
    let (world, seen) = (world(), Seen::default());
    let manager = manager(&world);
    world.put(&at("a"), foobar("x"));
    Controller::<FooBar>::new("foobar")
        .watches::<PartialObjectMeta<ConfigMap>>(woken)
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    let running = Running::start(manager);
    seconds(10).await;
    taken(&seen);
    world.put(&config_map("one"), labelled(json!({"wakes": "a"})));
    seconds(10).await;
    assert_eq!(taken(&seen), ["a"]);
    let asked = world.accepted("/api/v1/configmaps");
    assert!(
        asked.len() >= 2 && asked.iter().all(|types| types.contains("as=PartialObjectMetadata")),
        "{asked:?}"
    );
    running.stop().await.unwrap();
}

/// The objects that one reconcile read from the caches.
struct Reads(Seen);

impl Reconciler<FooBar> for Reads {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let named = cx.by_index::<FooBar>("target", &foobar.spec.target)?;
        let mut names: Vec<_> = named.iter().filter_map(|found| found.metadata.name.clone()).collect();
        names.sort();
        let planet = cx.get::<Planet>("earth")?.is_some();
        let elsewhere = cx
            .find::<ConfigMap>(&ObjectKey::new(Some("kube-system"), "far"))?
            .is_some();
        let all = (cx.list::<FooBar>()?.len(), cx.get::<FooBar>("a")?.is_some());
        let missing = cx.by_index::<FooBar>("colour", "red").unwrap_err().to_string();
        assert!(missing.contains("FooBar has no index `colour`"), "{missing}");
        self.0
            .lock()
            .unwrap()
            .push(format!("{names:?} {planet} {elsewhere} {all:?}"));
        Ok(Action::Done)
    }
}

fn by_target(foobar: &FooBar) -> Vec<String> {
    vec![foobar.spec.target.clone()]
}

#[tokio::test(start_paused = true)]
async fn caches_are_read_by_name_by_index_and_as_a_whole_in_every_scope() {
    let (world, seen) = (world(), Seen::default());
    world.put(&format!("{PLANETS}/earth"), planet());
    world.put("/api/v1/namespaces/kube-system/configmaps/far", labelled(json!({})));
    for (name, target) in [("a", "x"), ("b", "x"), ("c", "y")] {
        world.put(&at(name), foobar(target));
    }
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .watches::<Planet>(|_| Vec::new())
        .watches::<ConfigMap>(|_| Vec::new())
        .index("target", by_target)
        .register(&manager, Reads(seen.clone()))
        .unwrap();
    let twice = Controller::<FooBar>::new("again")
        .index("target", by_target)
        .register(&manager, Notes(Seen::default()))
        .unwrap_err();
    assert!(
        twice.to_string().contains("there is an index `target` already"),
        "{twice}"
    );
    let unread = Controller::<FooBar>::new("unread")
        .index("phase", |_: &k8s_openapi::api::core::v1::Pod| Vec::new())
        .register(&manager, Notes(Seen::default()))
        .unwrap_err();
    assert!(unread.to_string().contains("`unread` indexes Pod"), "{unread}");

    let manager = self::manager(&world);
    Controller::<FooBar>::new("foobar")
        .watches::<Planet>(|_| Vec::new())
        .watches::<ConfigMap>(|_| Vec::new())
        .index("target", by_target)
        .register(&manager, Reads(seen.clone()))
        .unwrap();
    let running = Running::start(manager);
    seconds(10).await;
    let mut found = taken(&seen);
    found.sort();
    let pair = r#"["a", "b"] true true (3, true)"#;
    assert_eq!(found, [pair, pair, r#"["c"] true true (3, true)"#]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn predicates_of_watched_and_owned_kinds_filter_their_changes() {
    let (world, seen) = (world(), Seen::default());
    world.put(&at("a"), foobar("x"));
    let uid = world.object(&at("a")).unwrap()["metadata"]["uid"].clone();
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .owns_where::<ConfigMap>(Predicate::annotations_changed())
        .watches_where::<Planet>(
            Predicate::labels_changed().and(Predicate::new(|delta| matches!(delta, Delta::Updated { .. }))),
            woken,
        )
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    let mut child = labelled(json!({}));
    child["metadata"]["ownerReferences"] = json!([
        {"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "a", "uid": uid, "controller": true}]);
    world.put_as(&config_map("child"), "test/foobar", child);
    let running = Running::start(manager);
    seconds(10).await;
    taken(&seen);

    let mut runs = Vec::new();
    let changes: [&dyn Fn(); 6] = [
        &|| world.edit(&config_map("child"), |map| map["data"] = json!({"a": "2"})),
        &|| {
            world.edit(&config_map("child"), |map| {
                map["metadata"]["annotations"] = json!({"a": "2"})
            })
        },
        &|| world.delete(&config_map("child")),
        &|| world.put(&format!("{PLANETS}/earth"), planet()),
        &|| {
            world.edit(&format!("{PLANETS}/earth"), |earth| {
                earth["metadata"]["labels"] = json!({"wakes": "a"})
            })
        },
        &|| world.delete(&format!("{PLANETS}/earth")),
    ];
    for change in changes {
        change();
        seconds(10).await;
        runs.push(taken(&seen).len());
    }
    assert_eq!(runs, [0, 1, 1, 0, 1, 0]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_live_change_does_not_wait_for_the_initial_objects() {
    let (world, seen) = (world(), Seen::default());
    for n in 0..20 {
        world.put(&at(&format!("old-{n}")), foobar("x"));
    }
    let manager = manager(&world);
    let metrics = manager.metrics().clone();
    Controller::<FooBar>::new("foobar")
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    let running = Running::start(manager);
    sleep(Duration::from_millis(1500)).await;
    let depth = |priority: &str| {
        let start = format!(r#"workqueue_depth{{controller="foobar",name="foobar",priority="{priority}"}} "#);
        let text = metrics.encode();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(&start).map(str::to_owned));
        line.unwrap_or_else(|| panic!("{start} in {text}"))
    };
    assert_eq!((depth("0"), depth("-100")), ("0".to_owned(), "18".to_owned()));
    world.put(&at("new"), foobar("x"));
    sleep(Duration::from_millis(10)).await;
    assert_eq!((depth("0"), depth("-100")), ("1".to_owned(), "18".to_owned()));
    seconds(30).await;
    let order = taken(&seen);
    assert_eq!((order.len(), order[2].as_str()), (21, "new"), "{order:?}");
    running.stop().await.unwrap();
}
