//! Clients that do not keep to the protocol or to the server's limits.

use kubewright_apiserver::testing::LIMIT;
use tokio::time::timeout;

use super::{
    client::{CONFIG_MAPS, PATIENCE, Server, start, whole},
    frames::{CONTINUATION, DATA, END_STREAM, Frames, GET, GOAWAY, HEADERS, POST, RST_STREAM},
};

/// Other clients are answered.
async fn answers(server: &Server) {
    let client = server.client().await;
    assert_eq!(whole(client.get(CONFIG_MAPS).await).await.0, 200);
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused() {
    let server = start(Some(100)).await;
    let client = server.client().await;
    let (code, refused) = client
        .write("POST", CONFIG_MAPS, "application/json", vec![b' '; LIMIT + 1])
        .await;
    assert_eq!((code, refused["reason"].as_str()), (413, Some("RequestEntityTooLarge")));
    client.create("the-connection-is-of-use").await;
}

#[tokio::test]
async fn headers_of_more_than_a_megabyte_are_refused() {
    let server = start(Some(100)).await;
    let client = server.client().await;
    // From here on the client knows how long frames may be.
    client.create("a").await;
    for (kib, status) in [(64, 200), (1100, 431), (64, 200)] {
        let long = "x".repeat(kib * 1024);
        let answer = client.send("GET", CONFIG_MAPS, ("x-long", &long), "").await;
        assert_eq!(answer.status(), status, "{kib} KiB");
    }
}

#[tokio::test]
async fn headers_in_endless_frames_end_the_connection() {
    let server = start(Some(100)).await;
    let mut frames = Frames::begin(&server).await;
    frames.send(HEADERS, END_STREAM, 1, &[GET]).await;
    for _ in 0..10 {
        frames.send(CONTINUATION, 0, 1, &[0x84]).await;
    }
    assert!(frames.until(GOAWAY).await.is_some());
    answers(&server).await;
}

#[tokio::test]
async fn a_body_that_does_not_arrive_takes_no_longer_than_the_request_may() {
    let server = start(Some(100)).await;
    let mut frames = Frames::begin(&server).await;
    frames.request(POST, &format!("{CONFIG_MAPS}?timeout=1s"), 1, 0).await;
    let answer = timeout(PATIENCE, frames.until(DATA)).await.expect("an answer").unwrap();
    let status: serde_json::Value = serde_json::from_slice(&answer.payload).unwrap();
    assert_eq!(
        (status["code"].as_u64(), status["reason"].as_str()),
        (Some(504), Some("Timeout"))
    );
}

#[tokio::test]
async fn a_request_beyond_the_limit_is_refused() {
    const REFUSED_STREAM: u32 = 7;
    let server = start(Some(2)).await;
    let mut frames = Frames::begin(&server).await;
    for stream in [1, 3, 5] {
        frames
            .request(GET, &format!("{CONFIG_MAPS}?watch=1"), stream, END_STREAM)
            .await;
    }
    let reset = frames.until(RST_STREAM).await.unwrap();
    assert_eq!(
        (reset.stream, reset.payload),
        (5, REFUSED_STREAM.to_be_bytes().to_vec())
    );
    answers(&server).await;
}

#[tokio::test]
async fn a_client_that_cancels_what_it_begins_is_sent_away() {
    const CANCEL: u32 = 8;
    const ENHANCE_YOUR_CALM: [u8; 4] = [0, 0, 0, 11];
    let server = start(Some(100)).await;
    let mut frames = Frames::begin(&server).await;
    for stream in (1..20_000).step_by(2) {
        frames.request(GET, CONFIG_MAPS, stream, END_STREAM).await;
        frames.send(RST_STREAM, 0, stream, &CANCEL.to_be_bytes()).await;
    }
    let away = frames.until(GOAWAY).await.unwrap();
    assert_eq!(away.payload[4..8], ENHANCE_YOUR_CALM);
    answers(&server).await;
}

#[tokio::test]
async fn what_is_no_request_ends_the_connection_alone() {
    let server = start(Some(100)).await;
    // Not the compression of headers; an answer in place of a request; a frame longer than the server reads; data of nothing.
    let frames: [(u8, u8, u32, &[u8]); 4] = [
        (HEADERS, 5, 1, &[0xff; 20]),
        (HEADERS, 5, 2, &[0x88]),
        (DATA, 0, 1, &[0; 300_000]),
        (DATA, 1, 1, b"x"),
    ];
    for (kind, flags, stream, payload) in frames {
        let mut client = Frames::begin(&server).await;
        client.send(kind, flags, stream, payload).await;
        assert!(client.until(GOAWAY).await.is_some(), "{kind} {flags} {stream}");
        while client.next().await.is_some() {}
    }
    answers(&server).await;
}
