//! Events on their way to an API server of our own.

use std::{
    convert::Infallible,
    sync::atomic::{AtomicUsize, Ordering},
};

use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::sleep};
use tower::service_fn;

use super::{
    yielding::{CROWDED_YIELD, YIELD},
    *,
};
use crate::client::{NotLeader, WriteGate, over};

/// What arrived, and how it is answered: a status code for each request in turn, the last one for the rest; 0 is silence.
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
        let regarding = ObjectReference {
            api_version: Some("test.example.com/v1".to_owned()),
            kind: Some("FooBar".to_owned()),
            name: Some(name.to_owned()),
            namespace: Some("ns".to_owned()),
            ..ObjectReference::default()
        };
        self.recorder
            .event(&regarding, EventType::Normal, "Applied", "Reconcile", note);
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

#[tokio::test(start_paused = true)]
async fn equal_events_are_one_with_a_count() {
    let server = Server::default();
    let running = Running::on(&server);
    for _ in 0..10 {
        running.event("a", "made b");
        sleep(Duration::from_secs(1)).await;
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 2, "{seen:?}");
    let (method, path, event) = &seen[0];
    assert_eq!(
        (method, path.as_str()),
        (&Method::POST, "/apis/events.k8s.io/v1/namespaces/ns/events")
    );
    assert_eq!(event["regarding"]["kind"], "FooBar");
    assert_eq!(
        (&event["type"], &event["reason"], &event["note"]),
        (&json!("Normal"), &json!("Applied"), &json!("made b"))
    );
    assert_eq!(event["reportingController"], "foobar-operator/foobar");
    assert!(
        event["reportingInstance"]
            .as_str()
            .unwrap()
            .starts_with("foobar-operator-")
    );
    let (method, path, patch) = &seen[1];
    let name = event["metadata"]["name"].as_str().unwrap();
    assert_eq!(
        (method, path),
        (
            &Method::PATCH,
            &format!("/apis/events.k8s.io/v1/namespaces/ns/events/{name}")
        )
    );
    assert_eq!(patch["series"]["count"], 2);
    assert_eq!(patch.as_object().unwrap().len(), 1, "all else is immutable");

    running.stop().await;
    assert_eq!(
        server.seen()[2].2["series"]["count"],
        10,
        "the last word when the process ends"
    );
}

#[tokio::test(start_paused = true)]
async fn events_about_cluster_scoped_objects_go_to_the_namespace_default() {
    let server = Server::default();
    let running = Running::on(&server);
    let regarding = ObjectReference {
        name: Some("x".to_owned()),
        ..ObjectReference::default()
    };
    running.recorder.event(&regarding, EventType::Warning, "R", "A", "n");
    running.stop().await;
    assert!(server.seen()[0].1.contains("/namespaces/default/"));
}

#[tokio::test(start_paused = true)]
async fn recording_never_waits_and_what_does_not_fit_is_counted() {
    let server = Server::answering(&[0]);
    let running = Running::on(&server);
    let started = Instant::now();
    for number in 0..5000 {
        running.event(&number.to_string(), "x");
    }
    assert_eq!(started.elapsed(), Duration::ZERO);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(dropped(&running.metrics, "queue_full"), 5000 - 1000);
    assert_eq!(server.seen().len(), WRITES, "writes under way at once");
    let stopping = Instant::now();
    running.stop().await;
    assert!(
        stopping.elapsed() <= FLUSH,
        "the end is not waited for longer: {:?}",
        stopping.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_burst_is_written_side_by_side() {
    let server = Server::default();
    let running = Running::on(&server);
    for number in 0..200 {
        running.event(&number.to_string(), "x");
    }
    running.stop().await;
    assert_eq!(server.seen().len(), 200);
    assert_eq!(server.most_at_once.load(Ordering::SeqCst), WRITES);
}

#[tokio::test(start_paused = true)]
async fn an_unhealthy_api_server_is_tried_again_twelve_times() {
    let server = Server::answering(&[503, 429, 500, 201]);
    let running = Running::on(&server);
    running.event("a", "x");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(server.seen().len(), 4);
    running.event("a", "x");
    sleep(Duration::from_secs(1)).await;
    assert_eq!(server.seen()[4].0, Method::PATCH);

    let server = Server::answering(&[503]);
    let running = Running::on(&server);
    running.event("a", "x");
    sleep(Duration::from_secs(600)).await;
    assert_eq!(server.seen().len(), 12);
    assert_eq!(dropped(&running.metrics, "write_failed"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_refused_event_is_given_up_and_a_forgotten_one_made_again() {
    let server = Server::answering(&[403, 201, 404, 201]);
    let running = Running::on(&server);
    running.event("a", "x");
    sleep(Duration::from_secs(60)).await;
    assert_eq!((server.seen().len(), dropped(&running.metrics, "write_failed")), (1, 1));

    running.event("b", "x");
    sleep(Duration::from_secs(1)).await;
    running.event("b", "x");
    sleep(Duration::from_secs(1)).await;
    let seen = server.seen();
    let methods: Vec<_> = seen[1..].iter().map(|(method, ..)| method.clone()).collect();
    assert_eq!(methods, [Method::POST, Method::PATCH, Method::POST]);
    assert_eq!(seen[3].2["series"]["count"], 2);
    assert_eq!(seen[3].2["metadata"]["name"], seen[1].2["metadata"]["name"]);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_does_not_lead_records_nothing() {
    let server = Server::default();
    let running = Running::gated(&server, WriteGate::new(|| false));
    running.event("a", "x");
    sleep(Duration::from_secs(60)).await;
    assert!(server.seen().is_empty());
    assert_eq!(dropped(&running.metrics, "write_failed"), 1, "{NotLeader}");
}

#[tokio::test(start_paused = true)]
async fn spam_is_held_back_and_counted() {
    let server = Server::default();
    let running = Running::on(&server);
    for number in 0..100 {
        running.event("a", &number.to_string());
        running.event("b", "once");
    }
    let metrics = running.stop().await;
    assert_eq!(dropped(&metrics, "spam"), 75);
    let seen = server.seen();
    let of = |name: &str| {
        seen.iter()
            .filter(|(_, _, event)| event["regarding"]["name"] == name)
            .count()
    };
    assert_eq!((of("a"), of("b")), (25, 1), "b's hundred are one event of its own");
    assert!(seen.iter().any(|(_, _, event)| event["series"]["count"] == 100));
}

#[tokio::test(start_paused = true)]
async fn events_give_way_to_reconciles_for_a_second_and_then_go_one_at_a_time() {
    let server = Server::default();
    let running = Running::on(&server);
    let reconcile = running.recorder.reconciles().begin(false);
    for number in 0..20 {
        running.event(&number.to_string(), "x");
    }
    sleep(YIELD - Duration::from_millis(1)).await;
    assert_eq!(server.seen().len(), 0);
    sleep(Duration::from_millis(51)).await;
    let seen = server.seen().len();
    assert!((5..=11).contains(&seen), "one each five milliseconds: {seen}");
    assert_eq!(server.most_at_once.load(Ordering::SeqCst), 1);
    drop(reconcile);
    sleep(Duration::from_millis(20)).await;
    assert_eq!(server.seen().len(), 20, "nothing is reconciled any more");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn events_give_way_for_longer_while_objects_wait_for_a_worker() {
    let server = Server::default();
    let running = Running::on(&server);
    let crowded = running.recorder.reconciles().begin(true);
    let _alone = running.recorder.reconciles().begin(false);
    running.event("a", "x");
    sleep(CROWDED_YIELD - Duration::from_millis(1)).await;
    assert_eq!(server.seen().len(), 0);
    sleep(Duration::from_millis(2)).await;
    assert_eq!(server.seen().len(), 1);
    drop(crowded);
    running.event("b", "x");
    sleep(YIELD + Duration::from_millis(1)).await;
    assert_eq!(server.seen().len(), 2, "the crowd has gone");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_event_goes_when_the_last_reconcile_ends() {
    let server = Server::default();
    let running = Running::on(&server);
    let (one, two) = (
        running.recorder.reconciles().begin(false),
        running.recorder.reconciles().begin(false),
    );
    running.event("a", "x");
    sleep(Duration::from_millis(100)).await;
    drop(one);
    sleep(Duration::from_millis(100)).await;
    assert_eq!(server.seen().len(), 0);
    drop(two);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(server.seen().len(), 1);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn many_events_that_wait_give_way_to_nothing() {
    let server = Server::default();
    let running = Running::on(&server);
    let _reconcile = running.recorder.reconciles().begin(false);
    for number in 0..PRESSING + WRITES {
        running.event(&number.to_string(), "x");
        tokio::task::yield_now().await;
    }
    sleep(Duration::from_millis(100)).await;
    assert_eq!(server.most_at_once.load(Ordering::SeqCst), WRITES);
    assert_eq!(dropped(&running.metrics, "queue_full"), 0);
    running.stop().await;
}

/// What was logged.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Page {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn that_events_are_refused_is_said_once_a_minute() {
    let page = Page::default();
    let writer = page.clone();
    let log = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
    let guard = tracing::subscriber::set_default(log);
    let server = Server::answering(&[403]);
    let running = Running::on(&server);
    for (note, pause) in [("one", 1), ("two", 60), ("three", 1)] {
        running.event("web", note);
        sleep(Duration::from_secs(pause)).await;
    }
    running.stop().await;
    drop(guard);
    let text = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
    assert_eq!(text.matches("an event was refused: no (403)").count(), 2, "{text}");
}
