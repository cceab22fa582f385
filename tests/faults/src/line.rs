//! One process' connection to the API server, and its faults.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt, future::pending, stream};
use http::{Method, Request, Response, Uri};
use http_body_util::{BodyExt, StreamBody, combinators::UnsyncBoxBody};
use kube::{Client, client::Body};
use kubewright_apiserver::ApiServer;
use tokio::{sync::watch, time::sleep};
use tower::{BoxError, ServiceExt, service_fn};

type Answer = Response<UnsyncBoxBody<Bytes, BoxError>>;

/// The fault at one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection fails; the write may have been carried out.
    Fails {
        /// Whether the API server has carried it out.
        stored: bool,
    },
    /// The process dies: no response to this write or to later requests, which are not carried out.
    Dies {
        /// Whether the API server has carried out this one.
        stored: bool,
    },
}

/// A connection to the API server; clones share it.
#[derive(Clone, Default)]
pub struct Line(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    /// While true, watches send nothing, not even their end.
    muted: watch::Sender<bool>,
    /// Each change ends all watches.
    cut: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    fault: Option<(usize, Fault)>,
    writes: Vec<String>,
    dead: bool,
    /// The version of lists, and for how long watches are not answered.
    past: Option<(u64, Duration)>,
}

impl Line {
    /// The `n`th write on this connection, from 0, has this fault.
    pub fn fail_at(&self, n: usize, fault: Fault) {
        self.state().fault = Some((n, fault));
    }

    /// Lists return this version, and watches are answered only after this time: an API server that lags behind.
    pub fn show_the_past(&self, version: u64, lag: Duration) {
        self.state().past = Some((version, lag));
    }

    /// From now on, until [`end_watches`](Self::end_watches), watches send nothing.
    pub fn mute_watches(&self) {
        self.0.muted.send_replace(true);
    }

    /// Ends all watches; later ones work again.
    pub fn end_watches(&self) {
        self.0.cut.send_modify(|count| *count += 1);
        self.0.muted.send_replace(false);
    }

    /// The writes that were sent so far, as `METHOD path`, without those of events, because nothing waits for them.
    pub fn writes(&self) -> Vec<String> {
        self.state().writes.clone()
    }

    /// Whether the process reached the fault.
    pub fn has_failed(&self) -> bool {
        let state = self.state();
        state.fault.is_some_and(|(at, _)| state.writes.len() > at)
    }

    pub(crate) fn client(&self, server: &ApiServer) -> Client {
        let (line, server) = (self.clone(), server.clone());
        let serve = move |request: Request<Body>| {
            let (line, server) = (line.clone(), server.clone());
            async move { line.pass(&server, request).await }
        };
        Client::new(service_fn(serve), "default")
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn pass(&self, server: &ApiServer, request: Request<Body>) -> Result<Answer, BoxError> {
        let met = self.meets(&request);
        match met {
            Some(Fault::Dies { stored: false }) => return pending().await,
            Some(Fault::Fails { stored: false }) => return Err(reset()),
            _ => {}
        }
        let watches = query(request.uri()).any(|pair| pair == "watch=true");
        let request = match self.lag() {
            Some((_, lag)) if watches => {
                sleep(lag).await;
                request
            }
            Some((version, _)) if is_list(&request) => as_of(request, version),
            _ => request,
        };
        // The service never fails.
        let answer = server
            .service()
            .oneshot(request)
            .await
            .map_err(|never| match never {})?;
        match met {
            Some(Fault::Dies { .. }) => pending().await,
            Some(Fault::Fails { .. }) => Err(reset()),
            None => Ok(answer.map(|body| self.stream(body, watches))),
        }
    }

    /// Counts a write, and returns its fault.
    fn meets(&self, request: &Request<Body>) -> Option<Fault> {
        let mut state = self.state();
        if state.dead {
            return Some(Fault::Dies { stored: false });
        }
        let path = request.uri().path();
        if *request.method() == Method::GET || path.contains("/events") {
            return None;
        }
        let n = state.writes.len();
        state.writes.push(format!("{} {path}", request.method()));
        let (_, fault) = state.fault.filter(|(at, _)| *at == n)?;
        state.dead = matches!(fault, Fault::Dies { .. });
        Some(fault)
    }

    fn lag(&self) -> Option<(u64, Duration)> {
        self.state().past
    }

    fn stream<B>(&self, body: B, watches: bool) -> UnsyncBoxBody<Bytes, BoxError>
    where
        B: http_body_util::BodyExt<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<BoxError>,
    {
        let body = body.map_err(Into::into);
        if !watches {
            return body.boxed_unsync();
        }
        let (muted, cut) = (self.0.muted.subscribe(), self.0.cut.subscribe());
        let frames = stream::unfold((body, muted, cut), |(mut body, mut muted, mut cut)| async move {
            let frame = tokio::select! {
                biased;
                _ = cut.changed() => None,
                frame = async {
                    let frame = body.frame().await;
                    // The connection owns the sender, and the stream's client owns the connection.
                    _ = muted.wait_for(|muted| !muted).await;
                    frame
                } => frame,
            };
            Some((frame?, (body, muted, cut)))
        });
        StreamBody::new(frames.boxed()).boxed_unsync()
    }
}

fn query(uri: &Uri) -> impl Iterator<Item = &str> {
    uri.query().unwrap_or_default().split('&')
}

/// A list has a `limit`, or requests any version; a single object has no query.
fn is_list(request: &Request<Body>) -> bool {
    *request.method() == Method::GET
        && query(request.uri()).any(|pair| pair.starts_with("limit=") || pair.starts_with("resourceVersion="))
}

fn as_of(request: Request<Body>, version: u64) -> Request<Body> {
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path();
    let past = format!("{path}?resourceVersion={version}&resourceVersionMatch=Exact");
    // A valid path and digits.
    parts.uri = past.parse().unwrap_or(parts.uri);
    Request::from_parts(parts, body)
}

fn reset() -> BoxError {
    io::Error::from(io::ErrorKind::ConnectionReset).into()
}
