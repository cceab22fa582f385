//! Notifications of subscribers: every change, in order, with the store in the same state.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use kubewright_runtime::{Delta, InformerConfig, Manager, Predicate};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::server::{FooBar, Running, Server, key, settle};

#[tokio::test(start_paused = true)]
async fn k07_the_store_contains_a_change_before_it_is_delivered() {
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
                _ => {
                    stored.is_some_and(|stored| delta.object().is_some_and(|delivered| Arc::ptr_eq(delivered, &stored)))
                }
            };
            if !shown {
                lies.lock().expect("not poisoned").push(delta.key());
            }
        }
    });
    let diary = server.diary(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    assert_eq!((diary.read().len(), server.line().lists()), (20, 3), "pages");
    server.line().set_down(true);
    for n in 0..10 {
        server.put("a", &n.to_string(), "y");
    }
    server.delete("a", "15");
    server.put("a", "new", "x");
    server.compact();
    server.line().set_down(false);
    sleep(Duration::from_secs(40)).await;
    assert_eq!(diary.read().len(), 12, "what changed, the missing one, the new one");
    assert!(lies.lock().expect("not poisoned").is_empty());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn k11_every_subscriber_gets_every_change_even_if_others_panic() {
    let server = Server::new();
    server.put("a", "one", "x");
    let informer = server.informer(InformerConfig::default());
    let first = server.diary(&informer);
    informer.subscribe(|_| panic!("a careless handler"));
    let last = server.diary(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    server.put("a", "one", "y");
    settle().await;
    let late = server.diary(&informer);
    server.delete("a", "one");
    settle().await;
    let all = ["listed one@1", "updated one@1-2", "deleted one@2"];
    assert_eq!(first.read(), all);
    assert_eq!(last.read(), all);
    assert_eq!(late.read(), ["listed one@2", "deleted one@2"]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn k14_deletions_pass_every_named_predicate() {
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
    // Added, then deleted after so long that a predicate with an expiring memory would have forgotten it.
    sleep(Duration::from_secs(2 * 3600)).await;
    server.delete("a", "one");
    settle().await;
    assert_eq!(*passed.lock().expect("not poisoned"), predicates().len());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn k15_an_undecodable_object_is_kept_apart_and_reported() {
    let server = Server::new();
    server.put("a", "good", "x");
    server.put_broken("a", "bad");
    let informer = server.informer(InformerConfig::default());
    let diary = server.diary(&informer);
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

    // A list that shows it again causes no delta; another version of it does. A watch that ends earlier counts as a failure.
    sleep(Duration::from_secs(1)).await;
    server.compact();
    sleep(Duration::from_secs(2)).await;
    assert_eq!((diary.read(), server.line().lists()), (vec![], 2));
    server.put_broken("a", "bad");
    settle().await;
    assert_eq!(diary.read(), ["invalid bad"]);

    // The first object becomes valid; then the valid one becomes invalid, and its last valid version is removed from
    // the store.
    server.put("a", "bad", "x");
    server.put_broken("a", "good");
    settle().await;
    assert_eq!(diary.read(), ["added bad@4", "invalid good"]);
    assert!(store.get(&key("a", "good")).is_none() && store.invalid(&key("a", "good")).is_some());

    // The watch goes on, and the deletion of an undecodable object is delivered.
    server.delete("a", "good");
    server.put("a", "next", "x");
    settle().await;
    assert_eq!(diary.read(), ["deleted good@1", "added next@7"]);
    assert_eq!((store.len(), store.invalid_len()), (2, 0));
    assert_eq!(server.line().lists(), 2, "none of this needed another list");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_object_that_a_change_of_its_definition_makes_decodable_is_delivered_in_its_version() {
    let server = Server::new();
    server.write("a", "bare", json!({"spec": {"number": 1}}));
    let informer = server.informer(InformerConfig::default());
    let diary = server.diary(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    assert_eq!(diary.read(), ["invalid bare"]);
    // A watch that ends earlier counts as a failure.
    sleep(Duration::from_secs(1)).await;
    server.default_target();
    sleep(Duration::from_secs(2)).await;
    assert_eq!(
        (diary.read(), informer.store().invalid_len()),
        (vec!["added bare@1".to_owned()], 0)
    );
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn undecodable_objects_and_unmerged_writes_are_counted() {
    let server = Server::new();
    server.put_broken("a", "bad");
    let manager = Manager::builder(server.client()).build();
    let informer = manager.informer::<FooBar>();
    let running = Running::start(&informer);
    informer.synced().await;
    let counted = |name: &str| {
        let sample = format!(r#"{name}{{group="test.example.com",kind="FooBar",version="v1"}} "#);
        let text = manager.metrics().encode();
        text.lines()
            .find_map(|line| line.strip_prefix(&sample).map(str::to_owned))
            .unwrap_or_else(|| panic!("{sample}: not in {text}"))
    };
    assert_eq!(counted("kubewright_invalid_objects"), "1");
    server.put("a", "bad", "x");
    settle().await;
    assert_eq!(counted("kubewright_invalid_objects"), "0");

    // As some aggregated API servers number versions.
    let mut written = server.put("a", "written", "x");
    written.metadata.resource_version = Some("a7".to_owned());
    assert_eq!(counted("kubewright_unmerged_writes_total"), "0");
    assert!(!informer.observe_write(written, None));
    assert_eq!(counted("kubewright_unmerged_writes_total"), "1");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_write_and_subscribe_and_the_order_stays() {
    let server = Server::new();
    let informer = server.informer(InformerConfig::default());
    let (first, late) = (server.diary(&informer), server.empty_diary());
    let once = Mutex::new(Some((informer.clone(), server.clone(), late.clone())));
    informer.subscribe(move |_: &Delta<FooBar>| {
        if let Some((informer, server, late)) = once.lock().expect("not poisoned").take() {
            informer.observe_write(server.put("a", "two", "x"), None);
            informer.subscribe(late.writer());
            informer.observe_write(server.put("a", "two", "y"), None);
        }
    });
    let last = server.diary(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    server.put("a", "one", "x");
    settle().await;
    let all = ["added one@1", "added two@2", "updated two@2-3"];
    assert_eq!(
        (first.read(), last.read()),
        (all.map(str::to_owned).to_vec(), all.map(str::to_owned).to_vec())
    );
    let mut delivered = late.read();
    delivered[..2].sort();
    assert_eq!(delivered, ["listed one@1", "listed two@2", "updated two@2-3"]);
    running.stop().await;
}

/// Many threads write and observe their writes while the watch shows the same: every subscriber gets each object's
/// versions in order, each once, and ends with the stored ones.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_on_many_threads_keep_the_order() {
    let server = Server::new();
    let informer = server.informer(InformerConfig::default());
    let delivered: Arc<Mutex<Vec<(String, u64)>>> = Arc::default();
    let version = |object: &FooBar| {
        object
            .metadata
            .resource_version
            .as_deref()
            .and_then(|version| version.parse().ok())
    };
    informer.subscribe({
        let delivered = delivered.clone();
        move |delta: &Delta<FooBar>| {
            let version = delta.object().and_then(|object| version(object)).unwrap_or_default();
            delivered
                .lock()
                .expect("not poisoned")
                .push((delta.key().name().to_owned(), version));
        }
    });
    let running = Running::start(&informer);
    informer.synced().await;
    let writers = (0..8_u32).map(|writer| {
        let (server, informer) = (server.clone(), informer.clone());
        tokio::spawn(async move {
            for n in 0..500 {
                let ours = server.put("a", &((writer + n) % 10).to_string(), "x");
                tokio::task::yield_now().await;
                assert!(informer.observe_write(ours.clone(), None));
                let stored = informer
                    .store()
                    .get(&key("a", &((writer + n) % 10).to_string()))
                    .expect("written");
                assert!(version(&stored) >= version(&ours), "a thread reads its own write");
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("no writer panicked");
    }
    sleep(Duration::from_millis(200)).await;
    let delivered = delivered.lock().expect("not poisoned").clone();
    for object in informer.store().list() {
        let name = object.metadata.name.clone().unwrap_or_default();
        let versions: Vec<u64> = delivered
            .iter()
            .filter(|(of, _)| *of == name)
            .map(|(_, version)| *version)
            .collect();
        assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
        assert_eq!(versions.last().copied(), version(&object));
    }
    assert_eq!(informer.store().len(), 10);
    running.stop().await;
}
