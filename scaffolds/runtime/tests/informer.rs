//! What informers get wrong, each once: every test fails on one that has the hazard. The names carry the numbers of the
//! list in `docs/contributing/hazards.md`.

mod informer_server;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use informer_server::{Diary, FooBar, Running, Server, key, namespaces, settle};
use kubewright_runtime::{Delta, InformerConfig, Predicate};
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};

#[tokio::test(start_paused = true)]
async fn k01_a_forbidden_namespace_delays_no_other_watch() {
    let server = Server::new();
    server.refuse("b", Some((403, "foobars is forbidden")));
    server.put("a", "one", "x");
    let informer = server.informer(InformerConfig {
        scope: namespaces(&["a", "b"]),
        ..Default::default()
    });
    let diary = Diary::of(&informer);
    let running = Running::start(&informer);
    settle().await;
    assert_eq!(diary.read(), ["listed one@1"]);
    for _ in 0..20 {
        server.put("a", "one", "y");
        settle().await;
        assert_eq!(
            diary.read().len(),
            1,
            "told while the other watch waits for its next attempt"
        );
        sleep(Duration::from_secs(7)).await;
    }
    assert!(!informer.has_synced());
    assert_eq!(
        informer.last_error().as_deref(),
        Some("watch of foobars.test.example.com in namespace b: 403 foobars is forbidden")
    );
    let attempts = server.requests("/namespaces/b/");
    let delays: Vec<f64> = attempts
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64())
        .collect();
    assert!(
        (0.8..1.3).contains(&delays[0]) && delays.iter().all(|delay| *delay <= 30.1),
        "{delays:?}"
    );
    assert!(delays.len() > 5 && delays[delays.len() - 1] > 15.0, "{delays:?}");
    server.refuse("b", None);
    timeout(Duration::from_secs(31), informer.synced())
        .await
        .expect("the next attempt succeeds");
    assert_eq!(informer.last_error(), None);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn k05_synced_means_every_namespace_is_stored_and_told() {
    let server = Server::new();
    server.refuse("b", Some((404, "404 page not found")));
    server.put("a", "one", "x");
    server.put("b", "two", "x");
    let informer = server.informer(InformerConfig {
        scope: namespaces(&["a", "b"]),
        ..Default::default()
    });
    let diary = Diary::of(&informer);
    let running = Running::start(&informer);
    assert!(
        timeout(Duration::from_secs(120), informer.synced()).await.is_err(),
        "one list is missing"
    );
    assert_eq!(
        informer.last_error().as_deref(),
        Some(
            "watch of foobars.test.example.com in namespace b: 404 page not found \
             (is its CustomResourceDefinition installed?)"
        )
    );
    server.refuse("b", None);
    informer.synced().await;
    assert_eq!(diary.read(), ["listed one@1", "listed two@2"]);
    assert!(informer.store().get(&key("b", "two")).is_some());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn k06_a_deletion_missed_while_disconnected_is_found_on_relist() {
    let server = Server::new();
    server.put("a", "stays", "x");
    server.put("a", "goes", "x");
    server.put_broken("a", "broken");
    let informer = server.informer(InformerConfig::default());
    let diary = Diary::of(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    diary.read();
    server.set_down(true);
    settle().await;
    server.delete("a", "goes");
    server.delete("a", "broken");
    server.compact();
    server.set_down(false);
    sleep(Duration::from_secs(40)).await;
    assert_eq!(server.lists(), 2);
    assert_eq!(
        diary.read(),
        ["deleted goes@2"],
        "and nothing of the object that did not change"
    );
    assert_eq!((informer.store().len(), informer.store().invalid_len()), (1, 0));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn k07_whoever_is_told_finds_it_in_the_store() {
    let server = Server::new();
    for n in 0..20 {
        server.put("a", &n.to_string(), "x");
    }
    let informer = server.informer(InformerConfig {
        page_size: 7,
        ..Default::default()
    });
    let (store, lies) = (informer.store(), Arc::new(Mutex::new(Vec::new())));
    informer.subscribe({
        let lies = lies.clone();
        move |delta: &Delta<FooBar>| {
            let stored = store.get(&delta.key());
            let shown = match delta {
                Delta::Deleted(_) => stored.is_none(),
                _ => stored.is_some_and(|stored| delta.object().is_some_and(|told| Arc::ptr_eq(told, &stored))),
            };
            if !shown {
                lies.lock().expect("not poisoned").push(delta.key());
            }
        }
    });
    let diary = Diary::of(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    assert_eq!((diary.read().len(), server.lists()), (20, 3), "pages");
    server.set_down(true);
    for n in 0..10 {
        server.put("a", &n.to_string(), "y");
    }
    server.delete("a", "15");
    server.put("a", "new", "x");
    server.compact();
    server.set_down(false);
    sleep(Duration::from_secs(40)).await;
    assert_eq!(diary.read().len(), 12, "what changed, the missing one, the new one");
    assert!(lies.lock().expect("not poisoned").is_empty());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn k11_every_subscriber_is_told_everything_whatever_the_others_do() {
    let server = Server::new();
    server.put("a", "one", "x");
    let informer = server.informer(InformerConfig::default());
    let first = Diary::of(&informer);
    informer.subscribe(|_| panic!("a careless handler"));
    let last = Diary::of(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    server.put("a", "one", "y");
    settle().await;
    let late = Diary::of(&informer);
    server.delete("a", "one");
    settle().await;
    let all = ["listed one@1", "updated one@1-2", "deleted one@2"];
    assert_eq!(first.read(), all);
    assert_eq!(last.read(), all);
    assert_eq!(late.read(), ["listed one@2", "deleted one@2"]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn k13_watches_advance_with_nobody_looking() {
    let server = Server::new();
    let informer = server.informer(InformerConfig::default());
    let running = Running::start(&informer);
    informer.synced().await;
    for n in 0..10_000 {
        server.put("a", &n.to_string(), "x");
    }
    settle().await;
    assert_eq!(informer.store().len(), 10_000);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn k14_no_predicate_swallows_a_deletion() {
    let server = Server::new();
    server.put("a", "one", "x");
    let informer = server.informer(InformerConfig::default());
    let predicates = || {
        let all = [
            Predicate::<FooBar>::generation_changed(),
            Predicate::resource_version_changed(),
            Predicate::labels_changed(),
            Predicate::annotations_changed(),
            Predicate::label_selector("app=web").expect("a selector"),
        ];
        let negated = all.clone().map(Predicate::not);
        let joined = all
            .clone()
            .map(|predicate| predicate.and(Predicate::generation_changed()));
        [all, negated, joined].concat()
    };
    let passed = Arc::new(Mutex::new(0));
    for predicate in predicates() {
        let passed = passed.clone();
        informer.subscribe(move |delta: &Delta<FooBar>| {
            if predicate.test(delta) && matches!(delta, Delta::Deleted(_)) {
                *passed.lock().expect("not poisoned") += 1;
            }
        });
    }
    let running = Running::start(&informer);
    informer.synced().await;
    // Seen alive, then gone for long, as a remembered version would have expired.
    sleep(Duration::from_secs(2 * 3600)).await;
    server.delete("a", "one");
    settle().await;
    assert_eq!(*passed.lock().expect("not poisoned"), predicates().len());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn k15_an_undecodable_object_is_set_aside_and_reported() {
    let server = Server::new();
    server.put("a", "good", "x");
    server.put_broken("a", "bad");
    let informer = server.informer(InformerConfig::default());
    let diary = Diary::of(&informer);
    let running = Running::start(&informer);
    timeout(Duration::from_secs(1), informer.synced())
        .await
        .expect("one bad object does not block the sync");
    assert_eq!(diary.read(), ["invalid bad", "listed good@1"]);
    let store = informer.store();
    let error = store.invalid(&key("a", "bad")).expect("set aside");
    assert!(
        error.contains("invalid type: integer `7`, expected a string"),
        "{error}"
    );

    // A list that shows it again is no news; another version of it is.
    server.compact();
    sleep(Duration::from_secs(2)).await;
    assert_eq!((diary.read(), server.lists()), (vec![], 2));
    server.put_broken("a", "bad");
    settle().await;
    assert_eq!(diary.read(), ["invalid bad"]);

    // Repaired; then the good one breaks, and its last good version is no longer what anybody reads.
    server.put("a", "bad", "x");
    server.put_broken("a", "good");
    settle().await;
    assert_eq!(diary.read(), ["added bad@5", "invalid good"]);
    assert!(store.get(&key("a", "good")).is_none() && store.invalid(&key("a", "good")).is_some());

    // The watch goes on, and the deletion of what cannot be decoded is understood.
    server.delete("a", "good");
    server.put("a", "next", "x");
    settle().await;
    assert_eq!(diary.read(), ["deleted good@1", "added next@8"]);
    assert_eq!((store.len(), store.invalid_len()), (2, 0));
    assert_eq!(server.lists(), 2, "none of this needed another list");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn k16_an_older_answer_does_not_turn_back_time() {
    let server = Server::new();
    server.put("a", "one", "x");
    let old = server.list();
    let informer = server.informer(InformerConfig::default());
    let diary = Diary::of(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    server.put("a", "one", "y");
    settle().await;
    assert_eq!(diary.read(), ["listed one@1", "updated one@1-2"]);
    // A server that lags behind answers the next list, and the watch then repeats what is known.
    server.answer_next_list(old);
    server.send(&json!({"type": "ERROR", "object": {"code": 410, "message": "too old"}}));
    sleep(Duration::from_secs(2)).await;
    assert_eq!((diary.read(), server.lists()), (vec![], 2));
    let stored = informer.store().get(&key("a", "one")).expect("stays");
    assert_eq!(stored.spec.target, "y");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn k21_nothing_is_kept_of_what_is_gone_and_nothing_nobody_reads() {
    let server = Server::new();
    let entry = |manager: &str| json!({"manager": manager, "operation": "Apply", "fieldsV1": {"f:spec": {}}});
    for n in 0..1000 {
        let metadata = json!({"managedFields": [entry("kubectl"), entry("foobar-operator")]});
        server.write(
            "a",
            &n.to_string(),
            json!({"metadata": metadata, "spec": {"target": "x"}}),
        );
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
            trees.map(|tree| tree.0.as_str()).eq([Some(r#"{"f:spec":{}}"#)]),
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
    for n in 0..1000 {
        server.delete("a", &n.to_string());
    }
    settle().await;
    assert!(objects.iter().all(|object| object.strong_count() == 0));
    assert!(store.is_empty() && store.by_index("target", "").is_empty());
    for running in running {
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_was_down_for_long_is_soon_back_at_short_delays() {
    let server = Server::new();
    let informer = server.informer(InformerConfig::default());
    let running = Running::start(&informer);
    informer.synced().await;
    server.set_down(true);
    sleep(Duration::from_secs(300)).await;
    server.set_down(false);
    sleep(Duration::from_secs(31)).await;
    server.put("a", "one", "x");
    settle().await;
    assert_eq!(informer.store().len(), 1);
    server.set_down(true);
    settle().await;
    server.set_down(false);
    let back = Instant::now();
    server.put("a", "two", "x");
    while informer.store().len() < 2 {
        sleep(Duration::from_millis(50)).await;
    }
    assert!(back.elapsed() < Duration::from_secs(2), "{:?}", back.elapsed());
    running.stop().await;
}
