//! What is asked of the server and what is kept of its answers: scopes, selectors, metadata, transforms, indexes; resync and end.

use std::{sync::Arc, time::Duration};

use kube::core::PartialObjectMeta;
use kubewright_runtime::{Informer, InformerConfig};
use serde_json::json;
use tokio::{runtime::Handle, time::sleep};

use crate::server::{FooBar, Running, Server, key, namespaces, settle};

#[tokio::test(start_paused = true)]
async fn k21_nothing_is_kept_of_what_is_gone_and_nothing_nobody_reads() {
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
            (vec![Some("foobar-operator".to_owned())], "")
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
        // The store's, and this one: no copy waits in a queue or a list.
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
    // So many at once are more than the server remembers: they are found missing in a list.
    sleep(Duration::from_secs(5)).await;
    assert!(objects.iter().all(|object| object.strong_count() == 0));
    assert!(store.is_empty() && store.by_index("target", "").is_empty());
    for running in running {
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_namespaces_of_the_scope_are_watched() {
    let server = Server::new();
    for namespace in ["a", "b", "c"] {
        server.put(namespace, "one", "x");
    }
    let some = server.informer(InformerConfig {
        scope: namespaces(&["a", "c"]),
        ..Default::default()
    });
    let none = server.informer(InformerConfig {
        scope: namespaces(&[]),
        ..Default::default()
    });
    let running = [Running::start(&some), Running::start(&none)];
    some.synced().await;
    none.synced().await;
    let store = some.store();
    assert!(store.get(&key("a", "one")).is_some() && store.get(&key("b", "one")).is_none());
    assert_eq!((store.len(), none.store().len(), server.line().lists()), (2, 0, 2));
    // A list of one namespace says nothing about another.
    server.compact();
    sleep(Duration::from_secs(3)).await;
    assert_eq!(store.len(), 2);
    for running in running {
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn selectors_pages_and_bookmarks_are_asked_of_the_server() {
    let server = Server::new();
    let informer = server.informer(InformerConfig {
        label_selector: Some("app=web".to_owned()),
        field_selector: Some("metadata.name=one".to_owned()),
        ..Default::default()
    });
    let running = Running::start(&informer);
    informer.synced().await;
    settle().await;
    for part in ["labelSelector=app%3Dweb", "fieldSelector=metadata.name%3Done"] {
        assert_eq!(server.line().requests(part).len(), 2, "list and watch");
    }
    assert_eq!(server.line().requests("limit=500").len(), 1);
    assert_eq!(server.line().requests("allowWatchBookmarks=true").len(), 1);
    assert!(
        server.line().requests("resourceVersion=0&").is_empty(),
        "a quorum read: never older than what was seen before"
    );
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn metadata_alone_can_be_watched() {
    let server = Server::new();
    server.put_broken("a", "one");
    let informer = Informer::<PartialObjectMeta<FooBar>>::new(server.client(), InformerConfig::default());
    let running = Running::start(&informer);
    informer.synced().await;
    assert!(
        informer.store().get(&key("a", "one")).is_some(),
        "of the rest nothing is decoded"
    );
    let accepted = server.line().accepted();
    assert!(
        !accepted.is_empty() && accepted.iter().all(|types| types.contains("PartialObjectMetadata")),
        "{accepted:?}"
    );
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn resync_reminds_of_every_object_once_in_ten_hours() {
    let server = Server::new();
    server.put("a", "one", "x");
    server.put("a", "two", "x");
    let informer = server.informer(InformerConfig::default());
    let never = server.informer(InformerConfig {
        resync: None,
        ..Default::default()
    });
    let (diary, quiet) = (server.diary(&informer), server.diary(&never));
    let running = [Running::start(&informer), Running::start(&never)];
    informer.synced().await;
    never.synced().await;
    assert_eq!(diary.read(), quiet.read());
    sleep(Duration::from_secs(9 * 3600 - 10)).await;
    assert_eq!(diary.read(), Vec::<String>::new());
    sleep(Duration::from_secs(2 * 3600 + 20)).await;
    let mut told = diary.read();
    told.sort();
    assert_eq!(told, ["resync one@1", "resync two@2"]);
    assert_eq!(
        (quiet.read(), server.line().lists()),
        (vec![], 2),
        "nothing is asked of the server"
    );
    for running in running {
        running.stop().await;
    }
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
async fn asking_an_index_that_is_not_there_is_loud() {
    Server::new()
        .informer(InformerConfig::default())
        .store()
        .by_index("owner", "x");
}

#[tokio::test(start_paused = true)]
async fn an_object_the_transform_panics_on_costs_only_itself() {
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

#[tokio::test(start_paused = true)]
async fn stopping_ends_every_task_whether_told_or_dropped() {
    let server = Server::new();
    server.line().refuse("c", Some((500, "out of order")));
    let config = || InformerConfig {
        scope: namespaces(&["a", "b", "c"]),
        ..Default::default()
    };
    let (told, dropped) = (server.informer(config()), server.informer(config()));
    let before = Handle::current().metrics().num_alive_tasks();
    let running = Running::start(&told);
    let second = Running::start(&told);
    let aborted = Running::start(&dropped);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before + 3 + 2 * 4);
    assert_eq!(
        server.line().requests("/namespaces/a/foobars?&limit").len(),
        2,
        "the second run of the same informer does nothing"
    );
    running.stop().await;
    second.stop().await;
    aborted.task.abort();
    assert!(aborted.task.await.is_err());
    tokio::task::yield_now().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before);
    server.put("a", "one", "x");
    settle().await;
    assert!(told.store().is_empty(), "nothing is watched any more");
}
