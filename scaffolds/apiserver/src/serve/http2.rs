//! A connection of HTTP/2: many requests at once, so that a client keeps its watches on few connections.
//!
//! Pings, which client-go sends where nothing else was sent for 30 seconds, are answered by `h2`. A request's body and time
//! have the limits that the server has for all protocols.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use hyper::{Method, header::CONTENT_LENGTH, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::{net::TcpStream, sync::watch, time::timeout};
use tokio_rustls::server::TlsStream;

use super::{
    answers::Answers,
    connection::{HEADERS, IDLE},
};
use crate::response::{Answer, Body};

/// The protocol's name in handshakes (RFC 9113, 3.2).
pub const NAME: &[u8] = b"h2";
/// The most requests in progress on a connection of HTTP/2, unless said otherwise (apiserver,
/// `pkg/server/secure_serving.go`). Go's clients open another connection for more.
pub const STREAMS: u32 = 100;
/// The number of bytes of a request's body that a client may send before they are read, and the longest frame that it may send:
/// `resourceBody99Percentile` of the same file. A connection may have as much for each of its requests.
const BUFFER: u32 = 256 * 1024;
/// The most bytes that a connection may have unread (RFC 9113, 6.9.1).
const LARGEST_WINDOW: u32 = (1 << 31) - 1;
/// The longest headers of a request, as this protocol counts them: Go adds 32 bytes for each of ten fields
/// (`net/http/h2_bundle.go`, `maxHeaderListSize`). `h2` reads six frames of them at most, which a client may fill up to [`BUFFER`].
const HEADER_LIST: u32 = HEADERS as u32 + 320;
/// The time that an idle client has to close its side after GOAWAY (`goAwayTimeout` of Go's server).
const FAREWELL: Duration = Duration::from_secs(1);

/// Answers the requests of one connection until the client ends it, it is idle for too long, or the server stops. `streams` is
/// how many requests may be in progress; the settings say so, and requests beyond it are refused.
pub async fn converse(stream: TlsStream<TcpStream>, answers: Answers, streams: u32) {
    let mut stop = answers.stop.clone();
    let (requests, in_progress) = watch::channel(0);
    let requests = Arc::new(requests);
    let service = service_fn(move |request| {
        let counted = Counted::new(Arc::clone(&requests));
        let head = request.method() == Method::HEAD;
        let answer = answers.to(request);
        async move {
            let answer = answer.await?;
            let answer = if head { headers_alone(answer) } else { answer };
            Ok::<_, Infallible>(answer.map(|body| Answering {
                body,
                _counted: counted,
            }))
        }
    });
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(streams)
        .max_frame_size(BUFFER)
        .initial_stream_window_size(BUFFER)
        .initial_connection_window_size(BUFFER.saturating_mul(streams).min(LARGEST_WINDOW))
        .max_header_list_size(HEADER_LIST)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    // An error of the connection concerns the client alone. A graceful shutdown sends GOAWAY, and waits for what is in progress.
    tokio::select! {
        _ = connection.as_mut() => {}
        _ = stop.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
        () = idle(in_progress) => {
            connection.as_mut().graceful_shutdown();
            let _ = timeout(FAREWELL, connection).await;
        }
    }
}

/// The answer to a HEAD, with the length of the body that a GET would get. Hyper drops the body in HTTP/1.1 only.
fn headers_alone(answer: Answer) -> Answer {
    let (mut parts, body) = answer.into_parts();
    if let Some(length) = body.size_hint().exact() {
        parts.headers.insert(CONTENT_LENGTH, length.into());
    }
    Answer::from_parts(parts, Bytes::new().into())
}

/// Ready as soon as no request has been in progress for [`IDLE`].
async fn idle(mut in_progress: watch::Receiver<usize>) {
    loop {
        let none = *in_progress.borrow_and_update() == 0;
        let changed = match none {
            true => timeout(IDLE, in_progress.changed()).await,
            false => Ok(in_progress.changed().await),
        };
        if !matches!(changed, Ok(Ok(()))) {
            return;
        }
    }
}

/// A request in progress, counted until it is dropped.
struct Counted(Arc<watch::Sender<usize>>);

impl Counted {
    fn new(requests: Arc<watch::Sender<usize>>) -> Self {
        requests.send_modify(|requests| *requests += 1);
        Self(requests)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|requests| *requests -= 1);
    }
}

/// The body of an answer whose request is in progress until the body is sent.
struct Answering {
    body: Body,
    _counted: Counted,
}

impl http_body::Body for Answering {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
