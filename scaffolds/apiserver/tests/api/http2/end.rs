//! Ends of connections: with the server, and when they are idle.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{Instant, timeout},
};

use super::{
    client::{CONFIG_MAPS, PATIENCE, event, start, whole},
    frames::{END_STREAM, Frames, GET, GOAWAY, HEADERS, SETTINGS},
};

#[tokio::test]
async fn a_shutdown_ends_watches_and_says_so() {
    let server = start(Some(100)).await;
    let client = server.client().await;
    let mut watch = client.watch().await;
    let mut frames = Frames::begin(&server).await;
    frames
        .request(GET, &format!("{CONFIG_MAPS}?watch=1"), 1, END_STREAM)
        .await;
    assert_eq!(frames.until(HEADERS).await.unwrap().stream, 1);
    let farewell = async {
        let mut ended = false;
        let mut away = None;
        while let Some(frame) = frames.next().await {
            ended |= frame.stream == 1 && frame.flags & END_STREAM != 0;
            away = (frame.kind == GOAWAY).then_some(frame.payload).or(away);
        }
        (ended, away.expect("a GOAWAY"))
    };
    let began = Instant::now();
    let ((), (ended, away)) = tokio::join!(server.running.shutdown(), farewell);
    // The last request that was answered is 1, and the error code is 0: none.
    assert_eq!((ended, away), (true, vec![0, 0, 0, 1, 0, 0, 0, 0]));
    assert_eq!(event(&mut watch).await, None);
    client.connection.await.unwrap().unwrap();
    assert!(began.elapsed() < Duration::from_millis(900), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_server_that_is_dropped_closes_its_connections() {
    let server = start(Some(100)).await;
    let client = server.client().await;
    let _watch = client.watch().await;
    drop(server);
    let ended = timeout(PATIENCE, client.connection).await;
    let _ = ended.expect("the connection ends").unwrap();
}

/// Whatever the client has sent of a request that it never completes.
#[tokio::test]
async fn an_idle_connection_is_closed_after_90_seconds() {
    let server = start(Some(100)).await;
    let mut frames = Frames::begin(&server).await;
    // A request in progress counts, and so does one that has ended.
    frames.request(GET, CONFIG_MAPS, 1, END_STREAM).await;
    frames.until(HEADERS).await.unwrap();
    frames.send(HEADERS, END_STREAM, 3, &[GET]).await;
    tokio::time::pause();
    let began = Instant::now();
    while frames.next().await.is_some() {}
    // The idle time had begun a moment earlier.
    let took = began.elapsed().as_secs();
    assert!((85..95).contains(&took), "{took}");
}

#[tokio::test]
async fn an_idle_connection_of_http_1_is_closed_after_90_seconds() {
    let server = start(None).await;
    let mut stream = server.connect(&[]).await.unwrap();
    let request = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    stream.write_all(request).await.unwrap();
    assert!(stream.read(&mut [0; 1024]).await.unwrap() > 0);
    tokio::time::pause();
    let began = Instant::now();
    // Hyper says nothing before it closes the connection.
    let _ = stream.read_to_end(&mut Vec::new()).await;
    let took = began.elapsed().as_secs();
    assert!((85..95).contains(&took), "{took}");
}

#[tokio::test]
async fn a_client_that_says_nothing_is_not_waited_for() {
    let server = start(Some(100)).await;
    let _silent = server.connect(&["h2"]).await.unwrap();
    let mut frames = Frames::begin(&server).await;
    frames.until(SETTINGS).await.unwrap();
    timeout(PATIENCE, server.running.shutdown()).await.expect("a shutdown");
}

#[tokio::test]
async fn a_connection_with_a_silent_watch_stays() {
    let server = start(Some(100)).await;
    let client = server.client().await;
    let mut watch = client.watch().await;
    tokio::time::pause();
    tokio::time::sleep(Duration::from_secs(600)).await;
    tokio::time::resume();
    client.create("a").await;
    assert_eq!(event(&mut watch).await.unwrap()["type"], "ADDED");
    assert_eq!(whole(client.get(CONFIG_MAPS).await).await.0, 200);
}
