//! The deltas that pass predicates.

use std::sync::{Arc, Mutex};

use kubewright_runtime::{Delta, InformerConfig, Predicate, Scope};
use serde_json::json;

use crate::server::{FooBar, Running, Server, settle};

#[tokio::test(start_paused = true)]
async fn predicates_see_old_and_new() {
    let server = Server::new();
    let of = |target: &str, app: &str| json!({"metadata": {"labels": {"app": app}}, "spec": {"target": target}});
    let informer = server.informer(InformerConfig {
        scope: Scope::Cluster,
        ..Default::default()
    });
    let passed = Arc::new(Mutex::new(Vec::new()));
    let predicates = [
        ("generation", Predicate::generation_changed()),
        ("labels", Predicate::labels_changed()),
        ("web", Predicate::label_selector("app in (web)").expect("a selector")),
        ("both", Predicate::generation_changed().and(Predicate::labels_changed())),
        (
            "either",
            Predicate::generation_changed().or(Predicate::labels_changed()),
        ),
        (
            "neither",
            Predicate::generation_changed().or(Predicate::labels_changed()).not(),
        ),
        ("version", Predicate::resource_version_changed()),
        ("annotations", Predicate::annotations_changed()),
        ("own", Predicate::new(|delta: &Delta<FooBar>| delta.old().is_some())),
    ];
    for (name, predicate) in predicates {
        let passed = passed.clone();
        informer.subscribe(move |delta| {
            if predicate.test(delta) {
                passed.lock().expect("not poisoned").push(name);
            }
        });
    }
    let read = || std::mem::take(&mut *passed.lock().expect("not poisoned"));
    let running = Running::start(&informer);
    informer.synced().await;
    server.write("a", "one", of("x", "db"));
    settle().await;
    assert_eq!(
        read(),
        ["generation", "labels", "both", "either", "version", "annotations"],
        "added, and not web"
    );
    server.write("a", "one", of("y", "db"));
    settle().await;
    assert_eq!(read(), ["generation", "either", "version", "own"]);
    server.write("a", "one", of("y", "web"));
    settle().await;
    assert_eq!(read(), ["labels", "web", "either", "version", "own"]);
    server.write("a", "one", of("z", "db"));
    settle().await;
    assert_eq!(
        read(),
        ["generation", "labels", "web", "both", "either", "version", "own"],
        "an object that no longer matches is seen"
    );
    server.write(
        "a",
        "one",
        json!({"metadata": {"finalizers": ["test.example.com/none"]}}),
    );
    settle().await;
    assert_eq!(read(), ["neither", "version", "own"]);
    server.write("a", "one", json!({"metadata": {"finalizers": null}}));
    settle().await;
    assert_eq!(read(), ["neither", "version", "own"]);
    server.delete("a", "one");
    settle().await;
    assert_eq!(read().len(), 8, "all but the one of our own predicate");
    running.stop().await;
}

#[tokio::test]
async fn a_resync_passes_all_predicates_but_resource_version_changed() {
    let server = Server::new();
    let reminder = Delta::Resync(Arc::new(server.put("a", "one", "x")));
    let passes = [
        Predicate::generation_changed(),
        Predicate::labels_changed(),
        Predicate::annotations_changed(),
        Predicate::resource_version_changed(),
    ]
    .map(|predicate| predicate.test(&reminder));
    assert_eq!(passes, [true, true, true, false]);
}
