//! Watches over WebSockets (RFC 6455), which fabric8's Java client and browsers ask for: each event is a text. They need HTTP/1.1.
//! Connections to containers, which use the same protocol, are refused before this.

mod frames;

use std::{convert::Infallible, sync::Mutex};

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt;
use hyper::{Request, body::Incoming, upgrade::OnUpgrade};
use hyper_util::rt::TokioIo;
use kubewright_machinery::{
    base64::{self, Encoding},
    url::Url,
};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::answers::Answers;
use crate::{
    digest::sha1,
    response::{self, Answer, Body},
};
use frames::Received;

/// The text after the client's key in the digest of the response (RFC 6455, 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Answers a request. If it asks for a WebSocket and its answer is a watch, the watch is left in `place`, to be
/// [sent](Watch::send) once the connection has answered.
pub async fn answer(
    answers: &Answers,
    mut request: Request<Incoming>,
    place: &Mutex<Option<Watch>>,
) -> Result<Answer, Infallible> {
    if !is_asked_for(request.headers()) {
        return answers.to(request).await;
    }
    let handshake = handshake(request.method(), request.headers());
    let upgrade = hyper::upgrade::on(&mut request);
    let answer = answers.to(request).await?;
    // Only watches are streams.
    if !answer.body().is_stream() {
        return Ok(answer);
    }
    if handshake.status() == StatusCode::SWITCHING_PROTOCOLS
        && let Ok(mut place) = place.lock()
    {
        let events = answer.into_body();
        *place = Some(Watch { upgrade, events });
    }
    Ok(handshake)
}

/// Whether a request asks for a WebSocket.
fn is_asked_for(headers: &HeaderMap) -> bool {
    let text = |name| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    };
    let mut connection = headers.get_all(header::CONNECTION).iter();
    text(header::UPGRADE).eq_ignore_ascii_case("websocket")
        && connection.any(|value| {
            value
                .to_str()
                .unwrap_or_default()
                .to_ascii_lowercase()
                .contains("upgrade")
        })
}

/// The answer that switches protocols, or refuses to, as that of `golang.org/x/net/websocket`.
fn handshake(method: &Method, headers: &HeaderMap) -> Answer {
    let text = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    };
    if *method != Method::GET {
        return response::text(405, "bad method");
    }
    let key = text("sec-websocket-key");
    if key.is_empty() {
        return response::text(400, "mismatch challenge/response");
    }
    if text("sec-websocket-version") != "13" {
        let mut refusal = response::text(400, "missing or bad WebSocket Version");
        let versions = HeaderValue::from_static("13");
        refusal.headers_mut().insert("sec-websocket-version", versions);
        return refusal;
    }
    if Url::check_request(text("origin")).is_err() {
        return response::text(403, "");
    }
    let protocol = text("sec-websocket-protocol").trim();
    if protocol.contains(',') {
        return response::text(400, "");
    }
    let accepted = base64::encode(&sha1(&format!("{key}{GUID}")), Encoding::Standard);
    let mut switching = Answer::new(Body::from(bytes::Bytes::new()));
    *switching.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let fields = switching.headers_mut();
    fields.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    fields.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    for (name, value) in [
        ("sec-websocket-accept", accepted.as_str()),
        ("sec-websocket-protocol", protocol),
    ] {
        if let Ok(value) = HeaderValue::from_str(value)
            && !value.is_empty()
        {
            fields.insert(name, value);
        }
    }
    switching
}

/// A watch whose connection changes to WebSockets.
pub struct Watch {
    upgrade: OnUpgrade,
    events: Body,
}

impl Watch {
    /// Sends the events until the watch ends, or the client closes the connection.
    pub async fn send(self) {
        let Ok(connection) = self.upgrade.await else { return };
        let (mut reader, mut writer) = tokio::io::split(TokioIo::new(connection));
        let (mut events, mut incoming) = (self.events, frames::Incoming::default());
        loop {
            let is_open = tokio::select! {
                event = events.frame() => match event.and_then(Result::ok).and_then(|frame| frame.into_data().ok()) {
                    Some(event) => writer.write_all(&frames::frame(frames::TEXT, &event)).await.is_ok(),
                    None => false,
                },
                read = reader.read_buf(&mut incoming.bytes) => {
                    read.is_ok_and(|bytes| bytes > 0) && answer_pings(&mut incoming, &mut writer).await
                }
            };
            if !is_open {
                break;
            }
        }
        // The client may have left; then nobody is to be told.
        let _ = writer.write_all(&frames::frame(frames::CLOSE, &frames::NORMAL)).await;
        let _ = writer.shutdown().await;
    }
}

/// Answers pings. Returns whether the connection stays open.
async fn answer_pings(incoming: &mut frames::Incoming, writer: &mut (impl AsyncWrite + Unpin)) -> bool {
    while let Some(received) = incoming.next() {
        let (frame, stays_open) = match received {
            Received::Ping(payload) => (frames::frame(frames::PONG, &payload), true),
            Received::Close => return false,
            Received::Violation => (frames::frame(frames::CLOSE, &frames::PROTOCOL_ERROR), false),
        };
        if writer.write_all(&frame).await.is_err() || !stays_open {
            return false;
        }
    }
    true
}
