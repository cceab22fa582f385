//! Changes while no watch was connected, and when lists are repeated.

use std::time::Duration;

use kubewright_runtime::InformerConfig;
use tokio::time::sleep;

use crate::server::{Running, Server, key, settle};

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
    assert_eq!(diary.read(), ["deleted goes@2"], "and no delta of the unchanged object");
    assert_eq!((informer.store().len(), informer.store().invalid_len()), (1, 0));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_whose_later_pages_are_always_too_old_is_read_without_pages() {
    let server = Server::new();
    for n in 0..5 {
        server.put("a", &format!("n{n}"), "x");
    }
    server.line().expire_pages();
    let informer = server.informer(InformerConfig {
        page_size: 2,
        ..InformerConfig::default()
    });
    let running = Running::start(&informer);
    tokio::time::timeout(Duration::from_secs(5), informer.synced())
        .await
        .expect("listed");
    assert_eq!(informer.store().len(), 5);
    assert_eq!(server.line().lists(), 3, "a page, the next one, and the whole list");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_always_too_old_is_a_failure_that_is_shown() {
    let server = Server::new();
    server.line().refuse("*", Some((410, "too old")));
    let informer = server.informer(InformerConfig::default());
    let running = Running::start(&informer);
    sleep(Duration::from_secs(5)).await;
    let error = informer.last_error().expect("the list fails");
    assert!(error.contains("410 too old"), "{error}");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn k16_an_older_response_does_not_replace_a_newer_object() {
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
    // A server with an old state answers the next list, and the watch then repeats known changes.
    server.line().answer_next_list(old);
    server.compact();
    sleep(Duration::from_secs(2)).await;
    assert_eq!((diary.read(), server.line().lists()), (vec![], 2));
    let stored = informer.store().get(&key("a", "one")).expect("stays");
    assert_eq!(stored.spec.target, "y");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_version_is_delivered_once_even_if_the_watch_breaks_repeatedly() {
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
        // A watch that ends earlier counts as a failure.
        sleep(Duration::from_secs(1)).await;
        server.compact();
        sleep(Duration::from_secs(30)).await;
        server.line().cut();
        settle().await;
    }
    assert_eq!((diary.read(), server.line().lists()), (vec![], 12), "two pages a list");
    sleep(Duration::from_secs(1)).await;
    server.line().cut();
    server.put("a", "one", "y");
    settle().await;
    assert_eq!(diary.read(), ["updated one@1-3"], "resumed without a list");
    assert_eq!(server.line().lists(), 12);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_unseen_recreation_is_delivered_as_deletion_and_addition() {
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
