//! The timing of watches: bookmarks, their end, a server that closes; and watches whose revision is compacted.

use crate::common::wire;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::{ApiServer, Options};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;
use tower::ServiceExt;

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn config_map(name: &str) -> String {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}).to_string()
}

/// The first event of a watch, which is then dropped.
async fn first_line(wire: &crate::common::Wire, path: &str) -> Vec<u8> {
    let request = http::Request::get(path).body(Full::<Bytes>::default()).unwrap();
    let mut body = wire.server.service().oneshot(request).await.unwrap().into_body();
    body.frame().await.unwrap().unwrap().into_data().unwrap().to_vec()
}

/// Starts a server, and creates the namespace of these tests.
async fn start() -> crate::common::Wire {
    let wire = wire();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}});
    wire.post("/api/v1/namespaces", namespace.to_string()).await;
    wire
}

#[tokio::test(start_paused = true)]
async fn bookmarks_are_sent_once_a_minute_and_two_seconds_before_the_end() {
    let wire = start().await;
    let revision = wire.get(CONFIG_MAPS).await.json()["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .to_owned();
    let path =
        format!("{CONFIG_MAPS}?watch=true&allowWatchBookmarks=true&timeoutSeconds=150&resourceVersion={revision}");
    let begun = Instant::now();
    let writer = {
        let wire = wire.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(10)).await;
            wire.post(CONFIG_MAPS, config_map("a")).await;
        })
    };
    let events = lines(&wire.get(&path).await.text);
    writer.await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 150);
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["ADDED", "BOOKMARK", "BOOKMARK", "BOOKMARK"]);
    assert_eq!(
        events[1]["object"]["metadata"],
        json!({"resourceVersion": events[0]["object"]["metadata"]["resourceVersion"]})
    );
}

/// `kubectl get -w`: an age is that of the object when its event is sent, not when the watch began.
#[tokio::test(start_paused = true)]
async fn the_ages_in_a_watch_of_a_table_go_on() {
    let wire = start().await;
    wire.post(CONFIG_MAPS, config_map("early")).await;
    let table = wire.with("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
    let writer = {
        let wire = wire.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(10)).await;
            wire.post(CONFIG_MAPS, config_map("late")).await;
            tokio::time::sleep(Duration::from_secs(30)).await;
            let labels = json!({"metadata": {"labels": {"a": "b"}}}).to_string();
            for name in ["early", "late"] {
                let path = format!("{CONFIG_MAPS}/{name}");
                let patch = wire.with("content-type", "application/merge-patch+json");
                patch.send("PATCH", &path, labels.clone()).await;
            }
        })
    };
    let events = lines(
        &table
            .get(&format!("{CONFIG_MAPS}?watch=true&timeoutSeconds=60"))
            .await
            .text,
    );
    writer.await.unwrap();
    let ages: Vec<&str> = events
        .iter()
        .map(|event| event["object"]["rows"][0]["cells"][2].as_str().unwrap())
        .collect();
    assert_eq!(ages, ["0s", "0s", "40s", "30s"], "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn a_watch_without_a_timeout_lasts_half_an_hour_to_an_hour() {
    let wire = start().await;
    let begun = Instant::now();
    wire.get(&format!("{CONFIG_MAPS}?watch=true")).await;
    let minutes = begun.elapsed().as_secs() / 60;
    assert!((30..60).contains(&minutes), "{minutes}");
}

#[tokio::test(start_paused = true)]
async fn a_compacted_revision_is_an_error_event_of_the_stream() {
    let mut wire = wire();
    wire.server = ApiServer::new(Options {
        history: Some(3),
        ..Options::default()
    });
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}});
    wire.post("/api/v1/namespaces", namespace.to_string()).await;
    for number in 0..10 {
        wire.post(CONFIG_MAPS, config_map(&format!("c{number}"))).await;
    }
    let now: u64 = wire.get(CONFIG_MAPS).await.json()["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    let answer = wire.get(&format!("{CONFIG_MAPS}?watch=true&resourceVersion=2")).await;
    let message = format!("too old resource version: 2 ({})", now - 3);
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
        "reason": "Expired", "code": 410});
    assert_eq!(
        (answer.code, lines(&answer.text)),
        (200, vec![json!({"type": "ERROR", "object": status})])
    );
    let list = wire
        .get(&format!("{CONFIG_MAPS}?resourceVersion=2&resourceVersionMatch=Exact"))
        .await;
    assert_eq!(
        (list.code, list.json()["message"].as_str()),
        (410, Some("The resourceVersion for the provided list is too old."))
    );
    let page = wire.get(&format!("{CONFIG_MAPS}?limit=4")).await.json();
    for number in 10..15 {
        wire.post(CONFIG_MAPS, config_map(&format!("c{number}"))).await;
    }
    let token = page["metadata"]["continue"].as_str().unwrap();
    let expired = wire.get(&format!("{CONFIG_MAPS}?limit=4&continue={token}")).await;
    let fresh = expired.json()["metadata"]["continue"].as_str().unwrap().to_owned();
    assert_eq!(
        (expired.code, expired.json()["reason"].as_str()),
        (410, Some("Expired"))
    );
    let rest = wire.get(&format!("{CONFIG_MAPS}?continue={fresh}")).await.json();
    // After c3: c4 to c9. The later objects, c10 to c14, sort before it.
    assert_eq!(rest["items"].as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn ten_thousand_idle_watches_see_one_change_each() {
    let wire = start().await;
    let revision = wire.get(CONFIG_MAPS).await.json()["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!(
        "{CONFIG_MAPS}?watch=true&timeoutSeconds=20&resourceVersion={revision}&fieldSelector=metadata.name%3Da"
    );
    let watches: Vec<_> = (0..10_000)
        .map(|_| {
            let (wire, path) = (wire.clone(), path.clone());
            tokio::spawn(async move { first_line(&wire, &path).await })
        })
        .collect();
    wire.post(CONFIG_MAPS, config_map("b")).await;
    wire.post(CONFIG_MAPS, config_map("a")).await;
    for watch in watches {
        let event: Value = serde_json::from_slice(&watch.await.unwrap()).unwrap();
        assert_eq!(
            (&event["type"], &event["object"]["metadata"]["name"]),
            (&json!("ADDED"), &json!("a"))
        );
    }
}
