//! The layers that every request of the client passes through: the write gate, time limits, counters.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http::{
    Method, Request, Response, StatusCode,
    header::{CONTENT_LENGTH, RETRY_AFTER, UPGRADE},
};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Either, Full, Limited};
use kube::client::Body as RequestBody;
use serde_json::{Value, json};
use tokio::time::{Instant, Sleep, sleep, timeout};
use tower::{BoxError, Service};
use tracing::{Instrument as _, Span, debug, debug_span, field::Empty};

use super::Guards;
use crate::{error::NotLeader, limit::Bucket, metrics::RestMetrics};

/// The longest silence of the API server while it reads.
const SILENCE: Duration = Duration::from_secs(30);
/// The longest silence of the API server while it writes. It waits up to 30 s for a webhook, and cancels a write after 34 s
/// (`requestTimeoutUpperBound` in `k8s.io/apiserver/pkg/endpoints/handlers/rest.go`). A client that gave up before would cancel the
/// write, and never see that the server goes on without the webhook, or which webhook does not answer.
const SILENCE_OF_WRITES: Duration = Duration::from_secs(40);

/// The innermost HTTP service of a client, guarded.
pub(super) struct Outbound<S> {
    inner: S,
    host: Arc<str>,
    metrics: RestMetrics,
    guards: Guards,
    pace: Pace,
}

/// When the next request may begin.
enum Pace {
    Unlimited,
    Limited {
        bucket: Bucket,
        /// The next request's turn, if it has been reserved.
        turn: Option<Pin<Box<Sleep>>>,
    },
}

impl Pace {
    fn of(guards: &Guards) -> Self {
        match guards.limit {
            Some(limit) => Self::Limited {
                bucket: Bucket::new(limit),
                turn: None,
            },
            None => Self::Unlimited,
        }
    }

    /// Ready once the next request may begin.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Self::Limited { bucket, turn } = self else {
            return Poll::Ready(());
        };
        let turn = turn.get_or_insert_with(|| Box::pin(sleep(bucket.reserve(Instant::now()))));
        turn.as_mut().poll(cx)
    }

    /// The request begins.
    fn begin(&mut self) {
        if let Self::Limited { turn, .. } = self {
            *turn = None;
        }
    }
}

impl<S> Outbound<S> {
    pub(super) fn new(inner: S, host: Arc<str>, metrics: RestMetrics, guards: Guards) -> Self {
        Self {
            inner,
            host,
            metrics,
            pace: Pace::of(&guards),
            guards,
        }
    }
}

impl<S, B> Service<Request<RequestBody>> for Outbound<S>
where
    S: Service<Request<RequestBody>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Either<Listened<B>, Full<Bytes>>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // All requests of a client pass through one task, in their order (kube's `Client` is a `tower::buffer`).
        ready!(self.pace.poll(cx));
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        self.pace.begin();
        // After the wait for its turn, during which the lease may have been lost.
        let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        if !reads && !self.guards.gate.is_open() {
            return Box::pin(async { Err(NotLeader.into()) });
        }
        let (kind, method) = (Kind::of(&request), request.method().clone());
        let (host, metrics) = (self.host.clone(), self.metrics.clone());
        let silence = if reads { SILENCE } else { SILENCE_OF_WRITES };
        let limit = match kind {
            Kind::Plain => Some((silence, Silence::Fails)),
            Kind::Watch { bookmarks: true } => self.guards.watch_silence.map(|limit| (limit, Silence::Ends)),
            Kind::Watch { bookmarks: false } | Kind::Session => None,
        };
        let started = Instant::now();
        let span = debug_span!(
            "HTTP",
            http.method = %request.method(),
            http.url = %request.uri(),
            http.status_code = Empty,
            server.address = &*self.host,
            // kube's name of the request, such as `patch`.
            otel.name = request.extensions().get::<&'static str>().unwrap_or(&"HTTP"),
            otel.kind = "client",
            otel.status_code = Empty,
        );
        let answer = self.inner.call(request);
        let answered = async move {
            let answer = match kind {
                Kind::Session => answer.await.map_err(Into::into),
                Kind::Plain | Kind::Watch { .. } => match timeout(silence, answer).await {
                    Ok(answer) => answer.map_err(Into::into),
                    Err(_) => Err(was_silent(silence)),
                },
            };
            let code = answer.as_ref().ok().map(|answer| answer.status().as_u16());
            let span = Span::current();
            span.record("http.status_code", code);
            if code.is_none_or(|code| code >= 400) {
                span.record("otel.status_code", "ERROR");
            }
            debug!("requested");
            metrics.requested(method.as_str(), &host, code, started.elapsed());
            let answer = answer?.map(|body| Listened {
                body,
                limit,
                silence: None,
            });
            Ok(match retry_after(&answer) {
                Some(seconds) => with_delay(answer, seconds).await,
                None => answer.map(Either::Left),
            })
        };
        Box::pin(answered.instrument(span))
    }
}

/// The timing of the response to a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A request with one response.
    Plain,
    /// The response begins at once, and continues whenever something happens.
    Watch { bookmarks: bool },
    /// A followed log, or an upgraded connection: it may be silent without limit.
    Session,
}

impl Kind {
    fn of(request: &Request<RequestBody>) -> Self {
        let mut query = request.uri().query().unwrap_or_default().split('&');
        if request.headers().contains_key(UPGRADE) || query.clone().any(|pair| pair == "follow=true") {
            Self::Session
        } else if query.clone().any(|pair| matches!(pair, "watch=true" | "watch=1")) {
            Self::Watch {
                bookmarks: query.any(|pair| pair == "allowWatchBookmarks=true"),
            }
        } else {
            Self::Plain
        }
    }
}

/// The largest body of a failure that is read to add the delay to it.
const MOST_OF_A_FAILURE: usize = 64 << 10;

/// The seconds of the header `Retry-After` of a 429 or 5xx: the responses that client-go repeats after this time
/// (`rest/with_retry.go`).
fn retry_after<B>(answer: &Response<B>) -> Option<u32> {
    let status = answer.status();
    if status != StatusCode::TOO_MANY_REQUESTS && !status.is_server_error() {
        return None;
    }
    answer.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}

/// The same failure as a `Status` with `retryAfterSeconds`, in which [`Error::class`](crate::Error::class) looks for the
/// delay. API priority and fairness, the limit of requests in flight and proxies answer with a header and a line of text.
async fn with_delay<B>(answer: Response<Listened<B>>, seconds: u32) -> Response<Either<Listened<B>, Full<Bytes>>>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let (mut parts, body) = answer.into_parts();
    let text = Limited::new(body, MOST_OF_A_FAILURE).collect().await;
    let text = text.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let known = serde_json::from_slice::<Value>(&text).ok();
    let mut status = known.filter(|known| known["kind"] == "Status").unwrap_or_else(|| {
        let line = String::from_utf8_lossy(&text);
        let reason = parts.status.canonical_reason().unwrap_or_default();
        let message = if line.trim().is_empty() { reason } else { line.trim() };
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": parts.status.as_u16(),
            "reason": reason.replace(' ', ""), "message": message})
    });
    if status["details"]["retryAfterSeconds"].as_u64().unwrap_or(0) == 0 {
        status["details"]["retryAfterSeconds"] = seconds.into();
    }
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Either::Right(Full::new(status.to_string().into())))
}

fn was_silent(limit: Duration) -> BoxError {
    io::Error::new(
        io::ErrorKind::TimedOut,
        format!("the API server did not answer for {limit:?}"),
    )
    .into()
}

/// The reaction to a silence that is too long.
#[derive(Clone, Copy)]
enum Silence {
    /// The response fails.
    Fails,
    /// The response ends as if the server had ended it, which every watcher has to handle.
    Ends,
}

/// A body that fails or ends after a silence that is too long.
pub(super) struct Listened<B> {
    body: B,
    limit: Option<(Duration, Silence)>,
    /// Runs while the body is polled.
    silence: Option<Pin<Box<Sleep>>>,
}

impl<B: Body<Data = Bytes> + Unpin> Body for Listened<B>
where
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            this.silence = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let Some((limit, silence_means)) = this.limit else {
            return Poll::Pending;
        };
        ready!(
            this.silence
                .get_or_insert_with(|| Box::pin(sleep(limit)))
                .as_mut()
                .poll(cx)
        );
        match silence_means {
            Silence::Fails => Poll::Ready(Some(Err(was_silent(limit)))),
            Silence::Ends => {
                debug!("a watch was silent for {limit:?} and was ended");
                Poll::Ready(None)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
