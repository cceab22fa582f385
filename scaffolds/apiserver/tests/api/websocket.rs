//! Watches over WebSockets, compared with those of kube-apiserver 1.37.2.
#![cfg(feature = "serve")]

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::client::TlsStream;

use crate::served::{PATIENCE, Server, start_as};

const WATCH: &str = "/api/v1/namespaces?watch=true&fieldSelector=metadata.name%3Ddefault";
/// The key of RFC 6455, 1.3, whose answer is `s3pPLMBiTxaQ9kYGzzhZRbK+xOo=`.
const HEADERS: [(&str, &str); 6] = [
    ("Authorization", "Bearer secret"),
    ("Upgrade", "websocket"),
    ("Connection", "keep-alive, Upgrade"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ("Sec-WebSocket-Version", "13"),
    ("Origin", "https://localhost"),
];
const NORMAL_CLOSE: &[u8] = b"\x88\x02\x03\xe8";

impl Server {
    /// Sends a request with the headers of a WebSocket, some of which are changed, or left out where they are empty.
    async fn ask(&self, path: &str, changes: &[(&str, &str)]) -> TlsStream<TcpStream> {
        let mut stream = self.connect(&[]).await.unwrap();
        let mut request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n");
        let unchanged = HEADERS
            .iter()
            .filter(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
        for (name, value) in unchanged.chain(changes).filter(|(_, value)| !value.is_empty()) {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{request}\r\n").as_bytes()).await.unwrap();
        stream
    }

    /// The head of the answer and what follows, where the connection ends after it.
    async fn answer(&self, path: &str, changes: &[(&str, &str)]) -> (String, Vec<u8>) {
        ended(self.ask(path, changes).await).await
    }
}

async fn ended(mut stream: TlsStream<TcpStream>) -> (String, Vec<u8>) {
    let mut answer = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    // A server may close without a farewell of TLS.
    let _ = read.expect("the connection ends");
    let head = answer.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
    let body = answer.split_off(head);
    (String::from_utf8(answer).unwrap().to_ascii_lowercase(), body)
}

/// The texts of the frames before the one that closes the connection.
fn texts(mut frames: &[u8]) -> Vec<String> {
    let mut texts = Vec::new();
    while let [0x81, length, rest @ ..] = frames {
        let (length, rest) = match length {
            126 => (usize::from(u16::from_be_bytes([rest[0], rest[1]])), &rest[2..]),
            short => (usize::from(*short), rest),
        };
        texts.push(String::from_utf8(rest[..length].to_vec()).unwrap());
        frames = &rest[length..];
    }
    assert_eq!(frames, NORMAL_CLOSE);
    texts
}

#[tokio::test]
async fn each_event_is_a_text_and_the_end_of_the_watch_closes_the_connection() {
    let server = start_as(|endpoint| endpoint).await;
    let (head, frames) = server.answer(&format!("{WATCH}&timeoutSeconds=1"), &[]).await;
    assert!(head.starts_with("http/1.1 101 switching protocols\r\n"), "{head}");
    for field in [
        "upgrade: websocket\r\n",
        "connection: upgrade\r\n",
        "sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=\r\n",
    ] {
        assert!(head.contains(field), "{head}");
    }
    let texts = texts(&frames);
    assert!(
        texts.len() == 1
            && texts[0].starts_with(r#"{"type":"ADDED","object":{"#)
            && texts[0].contains(r#""name":"default""#)
            && texts[0].ends_with("}\n"),
        "{texts:?}"
    );
}

#[tokio::test]
async fn a_client_is_answered_while_it_watches_and_may_leave() {
    let server = start_as(|endpoint| endpoint).await;
    let masked = |first: u8, payload: &[u8]| {
        let mut frame = vec![first, 0x80 | payload.len() as u8, 0, 0, 0, 0];
        frame.extend(payload);
        frame
    };
    for (sent, expected) in [
        (masked(0x88, b"\x03\xe8"), b"".as_slice()),
        (
            [masked(0x81, b"ignored"), masked(0x89, b"hi"), masked(0x88, b"")].concat(),
            b"\x8a\x02hi",
        ),
        // Without a mask: a violation of the protocol.
        (b"\x81\x02hi".to_vec(), b"\x88\x02\x03\xea"),
    ] {
        let mut stream = server.ask(WATCH, &[]).await;
        let mut begun = [0; 600];
        let read = timeout(PATIENCE, stream.read(&mut begun)).await.unwrap().unwrap();
        assert!(begun[..read].starts_with(b"HTTP/1.1 101 "));
        stream.write_all(&sent).await.unwrap();
        let mut rest = Vec::new();
        let _ = timeout(PATIENCE, stream.read_to_end(&mut rest))
            .await
            .expect("the server closes");
        assert!(rest.ends_with(&[expected, NORMAL_CLOSE].concat()), "{sent:?}: {rest:?}");
    }
}

#[tokio::test]
async fn a_shutdown_closes_the_watches() {
    let server = start_as(|endpoint| endpoint).await;
    let mut stream = server.ask(WATCH, &[]).await;
    assert!(timeout(PATIENCE, stream.read(&mut [0; 9])).await.unwrap().unwrap() > 0);
    timeout(PATIENCE, server.running.shutdown())
        .await
        .expect("nothing is waited for");
    let mut rest = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut rest))
        .await
        .expect("the server closes");
    assert!(rest.ends_with(NORMAL_CLOSE), "{rest:?}");
}

#[tokio::test]
async fn wrong_handshakes_get_the_refusals_of_upstream() {
    let server = start_as(|endpoint| endpoint).await;
    for (changes, code, why) in [
        ([("Origin", "")], 403, ""),
        ([("Origin", "x y")], 403, ""),
        ([("Sec-WebSocket-Key", "")], 400, "mismatch challenge/response"),
        (
            [("Sec-WebSocket-Version", "8")],
            400,
            "missing or bad WebSocket Version",
        ),
        ([("Sec-WebSocket-Protocol", "a.b, c")], 400, ""),
    ] {
        let closing = [changes[0], ("Connection", "close, upgrade")];
        let (head, body) = server.answer(WATCH, &closing).await;
        assert!(head.starts_with(&format!("http/1.1 {code} ")), "{changes:?}: {head}");
        assert_eq!(String::from_utf8(body).unwrap(), why, "{changes:?}");
    }
    let (head, _) = server
        .answer(
            &format!("{WATCH}&timeoutSeconds=1"),
            &[("Sec-WebSocket-Protocol", "a.b")],
        )
        .await;
    assert!(head.contains("sec-websocket-protocol: a.b\r\n"), "{head}");
}

#[tokio::test]
async fn what_is_no_watch_or_is_refused_is_answered_over_http() {
    let server = start_as(|endpoint| endpoint).await;
    for (path, changes, code) in [
        (
            "/api/v1/namespaces/default",
            [("Connection", "close, upgrade")].as_slice(),
            200,
        ),
        (
            WATCH,
            &[("Authorization", "Bearer another"), ("Connection", "close, upgrade")],
            401,
        ),
        (
            &format!("{WATCH}&resourceVersion=nonsense"),
            &[("Connection", "close, upgrade")],
            500,
        ),
        (
            &format!("{WATCH}&timeoutSeconds=1"),
            &[("Upgrade", "SPDY/3.1"), ("Connection", "close, upgrade")],
            200,
        ),
    ] {
        let (head, body) = server.answer(path, changes).await;
        assert!(head.starts_with(&format!("http/1.1 {code} ")), "{path}: {head}");
        assert!(String::from_utf8(body).unwrap().contains(r#""kind":"#), "{path}");
    }
}
