//! What all parts of one run share: the API server, the schedule, and what has happened so far. It decides which request
//! meets which fault, and never acts by itself.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};
use tower::ServiceExt;

use super::{
    call::{Class, SentRequest},
    chance,
    fault::{At, Fault, Schedule, UserAction},
};
use crate::server::ApiServer;

/// Requests of one text in a minute that are no loop.
const WRITES_A_MINUTE: u32 = 240;
const READS_A_MINUTE: u32 = 1200;

/// A line of a trace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct TraceStep {
    pub at: Duration,
    /// Who does it: `operator 1`, `user`, or nobody for a fault or a heading.
    pub who: String,
    pub what: String,
    /// Whether this is one of the schedule's faults.
    pub is_fault: bool,
}

/// The state of all watches.
#[derive(Clone, Copy, Default)]
pub(super) struct Watches {
    pub muted: bool,
    pub late: bool,
    /// Each change ends those that are open.
    pub ends: u64,
}

/// One run.
pub(super) struct World {
    pub server: ApiServer,
    pub seed: u64,
    pub schedule: Schedule,
    pub watches: watch::Sender<Watches>,
    /// Ends the present process; the next one gets lists of this version, if there is one.
    pub kill: mpsc::UnboundedSender<Option<u64>>,
    /// What users are to do at once, for the run's users.
    pub interfere: mpsc::UnboundedSender<UserAction>,
    began: Instant,
    book: Mutex<Book>,
}

/// What has happened so far.
pub(super) struct Book {
    pub steps: Vec<TraceStep>,
    pub phase: usize,
    /// The writes so far, and the phase of each read.
    pub writes: Vec<Sent>,
    pub reads: Vec<usize>,
    /// When something was last written, or failed.
    pub active: Instant,
    /// The request that is sent in a loop.
    pub hot: Option<String>,
    /// The processes that ended by themselves, with their errors.
    pub ended: Vec<String>,
    /// How many of the faults have happened.
    pub happened: usize,
    counts: BTreeMap<String, Count>,
}

/// A write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub phase: usize,
    pub is_delete: bool,
}

#[derive(Default)]
struct Count {
    minute: u64,
    requests: u32,
}

impl World {
    pub(super) fn new(server: ApiServer, seed: u64, schedule: Schedule, channels: Channels) -> Self {
        let now = Instant::now();
        Self {
            server,
            seed,
            schedule,
            watches: watch::Sender::default(),
            kill: channels.kill,
            interfere: channels.interfere,
            began: now,
            book: Mutex::new(Book {
                steps: Vec::new(),
                phase: 0,
                writes: Vec::new(),
                reads: Vec::new(),
                active: now,
                hot: None,
                ended: Vec::new(),
                happened: 0,
                counts: BTreeMap::new(),
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

    pub(super) fn tell(&self, who: &str, what: impl Into<String>) {
        self.record(who, what.into(), false);
    }

    pub(super) fn tell_fault(&self, fault: Fault) {
        self.record("", fault.sentence().to_owned(), true);
        self.book().happened += 1;
    }

    fn record(&self, who: &str, what: String, is_fault: bool) {
        let step = TraceStep {
            at: self.began.elapsed(),
            who: who.to_owned(),
            what,
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
        let mut book = self.book();
        let count = book.counts.entry(call.text.clone()).or_default();
        if count.minute != minute {
            (count.minute, count.requests) = (minute, 0);
        }
        count.requests += 1;
        let requests = count.requests;
        if requests > most {
            book.hot.get_or_insert_with(|| call.text.clone());
            return None;
        }
        let text = format!("{} {minute} {requests}", call.text);
        Some(Duration::from_millis(1 + chance::hash(self.seed, &text) % 31))
    }

    /// Counts a request, and returns the fault that it meets.
    pub(super) fn meet(&self, call: &SentRequest) -> Option<Fault> {
        let mut book = self.book();
        let phase = book.phase;
        let at = match call.class {
            Class::Write => {
                book.writes.push(Sent {
                    phase,
                    is_delete: call.is_delete,
                });
                At::Write(book.writes.len() - 1)
            }
            Class::Read => {
                book.reads.push(phase);
                At::Read(book.reads.len() - 1)
            }
            Class::Watch | Class::Aside => return None,
        };
        self.faults(at).next()
    }

    /// The faults at this point.
    pub(super) fn faults(&self, at: At) -> impl Iterator<Item = Fault> {
        let points = self.schedule.0.iter().filter(move |point| point.at == at);
        points.map(|point| point.fault)
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

/// The ways from a world to those who act in it.
pub(super) struct Channels {
    pub kill: mpsc::UnboundedSender<Option<u64>>,
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
