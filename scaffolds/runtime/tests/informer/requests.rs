//! The informer's requests: scopes, selectors, metadata only; resync and shutdown.

use std::time::Duration;

use kube::core::PartialObjectMeta;
use kubewright_runtime::{Informer, InformerConfig, Selectors};
use tokio::{runtime::Handle, time::sleep};

use crate::server::{FooBar, Running, Server, key, namespaces, settle};

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
    // A list of one namespace contains no other namespace.
    server.compact();
    sleep(Duration::from_secs(3)).await;
    assert_eq!(store.len(), 2);
    for running in running {
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn lists_and_watches_request_selectors_pages_and_bookmarks() {
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
        "a quorum read: never older than an earlier state"
    );
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_namespace_with_selectors_of_its_own_has_a_watch_of_its_own() {
    let server = Server::new();
    for (namespace, name) in [
        ("a", "one"),
        ("a", "two"),
        ("b", "one"),
        ("c", "two"),
        ("default", "one"),
    ] {
        server.put(namespace, name, "x");
    }
    let fields = |fields: &str| Selectors {
        fields: Some(fields.to_owned()),
        ..Selectors::default()
    };
    let labels = Selectors {
        labels: Some("app=web".to_owned()),
        ..Selectors::default()
    };
    let selectors = [("a".to_owned(), fields("metadata.name=one")), ("b".to_owned(), labels)];
    let everywhere = server.informer(InformerConfig {
        namespace_selectors: selectors.clone().into(),
        ..Default::default()
    });
    let some = server.informer(InformerConfig {
        scope: namespaces(&["a", "default"]),
        namespace_selectors: selectors.into(),
        ..Default::default()
    });
    let running = [Running::start(&everywhere), Running::start(&some)];
    everywhere.synced().await;
    some.synced().await;
    let found = || {
        [&everywhere, &some].map(|informer| {
            let all = [
                ("a", "one"),
                ("a", "two"),
                ("b", "one"),
                ("c", "two"),
                ("default", "one"),
            ];
            let in_store = all
                .iter()
                .filter(|(namespace, name)| informer.store().get(&key(namespace, name)).is_some());
            in_store
                .map(|(namespace, name)| format!("{namespace}/{name}"))
                .collect::<Vec<_>>()
        })
    };
    let expected = [vec!["a/one", "c/two", "default/one"], vec!["a/one", "default/one"]];
    assert_eq!(found(), expected);
    assert_eq!(
        server.line().lists(),
        5,
        "one for each namespace, and one for all others"
    );

    // The list of all others contains none of these namespaces, and deletes none of their objects.
    server.compact();
    sleep(Duration::from_secs(3)).await;
    assert_eq!(found(), expected);
    for name in ["one", "two"] {
        server.put("a", name, "y");
    }
    sleep(Duration::from_secs(3)).await;
    assert_eq!(found(), expected);
    assert_eq!(everywhere.store().get(&key("a", "one")).unwrap().spec.target, "y");

    // A write is in the cache at once where it is certain to be selected.
    let written = |namespace: &str| {
        let object = everywhere.store().get(&key("default", "one")).unwrap();
        let mut object = (*object).clone();
        object.metadata.namespace = Some(namespace.to_owned());
        object.metadata.resource_version = Some("1000000".to_owned());
        everywhere.observe_write(object, None)
    };
    assert_eq!(["a", "b", "default"].map(written), [false, false, true]);
    for running in running {
        running.stop().await;
    }
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
        "only metadata is decoded"
    );
    let accepted = server.line().accepted();
    assert!(
        !accepted.is_empty() && accepted.iter().all(|types| types.contains("PartialObjectMetadata")),
        "{accepted:?}"
    );
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_resync_delivers_every_object_once_in_ten_hours() {
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
    let mut delivered = diary.read();
    delivered.sort();
    assert_eq!(delivered, ["resync one@1", "resync two@2"]);
    assert_eq!(
        (quiet.read(), server.line().lists()),
        (vec![], 2),
        "the server gets no request"
    );
    for running in running {
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn every_task_ends_when_the_informer_is_stopped_or_dropped() {
    let server = Server::new();
    server.line().refuse("c", Some((500, "out of order")));
    let config = || InformerConfig {
        scope: namespaces(&["a", "b", "c"]),
        ..Default::default()
    };
    let (stopped, dropped) = (server.informer(config()), server.informer(config()));
    let before = Handle::current().metrics().num_alive_tasks();
    let running = Running::start(&stopped);
    let second = Running::start(&stopped);
    let aborted = Running::start(&dropped);
    sleep(Duration::from_secs(60)).await;
    // A watch has two tasks: its own and that of its client.
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before + 3 + 2 * 7);
    assert_eq!(
        server.line().requests("/namespaces/a/foobars?&limit").len(),
        2,
        "the second run of the same informer does nothing"
    );
    running.stop().await;
    second.stop().await;
    aborted.task.abort();
    assert!(aborted.task.await.is_err());
    settle().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before);
    server.put("a", "one", "x");
    settle().await;
    assert!(stopped.store().is_empty(), "nothing is watched any more");
}
