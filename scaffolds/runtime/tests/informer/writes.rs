//! Read your own writes: what `observe_write` merges ahead of the watch, and what it must not restore.

use std::time::Duration;

use kubewright_runtime::{Informer, InformerConfig};
use serde_json::json;
use tokio::time::sleep;

use crate::server::{FooBar, Running, Server, decoded, key, namespaces, settle, typed};

/// The target of the stored object of this name in namespace `a`.
fn target(informer: &Informer<FooBar>, name: &str) -> Option<String> {
    informer
        .store()
        .get(&key("a", name))
        .map(|object| object.spec.target.clone())
}

#[tokio::test(start_paused = true)]
async fn a_write_is_in_the_store_before_the_watch_shows_it_and_is_delivered_once() {
    let server = Server::new();
    server.put("a", "one", "x");
    let informer = server.informer(InformerConfig::default());
    let (writer, others) = (server.empty_diary(), server.diary(&informer));
    let id = informer.subscribe(writer.writer()).id();
    let running = Running::start(&informer);
    informer.synced().await;
    assert_eq!(writer.read(), others.read());

    server.line().hold_events(true);
    let theirs = server.put("a", "one", "theirs");
    let ours = server.put("a", "one", "ours");
    assert!(informer.observe_write(ours, Some(id)));
    assert!(informer.observe_write(server.put("a", "two", "new"), Some(id)));
    assert_eq!(
        (target(&informer, "one").as_deref(), target(&informer, "two").as_deref()),
        (Some("ours"), Some("new"))
    );
    assert_eq!(others.read(), ["updated one@1-3", "added two@4"]);
    assert!(
        informer.observe_write(theirs, Some(id)),
        "the store is newer than this late response"
    );

    server.line().hold_events(false);
    settle().await;
    assert_eq!(
        (writer.read(), others.read()),
        (vec![], vec![]),
        "the watch shows nothing new"
    );
    server.put("a", "one", "later");
    settle().await;
    assert_eq!(
        (writer.read(), others.read()),
        (vec!["updated one@3-5".to_owned()], vec!["updated one@3-5".to_owned()])
    );
    running.stop().await;
}

/// As when a label of the selector is removed, and an apply restores it before its event arrives.
#[tokio::test(start_paused = true)]
async fn a_write_outlives_the_event_of_an_earlier_absence() {
    let server = Server::new();
    server.put("a", "one", "x");
    let informer = server.informer(InformerConfig {
        label_selector: Some("!hidden".to_owned()),
        ..InformerConfig::default()
    });
    let diary = server.diary(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    diary.read();

    let labelled =
        |label: serde_json::Value| json!({"metadata": {"labels": {"hidden": label}}, "spec": {"target": "x"}});
    server.line().hold_events(true);
    server.write("a", "one", labelled(json!("yes")));
    let restored = server.write(
        "a",
        "one",
        json!({"metadata": {"labels": {"hidden": null}}, "spec": {"target": "ours"}}),
    );
    assert!(informer.observe_write(typed(restored), None));
    server.line().hold_events(false);
    settle().await;
    assert_eq!(diary.read(), ["updated one@1-3"]);
    assert_eq!(target(&informer, "one").as_deref(), Some("ours"));

    server.write("a", "one", labelled(json!("yes")));
    settle().await;
    assert_eq!(diary.read(), ["deleted one@3"]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_event_of_our_own_write_is_not_decoded_and_any_other_is() {
    let server = Server::new();
    server.put("a", "one", "x");
    let informer = server.informer(InformerConfig::default());
    let diary = server.diary(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    diary.read();

    server.line().hold_events(true);
    informer.observe_write(server.put("a", "one", "ours"), None);
    informer.observe_write(server.put("a", "two", "ours"), None);
    let before = decoded();
    server.line().hold_events(false);
    settle().await;
    assert_eq!(decoded(), before);
    assert_eq!(diary.read(), ["updated one@1-2", "added two@3"]);

    server.put("a", "one", "theirs");
    let before = decoded();
    settle().await;
    assert_eq!(decoded(), before + 1);
    assert_eq!(target(&informer, "one").as_deref(), Some("theirs"));
    assert_eq!(diary.read(), ["updated one@2-4"]);

    // Both are awaited, and only the later one is stored.
    server.line().hold_events(true);
    let [first, second] = ["first", "second"].map(|target| server.put("a", "two", target));
    informer.observe_write(first, None);
    informer.observe_write(second, None);
    server.line().hold_events(false);
    settle().await;
    assert_eq!(target(&informer, "two").as_deref(), Some("second"));
    assert_eq!(diary.read(), ["updated two@3-5", "updated two@5-6"]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_older_than_a_write_does_not_undo_it() {
    let server = Server::new();
    server.put("a", "one", "x");
    server.put("a", "gone", "x");
    let informer = server.informer(InformerConfig::default());
    let diary = server.diary(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    diary.read();
    // The server creates the list, then come the writes and their responses, then the list arrives.
    server.line().set_down(true);
    server.delete("a", "gone");
    server.compact();
    server.line().hold_lists(true);
    server.line().set_down(false);
    sleep(Duration::from_secs(5)).await;
    assert_eq!(server.line().lists(), 2);
    server.line().hold_events(true);
    informer.observe_write(server.put("a", "one", "ours"), None);
    informer.observe_write(server.put("a", "two", "ours"), None);
    server.line().hold_lists(false);
    settle().await;
    assert_eq!(diary.read(), ["updated one@1-4", "added two@5", "deleted gone@2"]);
    assert_eq!(
        (target(&informer, "one").as_deref(), target(&informer, "two").as_deref()),
        (Some("ours"), Some("ours"))
    );
    // The watch, which starts at the list's version, shows the later changes.
    server.delete("a", "two");
    server.line().hold_events(false);
    settle().await;
    assert_eq!(diary.read(), ["deleted two@5"]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_response_that_arrives_after_the_deletion_restores_nothing() {
    let server = Server::new();
    let informer = server.informer(InformerConfig::default());
    let diary = server.diary(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    let answer = server.put("a", "one", "ours");
    server.delete("a", "one");
    settle().await;
    informer.observe_write(answer, None);
    assert_eq!(diary.read(), ["added one@1", "deleted one@1"]);
    assert!(informer.store().is_empty());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_write_that_the_watch_never_shows_causes_a_list() {
    let server = Server::new();
    let informer = server.informer(InformerConfig::default());
    let diary = server.diary(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    // Created, deleted and compacted while the watch was down; the response arrives during the next list.
    server.line().set_down(true);
    let answer = server.put("a", "one", "ours");
    server.delete("a", "one");
    server.compact();
    server.line().hold_lists(true);
    server.line().set_down(false);
    sleep(Duration::from_secs(35)).await;
    // Before the list's response, which has no item with a version.
    informer.observe_write(answer, None);
    server.line().hold_lists(false);
    settle().await;
    assert_eq!(diary.read(), ["added one@1"], "the write may be newer than the list");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(
        diary.read(),
        ["deleted one@1"],
        "but a working watch would have shown it"
    );
    assert!(server.line().lists() <= 4, "{}", server.line().lists());
    let lists = server.line().lists();
    sleep(Duration::from_secs(600)).await;
    assert_eq!(server.line().lists(), lists, "there is no further list");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_write_does_not_restart_a_slow_list() {
    let server = Server::new();
    let informer = server.informer(InformerConfig::default());
    server.line().hold_lists(true);
    let running = Running::start(&informer);
    settle().await;
    server.line().hold_events(true);
    informer.observe_write(server.put("a", "one", "ours"), None);
    sleep(Duration::from_secs(200)).await;
    assert_eq!(server.line().lists(), 1);
    server.line().hold_lists(false);
    sleep(Duration::from_secs(20)).await;
    assert_eq!(
        (server.line().lists(), target(&informer, "one").as_deref()),
        (1, Some("ours")),
        "the watch has time to show the write"
    );
    server.line().hold_events(false);
    sleep(Duration::from_secs(100)).await;
    assert_eq!(
        (server.line().lists(), target(&informer, "one").as_deref()),
        (1, Some("ours"))
    );
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_recreated_object_stays_when_its_predecessors_deletion_is_shown() {
    let server = Server::new();
    server.put("a", "one", "first");
    let informer = server.informer(InformerConfig::default());
    let diary = server.diary(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    diary.read();
    server.line().hold_events(true);
    server.delete("a", "one");
    informer.observe_write(server.put("a", "one", "second"), None);
    assert_eq!(diary.read(), ["deleted one@1", "added one@3"]);
    server.line().hold_events(false);
    settle().await;
    assert_eq!(
        (diary.read(), target(&informer, "one").as_deref()),
        (vec![], Some("second"))
    );
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_write_that_makes_an_object_decodable_stores_it_again() {
    let server = Server::new();
    server.put_broken("a", "one");
    let informer = server.informer(InformerConfig::default());
    let diary = server.diary(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    server.line().hold_events(true);
    informer.observe_write(server.put("a", "one", "ours"), None);
    server.line().hold_events(false);
    settle().await;
    assert_eq!(diary.read(), ["invalid one", "added one@2"]);
    assert_eq!(informer.store().invalid_len(), 0);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_write_that_may_be_outside_of_the_selection_is_not_merged() {
    let server = Server::new();
    let selected = server.informer(InformerConfig {
        label_selector: Some("app=web".to_owned()),
        ..Default::default()
    });
    let scoped = server.informer(InformerConfig {
        scope: namespaces(&["a"]),
        ..Default::default()
    });
    assert!(!selected.observe_write(server.put("a", "one", "x"), None));
    assert!(!scoped.observe_write(server.put("b", "one", "x"), None));
    assert!(scoped.observe_write(server.put("a", "one", "x"), None));
    let mut odd = server.put("a", "odd", "x");
    odd.metadata.resource_version = Some("v7-b".to_owned());
    assert!(
        !scoped.observe_write(odd, None),
        "no API server's own kinds have such versions"
    );
    assert_eq!((selected.store().len(), scoped.store().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_write_is_stored_in_the_form_of_the_watch() {
    let server = Server::new();
    let informer = server.informer(InformerConfig {
        keep_managers: vec!["us".to_owned()],
        ..Default::default()
    });
    server.apply("them", "a", "one", json!({"spec": {"number": 1}}));
    let answer = server.apply("us", "a", "one", json!({"spec": {"target": "x"}}));
    informer.observe_write(typed(answer), None);
    let stored = informer.store().get(&key("a", "one")).expect("merged");
    let managers: Vec<_> = stored
        .metadata
        .managed_fields
        .iter()
        .flatten()
        .map(|entry| entry.manager.as_deref())
        .collect();
    assert_eq!(
        managers,
        [Some("us"), None],
        "an empty entry stands for those of others"
    );
}
