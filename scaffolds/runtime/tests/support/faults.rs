//! Faults between a client and the server of a [`World`].

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{future::BoxFuture, stream};
use http::{Request, Response};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::World;

type Reply = Response<UnsyncBoxBody<Bytes, Infallible>>;
/// Called for a request before the server, and may answer it instead.
type Hook = Arc<dyn Fn(&str, &str) -> Option<(u16, Value)> + Send + Sync>;

/// The configured faults, and the requests so far.
#[derive(Default)]
pub struct Faults {
    pub requests: Vec<String>,
    /// The paths of reads, each with its `Accept` header.
    pub accepted: Vec<(String, String)>,
    /// The paths and queries of reads, each with its `Accept` header.
    pub reads: Vec<[String; 3]>,
    pub crash: Option<Crash>,
    /// The delay of the response to a stored write, so that the watch is faster.
    pub reply_lag: Duration,
    /// Requests whose path contains this are never answered.
    pub hangs: Option<String>,
    /// The delay of a collection's watch.
    pub watch_lag: Option<(String, Duration)>,
    pub hook: Option<Hook>,
}

/// The process under test dies before or after one of its writes.
pub struct Crash {
    /// `None` once it is dead.
    writes_left: Option<usize>,
    /// Whether the write at which it dies is still stored.
    stored: bool,
}

impl Crash {
    pub fn at(write: usize, stored: bool) -> Self {
        Self {
            writes_left: Some(write),
            stored,
        }
    }

    pub fn happened(&self) -> bool {
        self.writes_left.is_none()
    }

    /// Whether the process is dead by now, and if so, whether this write is stored.
    fn dies(&mut self, writing: bool) -> Option<bool> {
        match (self.writes_left, writing) {
            (None, _) => Some(false),
            (Some(0), true) => {
                self.writes_left = None;
                Some(self.stored)
            }
            (Some(left), true) => {
                self.writes_left = Some(left - 1);
                None
            }
            (_, false) => None,
        }
    }
}

pub fn client(world: World) -> Client {
    let service = tower::service_fn(move |request: Request<Body>| {
        let world = world.clone();
        let answer: BoxFuture<'static, Result<Reply, Infallible>> =
            Box::pin(async move { Ok(world.answer(request).await) });
        answer
    });
    Client::new(service, "default")
}

impl World {
    async fn answer(&self, request: Request<Body>) -> Reply {
        let path = request.uri().path().to_owned();
        let watching = request.uri().query().is_some_and(|query| query.contains("watch=true"));
        let verb = if watching { "WATCH" } else { request.method().as_str() }.to_owned();
        let writing = !matches!(verb.as_str(), "WATCH" | "GET");
        let (dies, hangs, hook) = {
            let mut faults = self.faults();
            faults.requests.push(format!("{verb} {path}"));
            if !writing {
                let accepted = request.headers().get("accept").and_then(|types| types.to_str().ok());
                let accepted = accepted.unwrap_or_default().to_owned();
                let query = request.uri().query().unwrap_or_default().to_owned();
                faults.reads.push([path.clone(), query, accepted.clone()]);
                faults.accepted.push((path.clone(), accepted));
            }
            let dies = faults.crash.as_mut().and_then(|crash| crash.dies(writing));
            let hangs = faults.hangs.as_ref().is_some_and(|part| path.contains(part));
            (dies, hangs, faults.hook.clone())
        };
        if dies == Some(false) || hangs {
            return std::future::pending().await;
        }
        if let Some((code, body)) = hook.and_then(|hook| hook(&verb, &path)) {
            return whole(code, body);
        }
        let reply = self.forward(request, watching.then_some(path)).await;
        if dies.is_some() {
            return std::future::pending().await;
        }
        let lag = self.faults().reply_lag;
        if writing && !lag.is_zero() {
            tokio::time::sleep(lag).await;
        }
        reply
    }

    /// The server's own response; that of a watch may be delayed piece by piece.
    async fn forward(&self, request: Request<Body>, watched: Option<String>) -> Reply {
        let Ok(reply) = self.0.server.service().oneshot(request).await;
        let Some(collection) = watched else {
            return reply.map(BodyExt::boxed_unsync);
        };
        let world = self.clone();
        reply.map(|body| {
            let pieces = stream::unfold((body, world, collection), async |(mut body, world, collection)| {
                let piece = body.frame().await?;
                let lag = world.faults().watch_lag.clone();
                if let Some((_, lag)) = lag.filter(|(plural, _)| collection.ends_with(plural.as_str())) {
                    tokio::time::sleep(lag).await;
                }
                Some((piece, (body, world, collection)))
            });
            BodyExt::boxed_unsync(StreamBody::new(pieces))
        })
    }
}

fn whole(code: u16, body: Value) -> Reply {
    let body = Full::new(Bytes::from(body.to_string()));
    Response::builder()
        .status(code)
        .body(BodyExt::boxed_unsync(body))
        .expect("a response of a code and a body")
}

/// A Status as the API server sends it.
pub fn failure(code: u16, reason: &str, path: &str) -> Value {
    let mut words = path.rsplit('/');
    let (name, kind) = (words.next(), words.next());
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code, "reason": reason,
        "message": format!("{path}: {reason}"), "details": {"name": name, "kind": kind}})
}
