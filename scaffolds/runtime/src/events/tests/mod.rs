//! Events and an API server that responds, or does not, as each test configures.

mod writing;
mod yielding;

use std::{
    convert::Infallible,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};
use tower::service_fn;

use super::*;
use crate::client::{WriteGate, over};

/// The requests that arrived, and the responses: a status code for each request in turn, the last one for all others; 0
/// means no response.
#[derive(Clone, Default)]
struct Server {
    requests: Arc<Mutex<Vec<(Method, String, Value)>>>,
    codes: Arc<Mutex<Vec<u16>>>,
    most_at_once: Arc<AtomicUsize>,
    now: Arc<AtomicUsize>,
}

impl Server {
    fn answering(codes: &[u16]) -> Self {
        Self {
            codes: Arc::new(Mutex::new(codes.to_vec())),
            ..Self::default()
        }
    }

    fn client(&self, metrics: &Metrics, gate: WriteGate) -> Client {
        let server = self.clone();
        let serve = move |request: Request<Body>| {
            let server = server.clone();
            async move { Ok::<_, Infallible>(server.answer(request).await) }
        };
        over(service_fn(serve), "default", metrics, gate)
    }

    async fn answer(&self, request: Request<Body>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let body: Value = serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap();
        self.requests
            .lock()
            .unwrap()
            .push((parts.method, parts.uri.path().to_owned(), body.clone()));
        let at_once = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(at_once, Ordering::SeqCst);
        sleep(Duration::from_millis(5)).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
        let code = {
            let mut codes = self.codes.lock().unwrap();
            if codes.len() > 1 {
                codes.remove(0)
            } else {
                codes.first().copied().unwrap_or(201)
            }
        };
        if code == 0 {
            std::future::pending::<()>().await;
        }
        let failure = json!({"kind": "Status", "status": "Failure", "message": "no", "reason": "Some", "code": code});
        let body = if code < 300 { body } else { failure };
        Response::builder()
            .status(code)
            .body(Body::from(body.to_string().into_bytes()))
            .unwrap()
    }

    fn seen(&self) -> Vec<(Method, String, Value)> {
        self.requests.lock().unwrap().clone()
    }
}

struct Running {
    recorder: Recorder,
    metrics: Metrics,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Running {
    fn on(server: &Server) -> Self {
        Self::gated(server, WriteGate::open())
    }

    fn gated(server: &Server, gate: WriteGate) -> Self {
        let metrics = Metrics::new();
        let events = Events::new(server.client(&metrics, gate), &metrics);
        let (stop, stopped) = watch::channel(false);
        let recorder = events.recorder("foobar-operator", "foobar");
        Self {
            recorder,
            metrics,
            stop,
            task: tokio::spawn(events.run(stopped)),
        }
    }

    fn event(&self, name: &str, note: &str) {
        self.record_as(EventType::Normal, name, note);
    }

    fn record_as(&self, type_: EventType, name: &str, note: &str) {
        let regarding = ObjectReference {
            api_version: Some("test.example.com/v1".to_owned()),
            kind: Some("FooBar".to_owned()),
            name: Some(name.to_owned()),
            namespace: Some("ns".to_owned()),
            ..ObjectReference::default()
        };
        self.recorder.event(&regarding, type_, "Applied", "Reconcile", note);
    }

    async fn stop(self) -> Metrics {
        self.stop.send_replace(true);
        self.task.await.unwrap();
        self.metrics
    }
}

fn dropped(metrics: &Metrics, reason: &str) -> u64 {
    metrics
        .counter("kubewright_events_dropped_total", "", &[("reason", reason)])
        .get()
}
