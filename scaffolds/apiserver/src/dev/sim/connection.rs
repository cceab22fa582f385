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
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until};
use tower::{BoxError, ServiceExt};

use super::{
    call::{Class, SentRequest},
    external::{ExternalSystem, SystemContents},
    fault::Fault,
    open_watch::OpenWatch,
    processes::{End, RESTART},
    world::World,
};
use crate::{Peer, response::Body, user::User};

type ApiRequest = Request<Full<Bytes>>;
type ApiAnswer = Response<UnsyncBoxBody<Bytes, BoxError>>;

/// How long a request without an answer waits.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The time between the start of the successor and a delayed write.
const DELAYED: Duration = Duration::from_secs(10);
/// The time for which a process works on beside its successor: enough to try a few times to renew its lease.
const LINGERS: Duration = Duration::from_secs(20);

/// A process' connection to the simulated API server: a tower service for `kube::Client::new`. Clones are the same
/// connection.
#[derive(Clone)]
pub struct Connection {
    world: Arc<World>,
    process: Arc<Process>,
    /// The system that answers instead of the API server.
    system: Option<ExternalSystem>,
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
        Self {
            world,
            process,
            system: None,
        }
    }

    /// The process' connection to another system, such as an HTTP service, whose requests meet the faults of writes and reads
    /// too. `answer` carries out each request on what the system holds, which all processes of a run share: see
    /// [`documents`](super::documents). When all is quiet it is compared as objects are, and nothing may be left at the end.
    #[must_use]
    pub fn external(
        &self,
        name: &str,
        answer: impl Fn(&mut SystemContents, &Request<Bytes>) -> Response<Bytes> + Send + Sync + 'static,
    ) -> Self {
        Self {
            system: Some(ExternalSystem::new(name, answer)),
            ..self.clone()
        }
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

    fn tell(&self, call: &SentRequest, outcome: &str) {
        let what = format!("{}{outcome}", call.text);
        self.world.tell_request(&self.name(call), what, call.target());
    }

    fn refusal(&self, code: u16) -> ApiAnswer {
        let mut answer = refusal(code);
        if self.system.is_some() {
            *answer.body_mut() = full(Bytes::new());
        }
        answer
    }

    fn is_dead(&self) -> bool {
        self.process.dead.load(Ordering::Relaxed)
    }

    fn die(&self, end: End) {
        self.process.dead.store(true, Ordering::Relaxed);
        self.end(end);
    }

    /// Lets another process start.
    fn end(&self, end: End) {
        self.world.stir();
        let process = Some(self.process.number);
        // The run may be over.
        let _ = self.world.kill.send(End { process, ..end });
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
        let call = match &self.system {
            None => SentRequest::of(&request),
            Some(system) => SentRequest::to_system(&system.name, &request),
        };
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
        if fault == Some(Fault::Overlap) {
            self.world.tell_fault(Fault::Overlap);
            self.end(End {
                lingers: LINGERS,
                ..End::default()
            });
            sleep(RESTART + DELAYED).await;
            if self.is_dead() {
                return pending().await;
            }
        }
        let request = self.of_the_past(request, &call).await;
        let before = self.world.version();
        let answer = self.carry_out(request, &call).await?;
        if let Some(fault @ (Fault::CrashAfter | Fault::CrashStale | Fault::Lost)) = fault {
            self.world.tell_fault(fault);
            if fault == Fault::Lost {
                return Err(io::Error::from(io::ErrorKind::ConnectionReset).into());
            }
            let past = (fault == Fault::CrashStale).then_some(before);
            self.die(End { past, ..End::default() });
            return pending().await;
        }
        Ok(answer)
    }

    /// Carries out a request that meets no fault.
    async fn carry_out(&self, request: ApiRequest, call: &SentRequest) -> Result<ApiAnswer, BoxError> {
        let before = self.world.version();
        let (answer, is_change) = match &self.system {
            None => {
                // The service never fails.
                let answer = self.world.server.service().oneshot(request).await;
                let answer = answer.map_err(|never| match never {})?;
                let is_change = self.world.version() != before;
                (answer.map(|body| self.body(body, call)), is_change)
            }
            Some(system) => {
                let (parts, body) = request.into_parts();
                let request = Request::from_parts(parts, body.collect().await?.to_bytes());
                let (answer, is_change) = system.answer(&self.world, &request);
                (answer.map(full), is_change)
            }
        };
        self.note(call, answer.status().as_u16(), is_change);
        Ok(answer)
    }

    /// Carries out a write of a process that has ended.
    async fn carry_out_later(self, request: ApiRequest, call: SentRequest) {
        sleep(RESTART + DELAYED).await;
        // Nobody waits for the answer.
        let _ = self.carry_out(request, &call).await;
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
                self.tell(call, ": 403");
                self.world.stir();
                Some(Ok(self.refusal(403)))
            }
            Fault::Refused(code) => {
                self.tell(call, "");
                self.world.tell_fault(fault);
                self.world.stir();
                Some(Ok(self.refusal(code)))
            }
            Fault::Timeout => {
                self.tell(call, "");
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
            self.tell(call, &outcome);
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
            plural: call.plural().to_owned(),
            watches: self.world.watches.subscribe(),
            ends,
            is_over: false,
            again: None,
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

fn full(body: Bytes) -> UnsyncBoxBody<Bytes, BoxError> {
    Full::new(body).map_err(|never| match never {}).boxed_unsync()
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
    let mut answer = Response::new(full(status.to_string().into()));
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
