//! Watches that fail, lag, break or were never there: what is told in spite of it.

use std::time::Duration;

use kubewright_runtime::InformerConfig;
use tokio::time::{Instant, sleep, timeout};

use crate::server::{Running, Server, key, namespaces, settle};

#[tokio::test(start_paused = true)]
async fn k01_a_forbidden_namespace_delays_no_other_watch() {
    let server = Server::new();
    server.line().refuse("b", Some((403, "foobars is forbidden")));
    server.put("a", "one", "x");
    let informer = server.informer(InformerConfig {
        scope: namespaces(&["a", "b"]),
        ..Default::default()
    });
    let diary = server.diary(&informer);
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
    let attempts = server.line().requests("/namespaces/b/");
    let delays: Vec<f64> = attempts
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64())
        .collect();
    assert!(
        (0.8..1.3).contains(&delays[0]) && delays.iter().all(|delay| *delay <= 30.1),
        "{delays:?}"
    );
    assert!(delays.len() > 5 && delays[delays.len() - 1] > 15.0, "{delays:?}");
    server.line().refuse("b", None);
    timeout(Duration::from_secs(31), informer.synced())
        .await
        .expect("the next attempt succeeds");
    assert_eq!(informer.last_error(), None);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn k05_synced_means_every_namespace_is_stored_and_told() {
    let server = Server::new();
    server.line().refuse("b", Some((404, "404 page not found")));
    server.put("a", "one", "x");
    server.put("b", "two", "x");
    let informer = server.informer(InformerConfig {
        scope: namespaces(&["a", "b"]),
        ..Default::default()
    });
    let diary = server.diary(&informer);
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
    server.line().refuse("b", None);
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
    let diary = server.diary(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    diary.read();
    server.line().set_down(true);
    settle().await;
    server.delete("a", "goes");
    server.delete("a", "broken");
    server.compact();
    server.line().set_down(false);
    sleep(Duration::from_secs(40)).await;
    assert_eq!(server.line().lists(), 2);
    assert_eq!(
        diary.read(),
        ["deleted goes@2"],
        "and nothing of the object that did not change"
    );
    assert_eq!((informer.store().len(), informer.store().invalid_len()), (1, 0));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn k13_watches_advance_with_nobody_looking() {
    let server = Server::new();
    let informer = server.informer(InformerConfig::default());
    let running = Running::start(&informer);
    informer.synced().await;
    for n in 0..1000 {
        server.put("a", &n.to_string(), "x");
        // The server remembers no more than a few changes for those who are slow.
        if n % 10 == 0 {
            settle().await;
        }
    }
    settle().await;
    assert_eq!((informer.store().len(), server.line().lists()), (1000, 1));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn k16_an_older_answer_does_not_turn_back_time() {
    let server = Server::new();
    server.put("a", "one", "x");
    let old = server.list();
    let informer = server.informer(InformerConfig::default());
    let diary = server.diary(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    server.put("a", "one", "y");
    settle().await;
    assert_eq!(diary.read(), ["listed one@1", "updated one@1-2"]);
    // A server that lags behind answers the next list, and the watch then repeats what is known.
    server.line().answer_next_list(old);
    server.compact();
    sleep(Duration::from_secs(2)).await;
    assert_eq!((diary.read(), server.line().lists()), (vec![], 2));
    let stored = informer.store().get(&key("a", "one")).expect("stays");
    assert_eq!(stored.spec.target, "y");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_was_down_for_long_is_soon_back_at_short_delays() {
    let server = Server::new();
    let informer = server.informer(InformerConfig::default());
    let running = Running::start(&informer);
    informer.synced().await;
    server.line().set_down(true);
    sleep(Duration::from_secs(300)).await;
    server.line().set_down(false);
    sleep(Duration::from_secs(31)).await;
    server.put("a", "one", "x");
    settle().await;
    assert_eq!(informer.store().len(), 1);
    server.line().set_down(true);
    settle().await;
    server.line().set_down(false);
    let back = Instant::now();
    server.put("a", "two", "x");
    while informer.store().len() < 2 {
        sleep(Duration::from_millis(50)).await;
    }
    assert!(back.elapsed() < Duration::from_secs(2), "{:?}", back.elapsed());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_version_is_told_once_however_often_the_watch_breaks() {
    let server = Server::new();
    server.put("a", "one", "x");
    server.put("a", "two", "x");
    let informer = server.informer(InformerConfig {
        page_size: 1,
        ..Default::default()
    });
    let diary = server.diary(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    assert_eq!(diary.read(), ["listed one@1", "listed two@2"]);
    for _ in 0..5 {
        server.compact();
        sleep(Duration::from_secs(30)).await;
        server.line().cut();
        settle().await;
    }
    assert_eq!((diary.read(), server.line().lists()), (vec![], 12), "two pages a list");
    server.line().cut();
    server.put("a", "one", "y");
    settle().await;
    assert_eq!(diary.read(), ["updated one@1-3"], "resumed without a list");
    assert_eq!(server.line().lists(), 12);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_object_recreated_unseen_is_told_as_two() {
    let server = Server::new();
    server.put("a", "one", "x");
    let informer = server.informer(InformerConfig::default());
    let diary = server.diary(&informer);
    let running = Running::start(&informer);
    informer.synced().await;
    server.line().set_down(true);
    server.delete("a", "one");
    server.put("a", "one", "y");
    server.compact();
    server.line().set_down(false);
    sleep(Duration::from_secs(40)).await;
    assert_eq!(diary.read(), ["listed one@1", "deleted one@1", "added one@3"]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_kind_is_followed_from_before_it_exists() {
    let server = Server::without_the_kind();
    let informer = server.informer(InformerConfig::default());
    let diary = server.diary(&informer);
    let running = Running::start(&informer);
    sleep(Duration::from_secs(300)).await;
    assert!(!informer.has_synced());
    assert_eq!(
        informer.last_error().as_deref(),
        Some(
            "watch of foobars.test.example.com in all namespaces: 404 page not found \
             (is its CustomResourceDefinition installed?)"
        )
    );
    server.define();
    server.put("a", "one", "x");
    timeout(Duration::from_secs(31), informer.synced())
        .await
        .expect("the next attempt succeeds");
    assert_eq!(
        (diary.read(), informer.last_error()),
        (vec!["listed one@1".to_owned()], None)
    );
    running.stop().await;
}
