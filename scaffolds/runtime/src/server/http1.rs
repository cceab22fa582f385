//! Serves HTTP/1.1 to anybody, trusting nobody: connections, headers and silence are bounded. It knows no paths.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri, header};
use http_body_util::Full;
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::Semaphore,
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tracing::{debug, warn};

use super::stall::Stall;

/// Connections open at once. The kubelet and two Prometheus need five; the rest wait in the system's queue.
const CONNECTIONS: usize = 64;
/// How long a client may take for a request's headers, or send nothing between two requests (controller-runtime,
/// `pkg/internal/httpserver/server.go`: `ReadHeaderTimeout`), and to take any part of the answer.
pub(super) const SILENCE: Duration = Duration::from_secs(32);
/// How long a TLS handshake may take; Go's `http.Transport` gives up then, too.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Bytes of a request's line and headers. A bearer token has a few thousand.
const HEADERS: usize = 64 * 1024;

/// A question. Bodies are not read: nothing here takes one.
pub(super) struct Question {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
}

/// An answer.
pub(super) type Answer = Response<Full<Bytes>>;

/// What is served.
pub(super) trait Handler: Send + Sync + 'static {
    fn answer(self: Arc<Self>, question: Question) -> BoxFuture<'static, Answer>;
}

/// A plain text, as Kubernetes' servers send it.
pub(super) fn text(status: StatusCode, text: impl Into<String>) -> Answer {
    let mut answer = Response::new(Full::from(text.into()));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

/// Serves for ever.
pub(super) async fn serve(listener: TcpListener, tls: Option<TlsAcceptor>, handler: Arc<dyn Handler>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        // Never closed, so there always comes a place.
        let place = places.clone().acquire_owned().await;
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, most likely: trying at once would spin.
                warn!("a connection could not be accepted: {error}");
                sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let (tls, handler) = (tls.clone(), handler.clone());
        tokio::spawn(async move {
            match tls {
                None => converse(stream, handler).await,
                Some(tls) => match timeout(HANDSHAKE, tls.accept(stream)).await {
                    Ok(Ok(stream)) => converse(stream, handler).await,
                    Ok(Err(error)) => debug!("a TLS handshake failed: {error}"),
                    Err(_) => debug!("a TLS handshake took too long"),
                },
            }
            drop(place);
        });
    }
}

/// Answers the requests of one connection.
async fn converse(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, handler: Arc<dyn Handler>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let handler = handler.clone();
        async move {
            let (parts, _) = request.into_parts();
            let question = Question {
                method: parts.method,
                uri: parts.uri,
                headers: parts.headers,
            };
            Ok::<_, Infallible>(handler.answer(question).await)
        }
    });
    let ended = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(SILENCE)
        .max_buf_size(HEADERS)
        .serve_connection(TokioIo::new(Stall::new(stream, SILENCE)), service);
    if let Err(error) = ended.await {
        debug!("a connection ended: {error}");
    }
}

#[cfg(test)]
mod tests {
    use futures::future::{FutureExt, ready};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
        task::JoinHandle,
        time::Instant,
    };

    use super::*;

    /// Answers with a megabyte.
    struct Much;

    impl Handler for Much {
        fn answer(self: Arc<Self>, _: Question) -> BoxFuture<'static, Answer> {
            ready(text(StatusCode::OK, "x".repeat(1 << 20))).boxed()
        }
    }

    fn connect() -> (DuplexStream, JoinHandle<()>) {
        let (ours, theirs) = duplex(1024);
        (ours, tokio::spawn(converse(theirs, Arc::new(Much))))
    }

    #[tokio::test(start_paused = true)]
    async fn who_sends_half_a_request_is_cut_off() {
        let (mut client, served) = connect();
        let started = Instant::now();
        client.write_all(b"GET / HTTP/1.1\r\nHost:").await.unwrap();
        served.await.unwrap();
        assert!(
            (SILENCE..SILENCE * 2).contains(&started.elapsed()),
            "{:?}",
            started.elapsed()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn who_says_nothing_at_all_is_cut_off() {
        let (_client, served) = connect();
        timeout(SILENCE * 2, served).await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_take_the_answer_is_cut_off() {
        let (mut client, served) = connect();
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        timeout(SILENCE * 2, served).await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn endless_headers_are_refused() {
        let (mut client, served) = connect();
        client.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        let header = format!("X-Much: {}\r\n", "y".repeat(1000));
        while client.write_all(header.as_bytes()).await.is_ok() {}
        served.await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    }
}
