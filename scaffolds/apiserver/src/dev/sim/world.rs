//! What all parts of one run share: the API server, the schedule, and what has happened so far. It decides which request
//! meets which fault, and never acts by itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tokio::{
    sync::{broadcast::Receiver, mpsc, watch},
    task::yield_now,
    time::Instant,
};
use tower::ServiceExt;

use super::{
    call::{Class, SentRequest},
    external::SystemContents,
    fault::{At, Fault, Point, Schedule, UserAction},
    processes::End,
};
use crate::{authorize::Refusal, meta::chance, server::ApiServer};

/// Requests of one text in a minute that are no loop.
const WRITES_A_MINUTE: u32 = 240;
const READS_A_MINUTE: u32 = 1200;
/// How many times as many requests are no loop while the watches of one kind are late: a right operator, too, creates children
/// again whose owner it does not know to be gone, and the garbage collector deletes them.
const WHILE_LATE: u32 = 4;

/// A line of a trace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct TraceStep {
    pub at: Duration,
    /// Who does it: `operator 1`, `user`, or nobody for a fault or a heading.
    pub who: String,
    pub what: String,
    /// The object of a request.
    pub object: Option<String>,
    /// Whether this is one of the schedule's faults.
    pub is_fault: bool,
}

/// The state of all watches.
#[derive(Clone, Default)]
pub(super) struct Watches {
    pub muted: bool,
    pub late: bool,
    /// The plurals of the kinds whose watches are late.
    pub late_kinds: BTreeSet<String>,
    pub doubled: bool,
    /// Each change ends those that are open.
    pub ends: u64,
}

/// One run.
pub(super) struct World {
    pub server: ApiServer,
    /// The requests that no role grants.
    pub refusals: Mutex<Receiver<Refusal>>,
    pub seed: u64,
    pub schedule: Schedule,
    pub watches: watch::Sender<Watches>,
    /// Ends the present process.
    pub kill: mpsc::UnboundedSender<End>,
    /// What users are to do at once, for the run's users.
    pub interfere: mpsc::UnboundedSender<UserAction>,
    began: Instant,
    /// What other systems hold, by their names.
    pub systems: Mutex<BTreeMap<String, SystemContents>>,
    book: Mutex<Book>,
}

/// What has happened so far.
pub(super) struct Book {
    pub steps: Vec<TraceStep>,
    pub phase: usize,
    /// The writes and the reads so far.
    pub writes: Vec<Sent>,
    pub reads: Vec<Sent>,
    /// The plurals of the kinds that the operator watches.
    pub watched: BTreeSet<String>,
    /// The requests of the operator in their order.
    pub requests: Vec<TracedRequest>,
    /// When something was last written, or failed.
    pub active: Instant,
    /// Until when the operator's writes are forbidden.
    pub forbidden: Option<Instant>,
    /// The request that is sent in a loop.
    pub hot: Option<String>,
    /// The processes that ended by themselves, with their errors.
    pub ended: Vec<String>,
    /// The faults of the schedule that have not been met.
    pub unmet: Vec<Point>,
    /// The numbers and texts of the requests of this phase that are to come, as in the run without faults.
    pub writes_to_come: Vec<(usize, String)>,
    pub reads_to_come: Vec<(usize, String)>,
    counts: BTreeMap<String, Count>,
    /// The requests that have arrived in this moment, and wait for their turn.
    arrived: Vec<String>,
}

/// A request of the operator, for the comparison of two runs.
#[derive(Clone, Debug)]
pub(super) struct TracedRequest {
    pub at: Duration,
    pub text: String,
    /// The controller and the object whose reconcile sends it, if one does.
    pub reconcile: Option<String>,
    pub body: Bytes,
}

/// A write or a read.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub phase: usize,
    pub is_delete: bool,
    pub text: String,
}

#[derive(Default)]
struct Count {
    minute: u64,
    requests: u32,
}

impl Book {
    /// Counts a request of this minute, and returns how many there are.
    fn count(&mut self, text: &str, minute: u64) -> u32 {
        let count = self.counts.entry(text.to_owned()).or_default();
        if count.minute != minute {
            (count.minute, count.requests) = (minute, 0);
        }
        count.requests += 1;
        count.requests
    }

    /// The faults at this point, which are met once.
    pub(super) fn meet(&mut self, at: At) -> Vec<Fault> {
        let met = self.unmet.extract_if(.., |point| point.at == at);
        met.map(|point| point.fault).collect()
    }
}

/// The number of a request with this text in the run without faults; after a fault, requests may be repeated or swapped.
fn next(to_come: &mut Vec<(usize, String)>, text: &str) -> Option<usize> {
    let place = to_come.iter().position(|(_, other)| other == text).unwrap_or(0);
    (place < to_come.len()).then(|| to_come.remove(place).0)
}

impl World {
    pub(super) fn new(server: ApiServer, seed: u64, schedule: Schedule, channels: Channels) -> Self {
        let now = Instant::now();
        let unmet = schedule.0.clone();
        Self {
            refusals: Mutex::new(server.refusals()),
            server,
            seed,
            schedule,
            watches: watch::Sender::default(),
            kill: channels.kill,
            interfere: channels.interfere,
            began: now,
            systems: Mutex::default(),
            book: Mutex::new(Book {
                steps: Vec::new(),
                phase: 0,
                writes: Vec::new(),
                reads: Vec::new(),
                watched: BTreeSet::new(),
                requests: Vec::new(),
                active: now,
                forbidden: None,
                hot: None,
                ended: Vec::new(),
                unmet,
                writes_to_come: Vec::new(),
                reads_to_come: Vec::new(),
                counts: BTreeMap::new(),
                arrived: Vec::new(),
            }),
        }
    }

    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The version of the last change.
    pub(super) fn version(&self) -> u64 {
        self.server.core().store.revision()
    }

    /// Whether a fault has removed the status of the samples.
    pub(super) fn is_status_wiped(&self) -> bool {
        let book = self.book();
        let mut met = self.schedule.0.iter().filter(|point| !book.unmet.contains(point));
        met.any(|point| point.fault == Fault::User(UserAction::WipeStatus))
    }

    pub(super) fn tell(&self, who: &str, what: impl Into<String>) {
        self.record(who, what.into(), None, false);
    }

    /// Tells a request for this object or collection, which may be followed by a subresource.
    pub(super) fn tell_request(&self, who: &str, what: String, target: &str) {
        let object = target.split(" (").next().map(str::to_owned);
        self.record(who, what, object, false);
    }

    pub(super) fn tell_fault(&self, fault: Fault) {
        self.record("", fault.sentence().to_owned(), None, true);
        self.stir();
    }

    /// Tells that the watches of this kind are late.
    pub(super) fn tell_late(&self, plural: &str) {
        let what = format!("watches of {plural} deliver everything 5 s late, other watches at once");
        self.record("", what, None, true);
        self.stir();
    }

    fn record(&self, who: &str, what: String, object: Option<String>, is_fault: bool) {
        let step = TraceStep {
            at: self.began.elapsed(),
            who: who.to_owned(),
            what,
            object,
            is_fault,
        };
        self.book().steps.push(step);
    }

    /// Something happened that may have consequences.
    pub(super) fn stir(&self) {
        self.book().active = Instant::now();
    }

    /// How long the request travels: a few milliseconds that depend on the seed, the request and how often it was sent, and
    /// not on the order of the requests of one moment. `None` if it is sent in a loop, and has to stop.
    pub(super) fn delay(&self, call: &SentRequest) -> Option<Duration> {
        let minute = self.began.elapsed().as_secs() / 60;
        let most = match call.class {
            Class::Write => WRITES_A_MINUTE,
            _ => READS_A_MINUTE,
        };
        let is_late = !self.watches.borrow().late_kinds.is_empty();
        let most = if is_late { most * WHILE_LATE } else { most };
        let mut book = self.book();
        if book.count(&call.text, minute) > most {
            book.hot.get_or_insert_with(|| call.text.clone());
            return None;
        }
        let identity = call.identity();
        let requests = book.count(&identity, minute);
        let text = format!("{identity} {minute} {requests}");
        Some(Duration::from_millis(1 + chance::hash(self.seed, &text) % 31))
    }

    /// Waits until all requests of this moment that precede this one have gone on: tasks are woken in no fixed order, and
    /// `select!` polls its branches in a random one.
    pub(super) async fn take_turn(&self, call: &SentRequest) {
        let text = call.identity();
        self.book().arrived.push(text.clone());
        let turn = Turn { world: self, text };
        yield_now().await;
        while self.book().arrived.iter().min() != Some(&turn.text) {
            yield_now().await;
        }
    }

    /// Counts a request with this body, and returns the fault that it meets.
    pub(super) fn meet(&self, call: &SentRequest, body: Bytes) -> Option<Fault> {
        let mut book = self.book();
        let phase = book.phase;
        if call.class != Class::Aside {
            book.requests.push(TracedRequest {
                at: self.began.elapsed(),
                text: call.text.clone(),
                reconcile: call.reconcile.clone(),
                body,
            });
        }
        let sent = Sent {
            phase,
            is_delete: call.is_delete,
            text: call.text.clone(),
        };
        let at = match call.class {
            Class::Write => {
                book.writes.push(sent);
                next(&mut book.writes_to_come, &call.text).map(At::Write)
            }
            Class::Read => {
                book.reads.push(sent);
                next(&mut book.reads_to_come, &call.text).map(At::Read)
            }
            Class::Watch => {
                book.watched.insert(call.plural().to_owned());
                return None;
            }
            Class::Aside => return None,
        };
        let is_write = call.class == Class::Write;
        let forbidden = book.forbidden.filter(|until| is_write && Instant::now() < *until);
        let fault = at.and_then(|at| book.meet(at).pop());
        fault.or(forbidden.map(|_| Fault::Refused(403)))
    }

    /// A user's request, which meets no fault: the code of the answer, and its body.
    pub(super) async fn ask(&self, request: UserRequest<'_>) -> (u16, Value) {
        let body = match request.body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let built = Request::builder()
            .method(request.method)
            .uri(request.path)
            .header("content-type", request.content)
            .header("user-agent", "user")
            .body(Full::new(Bytes::from(body)));
        let Ok(built) = built else {
            return (0, Value::Null);
        };
        let answer = match self.server.service().oneshot(built).await {
            Ok(answer) => answer,
            Err(never) => match never {},
        };
        let code = answer.status().as_u16();
        let body = answer.into_body().collect().await;
        let body = body.map(|body| serde_json::from_slice(&body.to_bytes()).unwrap_or_default());
        (code, body.unwrap_or_default())
    }
}

/// A request that waits for its turn, or is given up.
struct Turn<'a> {
    world: &'a World,
    text: String,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let arrived = &mut self.world.book().arrived;
        if let Some(n) = arrived.iter().position(|text| *text == self.text) {
            arrived.remove(n);
        }
    }
}

/// The ways from a world to those who act in it.
pub(super) struct Channels {
    pub kill: mpsc::UnboundedSender<End>,
    pub interfere: mpsc::UnboundedSender<UserAction>,
}

/// A request of a user.
pub(super) struct UserRequest<'a> {
    pub method: Method,
    pub path: &'a str,
    pub content: &'static str,
    pub body: Value,
}

impl<'a> UserRequest<'a> {
    pub(super) fn new(method: Method, path: &'a str) -> Self {
        Self {
            method,
            path,
            content: "application/json",
            body: Value::Null,
        }
    }

    pub(super) fn merge(path: &'a str, body: Value) -> Self {
        Self {
            method: Method::PATCH,
            path,
            content: "application/merge-patch+json",
            body,
        }
    }
}
