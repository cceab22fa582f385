//! The connection between the informer under test and the API server: records requests, and injects faults.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard},
};

use bytes::Bytes;
use futures::stream;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use kube::{Client, client::Body};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};
use tokio::{sync::watch, time::Instant};
use tower::{BoxError, ServiceExt, service_fn};

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// Clones share the connection.
#[derive(Clone, Default)]
pub struct Line(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    /// Each change ends all watches.
    cut: watch::Sender<u64>,
    events_held: watch::Sender<bool>,
    lists_held: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    down: bool,
    /// Namespaces (`*` for all) with the status with which every request is refused.
    refused: BTreeMap<String, (u16, &'static str)>,
    old_list: Option<Value>,
    /// Pages after the first are answered with 410.
    pages_expire: bool,
    requests: Vec<(Instant, String)>,
    accepted: BTreeSet<String>,
}

impl Line {
    pub(super) fn client(&self, server: &ApiServer) -> Client {
        let (line, server) = (self.clone(), server.clone());
        let serve = move |request: Request<Body>| {
            let (line, server) = (line.clone(), server.clone());
            async move { line.pass(&server, request).await }
        };
        Client::new(service_fn(serve), "default")
    }

    /// Ends the watches, which are then resumed.
    pub fn cut(&self) {
        self.0.cut.send_modify(|count| *count += 1);
    }

    /// Refuses connections and ends existing ones, or accepts them again.
    pub fn set_down(&self, down: bool) {
        self.state().down = down;
        self.cut();
    }

    /// Refuses all requests for a namespace, `*` for those for all namespaces.
    pub fn refuse(&self, namespace: &str, status: Option<(u16, &'static str)>) {
        match status {
            Some(status) => _ = self.state().refused.insert(namespace.to_owned(), status),
            None => _ = self.state().refused.remove(namespace),
        }
    }

    /// Holds back watch events, or releases them.
    pub fn hold_events(&self, hold: bool) {
        self.0.events_held.send_replace(hold);
    }

    /// Holds back the responses to lists, which contain the state at the time of the request, or releases them.
    pub fn hold_lists(&self, hold: bool) {
        self.0.lists_held.send_replace(hold);
    }

    /// Answers the next list with this earlier state, as a server that lags behind would.
    pub fn answer_next_list(&self, list: Value) {
        self.state().old_list = Some(list);
    }

    /// Answers each page after the first as if the version of the first one were forgotten.
    pub fn expire_pages(&self) {
        self.state().pages_expire = true;
    }

    /// The times of the requests whose path and query contain `part`.
    pub fn requests(&self, part: &str) -> Vec<Instant> {
        let state = self.state();
        let asked = state.requests.iter().filter(|(_, uri)| uri.contains(part));
        asked.map(|(at, _)| *at).collect()
    }

    /// The number of list requests, counting pages.
    pub fn lists(&self) -> usize {
        self.state().requests.iter().filter(|(_, uri)| !watches(uri)).count()
    }

    /// The requested media types.
    pub fn accepted(&self) -> BTreeSet<String> {
        self.state().accepted.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().expect("no test panics in here")
    }

    async fn pass(&self, server: &ApiServer, request: Request<Body>) -> Result<Answer, BoxError> {
        let uri = request.uri().to_string();
        let mut answer = None;
        {
            let mut state = self.state();
            state.requests.push((Instant::now(), uri.clone()));
            let accept = request.headers().get("accept").and_then(|types| types.to_str().ok());
            state.accepted.extend(accept.map(str::to_owned));
            if state.down {
                return Err("connection refused".into());
            }
            if let Some((code, message)) = state.refused.get(namespace_of(&uri)) {
                let status = json!({
                    "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message,
                });
                return Ok(whole(*code, &status));
            }
            if state.pages_expire && uri.contains("continue=") {
                let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410,
                    "reason": "Expired", "message": "The provided continue parameter is too old"});
                return Ok(whole(410, &status));
            }
            if !watches(&uri) {
                answer = state.old_list.take().map(|list| whole(200, &list));
            }
        }
        let answer = match answer {
            Some(answer) => answer,
            // The service never fails.
            None => server.service().oneshot(request).await?.map(BodyExt::boxed_unsync),
        };
        if watches(&uri) {
            return Ok(answer.map(|body| self.watched(body)));
        }
        self.0.lists_held.subscribe().wait_for(|held| !held).await?;
        Ok(answer)
    }

    /// The pieces of a watch response, held back while events are held, until the connection is cut.
    fn watched(&self, body: UnsyncBoxBody<Bytes, Infallible>) -> UnsyncBoxBody<Bytes, Infallible> {
        let (cut, held) = (self.0.cut.subscribe(), self.0.events_held.subscribe());
        let pieces = stream::unfold((body, cut, held), async |(mut body, mut cut, mut held)| {
            let piece = async {
                let piece = body.frame().await;
                // An error means that the connection was dropped.
                let _ = held.wait_for(|held| !held).await;
                piece
            };
            let piece = tokio::select! {
                biased;
                _ = cut.changed() => None,
                piece = piece => piece,
            };
            Some((piece?, (body, cut, held)))
        });
        StreamBody::new(pieces).boxed_unsync()
    }
}

fn watches(uri: &str) -> bool {
    uri.contains("watch=true")
}

fn namespace_of(uri: &str) -> &str {
    let path = uri.split('?').next().unwrap_or_default();
    let rest = path.split_once("/namespaces/").map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split('/').next()).unwrap_or("*")
}

fn whole(code: u16, body: &Value) -> Answer {
    let body = Full::new(Bytes::from(body.to_string()));
    let answer = Response::builder().status(code).body(body.boxed_unsync());
    answer.expect("a valid response")
}
