//! The connection of one process to the API server: passes each request on, unless the world has a fault for it.

use std::{
    fmt::Display,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Buf, Bytes};
use futures::{StreamExt, future::pending, stream};
use http::{Request, Response, Uri};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until};
use tower::{BoxError, ServiceExt};

use super::{
    call::{Class, SentRequest},
    fault::Fault,
    processes::{End, RESTART},
    world::{Watches, World},
};
use crate::{Peer, response::Body, user::User};

type ApiRequest = Request<Full<Bytes>>;
type ApiAnswer = Response<UnsyncBoxBody<Bytes, BoxError>>;

/// How long a request without an answer waits.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How much later watches deliver in a phase of late events.
const LATE: Duration = Duration::from_secs(20);
/// The time between the start of the successor and a delayed write.
const DELAYED: Duration = Duration::from_secs(10);

/// A process' connection to the simulated API server: a tower service for `kube::Client::new`. Clones are the same
/// connection.
#[derive(Clone)]
pub struct Connection {
    world: Arc<World>,
    process: Arc<Process>,
}

/// The process behind a connection.
pub(super) struct Process {
    pub number: usize,
    pub dead: AtomicBool,
    /// Lists are of this version, and watches start at this time.
    pub past: Option<Past>,
    /// The seconds by which its clock is ahead.
    pub skew: i64,
    /// Its user; without one it may do everything.
    pub user: Option<User>,
}

#[derive(Clone, Copy)]
pub(super) struct Past {
    pub version: u64,
    pub until: Instant,
}

impl Connection {
    pub(super) fn new(world: Arc<World>, process: Arc<Process>) -> Self {
        Self { world, process }
    }

    /// The seed of this run, for what chooses at random in the process.
    pub fn seed(&self) -> u64 {
        self.world.seed
    }

    /// The time of the process' machine, which begins at the same time in each run and goes on with tokio's clock.
    pub fn now(&self) -> Timestamp {
        let now = self.world.server.core().clock.now();
        let now = Timestamp::UNIX_EPOCH.saturating_add(now).unwrap_or(Timestamp::MAX);
        now.saturating_add(SignedDuration::from_secs(self.process.skew))
            .unwrap_or(now)
    }

    /// The process, and the controller that sends this request.
    fn name(&self, call: &SentRequest) -> String {
        let controller = call.reconcile.as_deref().and_then(|it| it.split_once(' '));
        let controller = controller.map(|(name, _)| format!("/{name}"));
        format!("operator {}{}", self.process.number, controller.unwrap_or_default())
    }

    fn is_dead(&self) -> bool {
        self.process.dead.load(Ordering::Relaxed)
    }

    fn die(&self, end: End) {
        self.process.dead.store(true, Ordering::Relaxed);
        self.world.stir();
        // The run may be over.
        let _ = self.world.kill.send(end);
    }

    async fn pass<B>(self, request: Request<B>) -> Result<ApiAnswer, BoxError>
    where
        B: http_body::Body<Data: Buf + Send, Error: Display> + Send + 'static,
    {
        let (mut parts, body) = request.into_parts();
        let body = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
        if let Some(user) = &self.process.user {
            parts.extensions.insert(Peer::Certified(user.clone()));
        }
        self.send(Request::from_parts(parts, Full::new(body.clone())), body)
            .await
    }

    async fn send(self, request: ApiRequest, body: Bytes) -> Result<ApiAnswer, BoxError> {
        let call = SentRequest::of(&request);
        let Some(delay) = self.world.delay(&call).filter(|_| !self.is_dead()) else {
            return pending().await;
        };
        if call.class != Class::Aside {
            sleep(delay).await;
            self.world.take_turn(&call).await;
        }
        if self.is_dead() {
            return pending().await;
        }
        let before = self.world.version();
        let fault = self.world.meet(&call, body);
        if let Some(fault) = fault
            && let Some(answer) = self.instead(fault, &call).await
        {
            return answer;
        }
        if fault == Some(Fault::Delayed) {
            self.world.tell_fault(Fault::Delayed);
            self.die(End::default());
            tokio::spawn(self.carry_out_later(request, call));
            return pending().await;
        }
        let request = self.of_the_past(request, &call).await;
        // The service never fails.
        let answer = self.world.server.service().oneshot(request).await;
        let answer = answer.map_err(|never| match never {})?;
        let is_change = self.world.version() != before;
        self.note(&call, answer.status().as_u16(), is_change);
        if let Some(fault @ (Fault::CrashAfter | Fault::CrashStale | Fault::Lost)) = fault {
            self.world.tell_fault(fault);
            if fault == Fault::Lost {
                return Err(io::Error::from(io::ErrorKind::ConnectionReset).into());
            }
            let past = (fault == Fault::CrashStale).then_some(before);
            self.die(End { past, skew: 0 });
            return pending().await;
        }
        Ok(answer.map(|body| self.body(body, &call)))
    }

    /// Carries out a write of a process that has ended.
    async fn carry_out_later(self, request: ApiRequest, call: SentRequest) {
        sleep(RESTART + DELAYED).await;
        let before = self.world.version();
        let answer = self.world.server.service().oneshot(request).await;
        let code = answer.map_or(0, |answer| answer.status().as_u16());
        self.note(&call, code, self.world.version() != before);
    }

    /// The outcome of a request that its fault prevents.
    async fn instead(&self, fault: Fault, call: &SentRequest) -> Option<Result<ApiAnswer, BoxError>> {
        match fault {
            Fault::CrashBefore => {
                self.world.tell_fault(fault);
                self.die(End::default());
                pending().await
            }
            Fault::Refused(403) => {
                self.world.tell(&self.name(call), format!("{}: 403", call.text));
                self.world.stir();
                Some(Ok(refusal(403)))
            }
            Fault::Refused(code) => {
                self.world.tell(&self.name(call), call.text.clone());
                self.world.tell_fault(fault);
                self.world.stir();
                Some(Ok(refusal(code)))
            }
            Fault::Timeout => {
                self.world.tell(&self.name(call), call.text.clone());
                self.world.tell_fault(fault);
                sleep(TIMEOUT).await;
                self.world.stir();
                Some(Err(io::Error::from(io::ErrorKind::TimedOut).into()))
            }
            Fault::User(action) => {
                self.world.tell_fault(fault);
                // The run may be over.
                let _ = self.world.interfere.send(action);
                // Longer than the first request of a user takes.
                sleep(Duration::from_millis(5)).await;
                None
            }
            _ => None,
        }
    }

    /// A list of a process that sees the past is one of an earlier version; its watches begin later.
    async fn of_the_past(&self, request: ApiRequest, call: &SentRequest) -> ApiRequest {
        let Some(past) = self.process.past.filter(|past| Instant::now() < past.until) else {
            return request;
        };
        match call.class {
            Class::Watch => {
                sleep_until(past.until).await;
                request
            }
            Class::Read if call.is_list => as_of(request, past.version),
            _ => request,
        }
    }

    /// A write that changes nothing, such as an apply that is repeated from time to time, leaves the world quiet.
    fn note(&self, call: &SentRequest, code: u16, is_change: bool) {
        if call.class == Class::Write {
            if is_change || code >= 300 {
                self.world.stir();
            }
            let outcome = if code < 300 { String::new() } else { format!(": {code}") };
            self.world.tell(&self.name(call), format!("{}{outcome}", call.text));
        } else if code >= 500 {
            self.world.stir();
        }
    }

    fn body(&self, body: Body, call: &SentRequest) -> UnsyncBoxBody<Bytes, BoxError> {
        let body = body.map_err(Into::into);
        if call.class != Class::Watch {
            return body.boxed_unsync();
        }
        let ends = self.world.watches.borrow().ends;
        let watch = OpenWatch {
            body: body.boxed_unsync(),
            watches: self.world.watches.subscribe(),
            ends,
            is_over: false,
        };
        let frames = stream::unfold(watch, OpenWatch::next);
        StreamBody::new(frames.boxed()).boxed_unsync()
    }
}

impl<B> tower::Service<Request<B>> for Connection
where
    B: http_body::Body<Data: Buf + Send, Error: Display> + Send + 'static,
{
    type Response = ApiAnswer;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<ApiAnswer, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        Box::pin(self.clone().pass(request))
    }
}

/// The answer to a watch, while it is sent.
struct OpenWatch {
    body: UnsyncBoxBody<Bytes, BoxError>,
    watches: tokio::sync::watch::Receiver<Watches>,
    /// The number of ends before it began.
    ends: u64,
    is_over: bool,
}

impl OpenWatch {
    async fn next(mut self) -> Option<(Result<Frame<Bytes>, BoxError>, Self)> {
        if self.is_over {
            return None;
        }
        let (mut ending, ends) = (self.watches.clone(), self.ends);
        let frame = tokio::select! {
            biased;
            // The world outlives its watches.
            _ = ending.wait_for(|watches| watches.ends > ends) => {
                self.is_over = true;
                Some(Ok(Frame::data(expired())))
            }
            frame = self.frame() => frame,
        };
        Some((frame?, self))
    }

    async fn frame(&mut self) -> Option<Result<Frame<Bytes>, BoxError>> {
        let asked = Instant::now();
        let frame = self.body.frame().await;
        let late = self.watches.borrow().late;
        // What came while an earlier frame waited is late already.
        let is_new = Instant::now() > asked;
        _ = self.watches.wait_for(|watches| !watches.muted).await;
        if late && is_new {
            sleep(LATE).await;
        }
        frame
    }
}

fn expired() -> Bytes {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "too old resource version", "reason": "Expired", "code": 410,
    });
    format!("{}\n", json!({"type": "ERROR", "object": status})).into()
}

fn refusal(code: u16) -> ApiAnswer {
    let (reason, message) = match code {
        409 => (
            "Conflict",
            "Operation cannot be fulfilled: the object has been modified; please apply your changes to the latest version and try again",
        ),
        403 => ("Forbidden", "forbidden: the permission was taken away for a while"),
        429 => (
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later",
        ),
        _ => ("InternalError", "Internal error occurred: simulated"),
    };
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    });
    let body = Full::new(Bytes::from(status.to_string()));
    let mut answer = Response::new(body.map_err(|never| match never {}).boxed_unsync());
    *answer.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
    let headers = answer.headers_mut();
    headers.insert("content-type", http::HeaderValue::from_static("application/json"));
    if code == 429 {
        headers.insert("retry-after", http::HeaderValue::from_static("1"));
    }
    answer
}

/// The same list as of an earlier version, whole.
fn as_of(request: ApiRequest, version: u64) -> ApiRequest {
    let (mut parts, body) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default();
    let selects = |pair: &&str| pair.starts_with("labelSelector=") || pair.starts_with("fieldSelector=");
    let mut pairs: Vec<String> = query.split('&').filter(selects).map(str::to_owned).collect();
    pairs.push(format!("resourceVersion={version}&resourceVersionMatch=Exact"));
    let path = format!("{}?{}", parts.uri.path(), pairs.join("&"));
    // A valid path and a part of its query.
    parts.uri = path.parse::<Uri>().unwrap_or(parts.uri);
    Request::from_parts(parts, body)
}
