//! The HTTPS server of webhooks: routes, counts and limits requests. What is in a request and in its response is known
//! above.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt};
use http::{HeaderValue, Method, Response, StatusCode, Uri, header};
use kubewright_machinery::go::duration;
use kubewright_runtime::{
    Counter, Error, Gauge, Histogram, Metrics, Options, Result,
    component::http::{Answer, AnswerBody, Handler, Held, Identity, Question, Share, serve_api_servers, text},
};
use tokio::{
    runtime::{self, Runtime},
    time::timeout,
};

/// The time limit of a request that names none: the API's default for `timeoutSeconds`.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest time limit that an API server has (`timeoutSeconds`; admissionregistration, `validation.go`). For conversions it has
/// 30 s as well (apiextensions, `webhook_converter.go`).
const LONGEST: Duration = Duration::from_secs(30);
/// Threads of the server: if an author's code blocks one, the other answers.
const THREADS: usize = 2;
/// Upper bounds in seconds, as in controller-runtime (`pkg/webhook/internal/metrics/metrics.go`), which uses the defaults
/// of Prometheus' client library (`DefBuckets`).
const SECONDS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// The status codes of an [`Endpoint`]: an answer, something that is no request, no answer.
const CODES: [StatusCode; 3] = [
    StatusCode::OK,
    StatusCode::BAD_REQUEST,
    StatusCode::INTERNAL_SERVER_ERROR,
];

/// A webhook, as its server calls it.
pub(crate) trait Endpoint: Send + Sync + 'static {
    /// The path, which is unique on a server.
    fn path(&self) -> &str;

    /// The longest body of a request in bytes. For admission as in controller-runtime, `pkg/webhook/admission/http.go`,
    /// `maxRequestSize`.
    fn longest(&self) -> usize {
        7 << 20
    }

    /// The number of copies of a decoded body that exist while it is answered. 0: the endpoint reserves memory itself.
    fn copies(&self) -> usize {
        3
    }

    /// The response to the body of a request, in JSON, with memory of the peer's share. The API server waits for `limit`.
    fn answer(
        self: Arc<Self>,
        body: Bytes,
        limit: Duration,
        share: Arc<Share>,
    ) -> BoxFuture<'static, (StatusCode, AnswerBody)>;
}

/// The share of this machine.
#[cfg(any(test, feature = "testing"))]
pub(crate) fn local_share() -> Arc<Share> {
    Share::of(std::net::Ipv4Addr::LOCALHOST.into())
}

/// A running server. It ends when this is dropped.
pub(crate) struct Webhooks {
    address: SocketAddr,
    draining: Arc<AtomicBool>,
    /// `None` once it is being dropped.
    runtime: Option<Runtime>,
}

impl Webhooks {
    /// Listens at `--webhook-bind-address`, with threads of its own; `None` if it is turned off. The certificate is that
    /// of the files which the flags name, or else the one that is held.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the address cannot be listened on, or the certificate cannot be read.
    pub(crate) fn start(
        options: &Options,
        endpoints: Vec<Arc<dyn Endpoint>>,
        metrics: &Metrics,
        held: &Held,
    ) -> Result<Option<Self>> {
        const SERVER: &str = "the webhook server";
        let identity = match &options.webhook_cert_path {
            Some(folder) => {
                let files = [&options.webhook_cert_name, &options.webhook_cert_key].map(|name| folder.join(name));
                Identity::files(SERVER, files, metrics)?
            }
            None => Identity::held(SERVER, held),
        };
        let threads = runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("webhooks")
            .enable_all()
            .build();
        let runtime = threads.map_err(|error| Error::Setup(format!("cannot start {SERVER}'s threads: {error}")))?;
        let draining = Arc::<AtomicBool>::default();
        let mut server = Self {
            address: SocketAddr::from(([0, 0, 0, 0], 0)),
            draining: draining.clone(),
            runtime: None,
        };
        let listening = {
            let _inside = runtime.enter();
            let routes = Arc::new(Routes::new(endpoints, metrics, draining));
            serve_api_servers(
                "--webhook-bind-address",
                &options.webhook_bind_address,
                identity,
                routes,
            )
        };
        // From here on, dropping `server` ends the runtime.
        server.runtime = Some(runtime);
        let Some(address) = listening? else { return Ok(None) };
        server.address = address;
        Ok(Some(server))
    }

    /// The address that it listens at.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on, each response ends its connection, so that the API server connects to another process.
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }
}

impl Drop for Webhooks {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Dropping a runtime inside another one panics.
            runtime.shutdown_background();
        }
    }
}

/// One path, and its metrics.
struct Route {
    endpoint: Arc<dyn Endpoint>,
    seconds: Histogram,
    in_flight: Gauge,
    /// By the codes of [`CODES`].
    total: [Counter; 3],
}

impl Route {
    fn new(endpoint: Arc<dyn Endpoint>, metrics: &Metrics) -> Self {
        let labels = [("webhook", endpoint.path())];
        let total = CODES.map(|code| {
            let labels = [("code", code.as_str()), ("webhook", endpoint.path())];
            let name = "controller_runtime_webhook_requests_total";
            metrics.counter(name, "Requests to webhooks by HTTP status code.", &labels)
        });
        let seconds = "controller_runtime_webhook_latency_seconds";
        let in_flight = "controller_runtime_webhook_requests_in_flight";
        Self {
            seconds: metrics.histogram(seconds, "How long requests to webhooks took.", &labels, &SECONDS),
            in_flight: metrics.gauge(in_flight, "Requests to webhooks that are being answered.", &labels),
            total,
            endpoint,
        }
    }

    async fn answer(&self, question: Question) -> Answer {
        let (started, _counted) = (Instant::now(), InFlight::of(&self.in_flight));
        if let Some(refused) = refuse(&question) {
            return refused;
        }
        let limit = limit(&question.uri);
        let share = Share::of(question.peer);
        let memory = share.work(&question.body, self.endpoint.copies());
        let _memory = match timeout(limit, memory).await {
            Ok(Ok(reserved)) => reserved,
            Ok(Err(why)) => return text(StatusCode::PAYLOAD_TOO_LARGE, format!("{why}\n")),
            Err(_) => {
                return text(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "other requests use all of the memory\n",
                );
            }
        };
        let limit = limit.saturating_sub(started.elapsed());
        let (code, mut body) = self.endpoint.clone().answer(question.body, limit, share.clone()).await;
        self.seconds.observe_duration(started.elapsed());
        if let Some(index) = CODES.iter().position(|known| *known == code) {
            self.total[index].inc();
        }
        if let Err(why) = body.reserve(&share).await {
            return text(StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n"));
        }
        let mut answer = Response::new(body);
        *answer.status_mut() = code;
        let json = HeaderValue::from_static("application/json");
        answer.headers_mut().insert(header::CONTENT_TYPE, json);
        answer
    }
}

/// The response to a request that no API server sends.
fn refuse(question: &Question) -> Option<Answer> {
    if question.method != Method::POST {
        return Some(text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n"));
    }
    let media = question.headers.get(header::CONTENT_TYPE);
    let media = media.and_then(|it| it.to_str().ok()).unwrap_or_default();
    let is_json = media.split(';').next().unwrap_or_default().trim() == "application/json";
    (!is_json).then(|| text(StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected application/json\n"))
}

/// The time that the API server waits, from the query: `?timeout=10s`, and at most [`LONGEST`].
fn limit(uri: &Uri) -> Duration {
    let mut pairs = uri.query().unwrap_or_default().split('&');
    let stated = pairs.find_map(|pair| pair.strip_prefix("timeout="));
    let nanos = stated.and_then(|text| duration(text).ok());
    let nanos = nanos
        .and_then(|nanos| u64::try_from(nanos).ok())
        .filter(|nanos| *nanos > 0);
    nanos.map_or(TIMEOUT, Duration::from_nanos).min(LONGEST)
}

/// A request that is being answered.
struct InFlight(Gauge);

impl InFlight {
    fn of(gauge: &Gauge) -> Self {
        gauge.add(1.0);
        Self(gauge.clone())
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.add(-1.0);
    }
}

/// All webhooks of one server.
struct Routes {
    by_path: BTreeMap<String, Route>,
    draining: Arc<AtomicBool>,
}

impl Routes {
    fn new(endpoints: Vec<Arc<dyn Endpoint>>, metrics: &Metrics, draining: Arc<AtomicBool>) -> Self {
        let route = |endpoint: Arc<dyn Endpoint>| (endpoint.path().to_owned(), Route::new(endpoint, metrics));
        Self {
            by_path: endpoints.into_iter().map(route).collect(),
            draining,
        }
    }
}

impl Handler for Routes {
    fn longest(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).map(|route| route.endpoint.longest())
    }

    fn answer(self: Arc<Self>, question: Question) -> BoxFuture<'static, Answer> {
        async move {
            let mut answer = match self.by_path.get(question.uri.path()) {
                Some(route) => route.answer(question).await,
                None => text(StatusCode::NOT_FOUND, "404 page not found\n"),
            };
            if self.draining.load(Ordering::Relaxed) {
                let close = HeaderValue::from_static("close");
                answer.headers_mut().insert(header::CONNECTION, close);
            }
            answer
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests;
