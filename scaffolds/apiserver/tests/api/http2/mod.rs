//! The server in HTTP/2, and that the limits of HTTP/1.1 hold in it.
#![cfg(feature = "http2")]

mod abuse;
mod client;
mod end;
mod frames;

use std::collections::BTreeMap;

use client::{CONFIG_MAPS, PATIENCE, event, start, start_as, whole};
use frames::{ACK, Frames, PING, SETTINGS, WINDOW_UPDATE};
use futures::future::join_all;
use http_body_util::BodyExt;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{Duration, timeout},
};

#[tokio::test]
async fn a_client_that_offers_both_protocols_gets_http_2_and_any_other_http_1() {
    let (both, one) = (start(Some(7)).await, start(None).await);
    let agreed = async |server: &client::Server, names: &[&str]| {
        let stream = server.connect(names).await.unwrap();
        stream
            .get_ref()
            .1
            .alpn_protocol()
            .map(|name| String::from_utf8(name.to_vec()).unwrap())
    };
    assert_eq!(agreed(&both, &["http/1.1", "h2"]).await.as_deref(), Some("h2"));
    assert_eq!(agreed(&both, &["http/1.1"]).await.as_deref(), Some("http/1.1"));
    assert_eq!(agreed(&one, &["h2", "http/1.1"]).await.as_deref(), Some("http/1.1"));
    assert_eq!(agreed(&both, &[]).await, None);
    assert!(both.connect(&["spdy/3"]).await.is_err());
    let mut old = both.connect(&[]).await.unwrap();
    old.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    old.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

/// The bytes of kube-apiserver 1.37.2 for a client that sends its preface and empty settings.
#[tokio::test]
async fn the_settings_are_those_of_kube_apiserver() {
    const MOST_STREAMS: u16 = 3;
    let server = start_as(|endpoint| endpoint).await;
    let mut frames = Frames::begin(&server).await;
    let payload = frames.until(SETTINGS).await.unwrap().payload;
    let mut settings: BTreeMap<_, _> = payload
        .chunks(6)
        .map(|pair| {
            (
                u16::from_be_bytes([pair[0], pair[1]]),
                u32::from_be_bytes(pair[2..].try_into().unwrap()),
            )
        })
        .collect();
    // The size of the header table may be left out where it is this.
    settings.entry(1).or_insert(4096);
    let recorded = [
        (1, 4096),
        (MOST_STREAMS, 100),
        (4, 262_144),
        (5, 262_144),
        (6, 1_048_896),
    ];
    assert_eq!(settings, BTreeMap::from(recorded));
    let window = frames.until(WINDOW_UPDATE).await.unwrap();
    assert_eq!(
        (window.stream, window.payload),
        (0, 26_148_865_u32.to_be_bytes().to_vec())
    );
}

/// Go's client reports a body after HEAD as a protocol error. Status and length are those of kube-apiserver 1.37.2.
#[tokio::test]
async fn the_answer_to_head_has_the_length_of_a_body_and_no_body() {
    let server = start(Some(100)).await;
    let client = server.client().await;
    let answer = client.send("HEAD", "/livez/ping", ("accept", "*/*"), "").await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-length"], "2");
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "");
    let answer = client
        .send("HEAD", "/api/v1/namespaces/default", ("accept", "*/*"), "")
        .await;
    assert_eq!(answer.status(), 405);
    assert_ne!(answer.headers()["content-length"], "0");
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "");
}

#[tokio::test]
async fn one_connection_lists_watches_and_patches() {
    let server = start(Some(100)).await;
    let client = server.client().await;
    let mut watch = client.watch().await;
    client.create("a").await;
    let (code, list) = whole(client.get(CONFIG_MAPS).await).await;
    assert_eq!((code, &list["items"][0]["metadata"]["name"]), (200, &json!("a")));
    let path = format!("{CONFIG_MAPS}/a?fieldManager=test");
    let patched = client
        .write("PATCH", &path, "application/merge-patch+json", r#"{"data":{"b":"1"}}"#)
        .await;
    assert_eq!((patched.0, &patched.1["data"]), (200, &json!({"b": "1"})));
    let applied = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"c":"2"}}"#;
    let applied = client
        .write("PATCH", &path, "application/apply-patch+yaml", applied)
        .await;
    assert_eq!((applied.0, &applied.1["data"]), (200, &json!({"b": "1", "c": "2"})));
    let (code, refused) = client.write("POST", CONFIG_MAPS, "application/json", "{").await;
    assert_eq!((code, &refused["reason"]), (400, &json!("BadRequest")));
    for (kind, data) in [
        ("ADDED", json!(null)),
        ("MODIFIED", json!({"b": "1"})),
        ("MODIFIED", json!({"b": "1", "c": "2"})),
    ] {
        let event = event(&mut watch).await.unwrap();
        assert_eq!((&event["type"], &event["object"]["data"]), (&json!(kind), &data));
    }
}

#[tokio::test]
async fn large_answers_are_compressed_and_flow_controlled() {
    let server = start(Some(100)).await;
    let client = server.client().await;
    let data = "x".repeat(900_000);
    for name in ["a", "b", "c"] {
        let body = json!({"metadata": {"name": name}, "data": {"x": data}}).to_string();
        assert_eq!(client.write("POST", CONFIG_MAPS, "application/json", body).await.0, 201);
    }
    let (code, list) = whole(client.get(CONFIG_MAPS).await).await;
    assert_eq!((code, list["items"].as_array().unwrap().len()), (200, 3));
    let compressed = client.send("GET", CONFIG_MAPS, ("accept-encoding", "gzip"), "").await;
    assert_eq!(compressed.headers()["content-encoding"], "gzip");
}

#[tokio::test]
async fn two_thousand_watches_share_a_connection() {
    const WATCHES: usize = 2000;
    let server = start(Some(4000)).await;
    let client = server.client().await;
    let mut watches = join_all((0..WATCHES).map(|_| client.watch())).await;
    client.create("seen-by-all").await;
    for watch in &mut watches {
        assert_eq!(event(watch).await.unwrap()["object"]["metadata"]["name"], "seen-by-all");
    }
    // Dropped watches leave their places.
    for _ in 0..2 {
        drop(watches);
        watches = join_all((0..WATCHES).map(|_| client.watch())).await;
    }
    assert_eq!(whole(client.get(CONFIG_MAPS).await).await.0, 200);
}

#[tokio::test]
async fn a_request_beyond_the_limit_waits_for_a_place() {
    let server = start(Some(3)).await;
    let client = server.client().await;
    // The client knows the limit as soon as it has an answer.
    client.create("a").await;
    let mut watches = join_all((0..3).map(|_| client.watch())).await;
    let mut waiting = std::pin::pin!(client.get(CONFIG_MAPS));
    assert!(timeout(Duration::from_millis(100), waiting.as_mut()).await.is_err());
    watches.pop();
    let answer = timeout(PATIENCE, waiting).await.expect("a place");
    assert_eq!(whole(answer).await.0, 200);
}

/// client-go sends one after 30 seconds without another frame, and closes the connection if it is not answered within 15.
#[tokio::test]
async fn pings_are_answered() {
    let server = start(Some(100)).await;
    let mut frames = Frames::begin(&server).await;
    for payload in [*b"12345678", *b"87654321"] {
        frames.send(PING, 0, 0, &payload).await;
        let answer = frames.until(PING).await.unwrap();
        assert_eq!((answer.flags, answer.payload), (ACK, payload.to_vec()));
    }
}
