//! Kept parts of objects: after a transform, in indexes; and nothing of deleted objects.

use std::{sync::Arc, time::Duration};

use kubewright_runtime::InformerConfig;
use serde_json::json;
use tokio::time::sleep;

use crate::server::{FooBar, Running, Server, key, settle};

#[tokio::test(start_paused = true)]
async fn k21_nothing_is_kept_of_deleted_objects_and_no_unused_fields() {
    let server = Server::new();
    for n in 0..200 {
        for manager in ["kubectl", "foobar-operator"] {
            server.apply(manager, "a", &n.to_string(), json!({"spec": {"target": "x"}}));
        }
    }
    let informer = server.informer(InformerConfig {
        keep_managers: vec!["foobar-operator".to_owned()],
        pack_managed_fields: true,
        transform: Some(Arc::new(|foobar: &mut FooBar| foobar.spec.target.clear())),
        ..Default::default()
    });
    let plain = server.informer(InformerConfig::default());
    informer
        .add_index("target", |foobar| vec![foobar.spec.target.clone()])
        .expect("the first");
    let running = [Running::start(&informer), Running::start(&plain)];
    informer.synced().await;
    plain.synced().await;
    let store = informer.store();
    for object in store.list() {
        let managers: Vec<_> = object
            .metadata
            .managed_fields
            .iter()
            .flatten()
            .map(|entry| entry.manager.clone())
            .collect();
        assert_eq!(
            (managers, object.spec.target.as_str()),
            (vec![Some("foobar-operator".to_owned()), None], ""),
            "an empty entry stands for those of others"
        );
        let trees = object
            .metadata
            .managed_fields
            .iter()
            .flatten()
            .filter_map(|entry| entry.fields_v1.as_ref());
        assert!(
            trees
                .map(|tree| tree.0.as_str())
                .eq([Some(r#"{"f:spec":{".":{},"f:target":{}}}"#)]),
            "text, not maps of maps"
        );
        // The references of the store and of this test: no copy remains in a queue or a list.
        assert_eq!(Arc::strong_count(&object), 2);
    }
    assert!(
        plain
            .store()
            .list()
            .iter()
            .all(|object| object.metadata.managed_fields.is_none())
    );
    let objects: Vec<_> = store.list().iter().map(Arc::downgrade).collect();
    for n in 0..200 {
        server.delete("a", &n.to_string());
    }
    // These are more changes than the server remembers: their absence is found by a list.
    sleep(Duration::from_secs(5)).await;
    assert!(objects.iter().all(|object| object.strong_count() == 0));
    assert!(store.is_empty() && store.by_index("target", "").is_empty());
    for running in running {
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn objects_are_stored_without_spare_capacity() {
    let server = Server::new();
    let informer = server.informer(InformerConfig::default());
    let running = Running::start(&informer);
    informer.synced().await;
    let fields = json!({"metadata": {"finalizers": ["test.example.com/cleanup"]}, "spec": {"target": "x"}});
    server.write("a", "watched", fields.clone());
    settle().await;
    server.line().hold_events(true);
    let answer = server.write("a", "written", fields).to_string();
    let written: FooBar = serde_json::from_str(&answer).expect("a FooBar");
    let room = |foobar: &FooBar| foobar.metadata.finalizers.as_ref().map(Vec::capacity);
    assert_eq!(room(&written), Some(4), "a decoder allocates more than is needed");
    assert!(informer.observe_write(written, None));
    let own = informer.store().get(&key("a", "written")).expect("it is there");
    assert_eq!(room(&own), Some(1));
    // An object that was watched is stored as a text, until all are listed.
    let kept = informer.store().list();
    assert_eq!(kept.len(), 2);
    assert!(kept.iter().all(|object| room(object) == Some(1)), "{kept:?}");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn indexes_follow_every_change_and_may_be_added_late() {
    let server = Server::new();
    for n in 0..10 {
        server.put("a", &n.to_string(), if n % 2 == 0 { "even" } else { "odd" });
    }
    let informer = server.informer(InformerConfig::default());
    let by_target = |foobar: &FooBar| match foobar.spec.target.as_str() {
        "careless" => panic!("an index function"),
        target => vec![target.to_owned(), "any".to_owned()],
    };
    informer.add_index("early", by_target).expect("the first");
    let running = Running::start(&informer);
    informer.synced().await;
    informer.add_index("late", by_target).expect("the first");
    let refused = informer
        .add_index("late", |_| vec![])
        .err()
        .map(|error| error.to_string());
    assert_eq!(refused.as_deref(), Some("there is an index `late` already"));
    let store = informer.store();
    let count = |value: &str| ["early", "late"].map(|index| store.by_index(index, value).len());
    assert_eq!(
        (count("even"), count("odd"), count("any"), count("none")),
        ([5; 2], [5; 2], [10; 2], [0; 2])
    );
    server.put("a", "0", "odd");
    server.put("a", "1", "careless");
    server.put_broken("a", "3");
    server.delete("a", "5");
    settle().await;
    assert_eq!((count("even"), count("odd"), count("any")), ([4; 2], [3; 2], [7; 2]));
    assert_eq!(
        (store.len(), store.has_index("late"), store.has_index("none")),
        (8, true, false)
    );
    server.put("a", "1", "even");
    settle().await;
    assert_eq!(count("even"), [5; 2]);
    running.stop().await;
}

#[tokio::test]
#[should_panic(expected = "the store has no index `owner`")]
async fn a_missing_index_panics() {
    Server::new()
        .informer(InformerConfig::default())
        .store()
        .by_index("owner", "x");
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_the_transform_affects_only_its_object() {
    let server = Server::new();
    server.put("a", "bad", "careless");
    server.put("a", "good", "x");
    let informer = server.informer(InformerConfig {
        transform: Some(Arc::new(|foobar: &mut FooBar| {
            assert_ne!(foobar.spec.target, "careless")
        })),
        ..Default::default()
    });
    let diary = server.diary(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    assert_eq!(diary.read(), ["invalid bad", "listed good@2"]);
    running.stop().await;
}
