//! Serves HTTP/1.1 to untrusted clients: connections, headers and silence are limited. Paths are handled elsewhere.
//! hyper reads and writes the protocol; the frameworks on it add routes, and none of these limits.

use std::{convert::Infallible, future::Future, io, net::IpAddr, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tracing::{debug, warn};

use super::{
    answer_body::AnswerBody,
    budget::{Budget, Reserved, Share},
    connections::{ConnectionSlot, Connections},
    limits::Limits,
    stall::Stall,
};
use crate::error::BoxError;

/// The time limit of a TLS handshake, as in Go's `http.Transport`.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The delay after a connection could not be accepted for lack of a file descriptor or memory: an immediate retry would
/// spin.
const PAUSE: Duration = Duration::from_millis(100);
/// The time limit for a request's body, and for reading a response that takes memory: the longest that an API server waits for a
/// webhook.
const BODY: Duration = Duration::from_secs(30);

/// A request.
pub struct Question {
    /// Its method.
    pub method: Method,
    /// Its path and query.
    pub uri: Uri,
    /// Its headers.
    pub headers: HeaderMap,
    /// Empty if the limits allow none.
    pub body: Bytes,
    /// The client's address.
    pub peer: IpAddr,
}

/// A response.
pub type Answer = Response<AnswerBody>;

/// Handles requests.
pub trait Handler: Send + Sync + 'static {
    /// The response to a request.
    fn answer(self: Arc<Self>, question: Question) -> BoxFuture<'static, Answer>;

    /// The longest body in bytes for this path, if it differs from the server's limits.
    fn longest(&self, _path: &str) -> Option<usize> {
        None
    }
}

/// A plain text, in the form of Kubernetes' servers.
pub fn text(status: StatusCode, text: impl Into<String>) -> Answer {
    let mut answer = Response::new(AnswerBody::of(text.into()));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

/// The settings of a server for each connection.
#[derive(Clone)]
pub(super) struct Service {
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) handler: Arc<dyn Handler>,
    pub(super) limits: Limits,
}

/// Accepts connections.
pub(super) trait Accept: Send {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, IpAddr)>> + Send;
}

impl Accept for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<(TcpStream, IpAddr)> {
        let (stream, peer) = Self::accept(self).await?;
        // Otherwise the end of a response waits for the acknowledgement of its beginning, which a client may delay by 40 ms. Go's
        // servers set it too. A stream that cannot have it serves nevertheless.
        let _ = stream.set_nodelay(true);
        Ok((stream, peer.ip().to_canonical()))
    }
}

/// Serves forever, even if connections fail.
pub(super) async fn serve(listener: impl Accept, service: Service) {
    let (connections, mut failures) = (Connections::new(service.limits.connections), 0_u32);
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            // The connection ended before it was accepted.
            Err(error) if is_of_the_peer(&error) => continue,
            Err(error) => {
                failures = failures.saturating_add(1);
                if failures.is_power_of_two() {
                    warn!(failures, "a connection could not be accepted: {error}");
                }
                // Probably out of file descriptors.
                connections.close_one();
                sleep(PAUSE).await;
                continue;
            }
        };
        failures = 0;
        let (place, service) = (connections.admit(peer), service.clone());
        let id = place.id();
        let task = tokio::spawn(async move {
            match service.tls.clone() {
                None => service.converse(stream, peer, place).await,
                Some(tls) => match timeout(HANDSHAKE, tls.accept(stream)).await {
                    Ok(Ok(stream)) => service.converse(stream, peer, place).await,
                    Ok(Err(error)) => debug!("a TLS handshake failed: {error}"),
                    Err(_) => debug!("a TLS handshake took too long"),
                },
            }
        });
        connections.serve(id, task.abort_handle());
    }
}

fn is_of_the_peer(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted
    )
}

impl Service {
    /// Answers the requests of one connection.
    async fn converse(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        peer: IpAddr,
        place: Arc<ConnectionSlot>,
    ) {
        let (handler, limits) = (self.handler, self.limits);
        let Limits {
            silence, keep_alive, ..
        } = limits;
        let service = service_fn(move |request: Request<Incoming>| {
            let (handler, place) = (handler.clone(), place.clone());
            async move {
                let (parts, body) = request.into_parts();
                place.set_busy(true);
                let most = handler.longest(parts.uri.path()).unwrap_or(limits.body);
                let share = Budget::shared().share(peer);
                let mut answer = match read(body, most, &share).await {
                    Err(refused) => refused,
                    Ok((body, _memory)) => {
                        let question = Question {
                            method: parts.method,
                            uri: parts.uri,
                            headers: parts.headers,
                            body,
                            peer,
                        };
                        handler.answer(question).await
                    }
                };
                if !answer.body_mut().try_reserve(&share) {
                    let why = "other responses use all of the memory for responses\n";
                    answer = text(StatusCode::SERVICE_UNAVAILABLE, why);
                }
                place.close_unless_read(answer.body_mut(), BODY);
                place.set_busy(false);
                Ok::<_, Infallible>(answer)
            }
        });
        let ended = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(silence)
            .keep_alive(keep_alive)
            .max_buf_size(limits.headers)
            .serve_connection(TokioIo::new(Stall::new(stream, silence)), service);
        if let Err(error) = ended.await {
            debug!("a connection ended: {error}");
        }
    }
}

/// Reads a body of at most `most` bytes, for which the process has memory.
///
/// # Errors
///
/// The response to a request whose body is too long, or does not arrive.
async fn read(body: Incoming, most: usize, share: &Arc<Share>) -> Result<(Bytes, Vec<Reserved>), Answer> {
    if most == 0 {
        return Ok((Bytes::new(), Vec::new()));
    }
    let most = most.min(share.longest_body());
    let mut body = Limited::new(body, most);
    let (mut memory, mut bytes) = (share.body(), BytesMut::new());
    let arrived = timeout(BODY, async {
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame?.into_data() else { continue };
            if memory.grow(data.len()).await.is_err() {
                return Ok(false);
            }
            bytes.extend_from_slice(&data);
        }
        Ok::<_, BoxError>(true)
    });
    match arrived.await {
        Ok(Ok(true)) => Ok((bytes.freeze(), memory.into_reserved())),
        Ok(Ok(false)) => Err(text(
            StatusCode::SERVICE_UNAVAILABLE,
            "other requests use all of the memory for requests\n",
        )),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let why = format!("the body has more than {most} bytes\n");
            Err(text(StatusCode::PAYLOAD_TOO_LARGE, why))
        }
        Ok(Err(error)) => Err(text(
            StatusCode::BAD_REQUEST,
            format!("cannot read the body: {error}\n"),
        )),
        Err(_) => Err(text(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time\n")),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::pending,
        sync::{
            Mutex,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use futures::future::{FutureExt, ready};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
        task::JoinHandle,
        time::Instant,
    };

    use super::*;
    use crate::server::connections::Most;

    /// Responds with a megabyte.
    struct Much;

    impl Handler for Much {
        fn answer(self: Arc<Self>, _: Question) -> BoxFuture<'static, Answer> {
            ready(text(StatusCode::OK, "x".repeat(1 << 20))).boxed()
        }
    }

    const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const SILENCE: Duration = Limits::METRICS.silence;

    fn service(limits: Limits) -> Service {
        Service {
            tls: None,
            handler: Arc::new(Much),
            limits,
        }
    }

    fn connect() -> (DuplexStream, JoinHandle<()>) {
        let (ours, theirs) = duplex(1024);
        let place = Connections::new(Most::FEW).admit(PEER);
        (
            ours,
            tokio::spawn(service(Limits::METRICS).converse(theirs, PEER, place)),
        )
    }

    #[tokio::test(start_paused = true)]
    async fn half_a_request_is_cut_off() {
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
    async fn a_silent_connection_is_cut_off() {
        let (_client, served) = connect();
        timeout(SILENCE * 2, served).await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_the_response_is_cut_off() {
        let (mut client, served) = connect();
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        timeout(SILENCE * 2, served).await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_a_large_response_too_slowly_is_cut_off() {
        let (mut client, theirs) = duplex(1024);
        let connections = Connections::new(Most::FEW);
        let place = connections.admit(PEER);
        let id = place.id();
        let served = tokio::spawn(service(Limits::METRICS).converse(theirs, PEER, place));
        connections.serve(id, served.abort_handle());
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let started = Instant::now();
        let mut some = [0; 1024];
        while client.read(&mut some).await.is_ok_and(|read| read > 0) {
            sleep(Duration::from_secs(1)).await;
        }
        assert!(
            (30..40).contains(&started.elapsed().as_secs()),
            "{:?}",
            started.elapsed()
        );
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

    #[tokio::test(start_paused = true)]
    async fn a_probe_is_the_only_request_of_its_connection() {
        let (mut client, theirs) = duplex(4 << 20);
        let place = Connections::new(Most::FEW).admit(PEER);
        let served = tokio::spawn(service(Limits::PROBES).converse(theirs, PEER, place));
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        served.await.unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200 "));
    }

    /// A system that has no free file descriptor for a while, and then accepts one connection.
    struct Exhausted {
        refusals: AtomicUsize,
        stream: Mutex<Option<DuplexStream>>,
    }

    impl Accept for Arc<Exhausted> {
        type Stream = DuplexStream;

        async fn accept(&self) -> io::Result<(DuplexStream, IpAddr)> {
            if self.refusals.fetch_sub(1, Ordering::Relaxed) > 1 {
                // EMFILE
                return Err(io::Error::from_raw_os_error(24));
            }
            let stream = self.stream.lock().unwrap().take();
            match stream {
                Some(stream) => Ok((stream, PEER)),
                None => pending().await,
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn without_file_descriptors_accept_is_retried_ten_times_a_second() {
        let (mut client, theirs) = duplex(4 << 20);
        let system = Arc::new(Exhausted {
            refusals: AtomicUsize::new(101),
            stream: Mutex::new(Some(theirs)),
        });
        let serving = tokio::spawn(serve(system, service(Limits::PROBES)));
        let started = Instant::now();
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        client.read_to_end(&mut Vec::new()).await.unwrap();
        assert_eq!(started.elapsed().as_secs(), 10, "for 100 refusals");
        assert!(!serving.is_finished());
    }
}
