//! Watches that fail, that break, and that wait until a kind exists.

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
            "delivered while the other watch waits for its next attempt"
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
async fn k05_synced_means_every_namespace_is_stored_and_delivered() {
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
async fn k13_watches_advance_without_being_polled() {
    let server = Server::new();
    let informer = server.informer(InformerConfig::default());
    let running = Running::start(&informer);
    informer.synced().await;
    for n in 0..1000 {
        server.put("a", &n.to_string(), "x");
        // The server keeps only a few changes for slow watches.
        if n % 10 == 0 {
            settle().await;
        }
    }
    settle().await;
    assert_eq!((informer.store().len(), server.line().lists()), (1000, 1));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn after_a_long_failure_a_working_watch_has_short_delays_again() {
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
async fn a_kind_can_be_watched_before_it_exists() {
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
