//! Every log line of a reconcile names its controller and object, and an outage has few lines. In a program of its own: what
//! a log gets depends on which other threads had none when a line was first reached.

mod support;

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Client, client::Body};
use kubewright_runtime::{
    Action, Context, Controller, Election, ElectionConfig, Error, Manager, Metrics, Reconciler, Result,
};
use serde_json::{Value, json};
use support::{
    World,
    kinds::{CONFIG_MAPS, FooBar, Running, at, foobar, seconds, world},
    notes::child,
    page::Page,
};
use tokio::task::yield_now;
use tower::{BoxError, ServiceExt, service_fn};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::format::FmtSpan;

struct Talks;

impl Reconciler<FooBar> for Talks {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        tracing::info!(id = cx.reconcile_id(), "looking at {}", foobar.spec.target);
        match foobar.spec.target.as_str() {
            "bad" => Err(Error::terminal("BadTarget", "no such target")),
            _ => Ok(Action::Done),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn log_lines_and_spans_of_a_reconcile_have_controller_object_number_and_result() {
    let page = Page::default();
    let writer = page.clone();
    let log = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_span_list(false)
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(move || writer.clone())
        .finish();
    // All tasks of this test run on this thread.
    let guard = tracing::subscriber::set_default(log);
    let world = world();
    world.put(&at("a"), foobar("good"));
    world.put(&at("b"), foobar("bad"));
    let manager = Manager::builder(world.client()).build();
    Controller::<FooBar>::new("foobar").register(&manager, Talks).unwrap();
    let running = Running::start(manager);
    seconds(5).await;
    running.stop().await.unwrap();
    drop(guard);

    let text = page.text();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("one object per line"))
        .collect();
    for (name, target, result) in [("default/a", "good", "success"), ("default/b", "bad", "error")] {
        let expected = format!("looking at {target}");
        let line = lines
            .iter()
            .find(|line| line["message"] == expected.as_str())
            .unwrap_or_else(|| panic!("{text}"));
        let span = &line["span"];
        assert_eq!(
            (&span["name"], &span["controller"], &span["object"]),
            (&"reconcile".into(), &"foobar".into(), &name.into())
        );
        assert_eq!(span["reconcile_id"], line["id"]);
        let closed = lines
            .iter()
            .find(|line| line["message"] == "close" && line["span"]["object"] == name);
        assert_eq!(closed.expect("the span has an end")["span"]["result"], result, "{text}");
    }
}

/// The log of this test, all of whose tasks run on this thread.
fn logged() -> (Page, DefaultGuard) {
    let page = Page::default();
    let writer = page.clone();
    let log = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    (page, tracing::subscriber::set_default(log))
}

/// Wakes its own object in each run, and never waits.
struct Restless(Arc<AtomicUsize>);

impl Reconciler<FooBar> for Restless {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        self.0.fetch_add(1, Ordering::SeqCst);
        cx.wake(cx.key().clone());
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn the_log_names_the_controller_and_the_object_that_runs_all_the_time() {
    let (page, guard) = logged();
    let (world, runs) = (world(), Arc::<AtomicUsize>::default());
    let manager = Manager::builder(world.client()).build();
    let controller = Controller::new("restless");
    controller.register(&manager, Restless(runs.clone())).unwrap();
    let running = Running::start(manager);
    seconds(1).await;
    world.put(&at("a"), foobar("x"));
    while runs.load(Ordering::SeqCst) < 600 {
        yield_now().await;
    }
    running.done.abort();
    drop(guard);
    let text = page.text();
    let line = "reconciled 500 times within 10s";
    let lines: Vec<_> = text.lines().filter(|text| text.contains(line)).collect();
    assert_eq!(lines.len(), 1, "{text}");
    let names = |part| lines[0].contains(part);
    assert!(
        names("controller=\"restless\"") && names("object=default/a"),
        "{lines:?}"
    );
}

/// Does what the name of the object says.
struct Named;

impl Reconciler<FooBar> for Named {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        match cx.key().name() {
            "zero" => Ok(Action::RequeueAfter(Duration::ZERO)),
            "panics" => panic!("as asked"),
            "blocks" => std::future::pending().await,
            "fails" => Err(Error::retry("not yet")),
            "fails-at-once" => Err(Error::retry_after("not now", Duration::ZERO)),
            _ => Ok(Action::Done),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_log_names_the_controller_and_the_object_of_each_kind_of_fault() {
    let (page, guard) = logged();
    let world = world();
    let faults = [
        ("zero", "a requeue without a delay was requested again and again"),
        ("panics", "as asked"),
        ("blocks", "did not end within 5s, and was cut off"),
        ("fails", "failed: not yet"),
        ("fails-at-once", "failed: not now"),
    ];
    for name in faults.map(|(name, _)| name).into_iter().chain(["calm"]) {
        world.put(&at(name), foobar("x"));
    }
    let manager = Manager::builder(world.client()).build();
    let controller = Controller::new("faulty").concurrency(6);
    let controller = controller.reconcile_timeout(Duration::from_secs(5));
    controller.register(&manager, Named).unwrap();
    let running = Running::start(manager);
    seconds(60).await;
    running.done.abort();
    drop(guard);
    let text = page.text();
    let of = |line: &str, name: &str| format!("{line} ").contains(&format!("default/{name} "));
    for (name, message) in faults {
        let lines: Vec<_> = text.lines().filter(|line| of(line, name)).collect();
        let named = |line: &&str| line.contains(message) && line.contains("controller=\"faulty\"");
        assert!(lines.iter().any(named), "{name}: {text}");
        assert!(lines.len() <= 10, "{name}: {text}");
    }
    assert!(!text.lines().any(|line| of(line, "calm")), "{text}");
}

/// Keeps a ConfigMap for each object.
struct Maps;

impl Reconciler<FooBar> for Maps {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        cx.apply_child::<ConfigMap>(child(json!({"metadata": {"name": cx.key().name()}})))
            .await?;
        Ok(Action::Done)
    }
}

/// The fate of writes during an outage.
#[derive(Clone, Copy, Debug)]
enum Down {
    /// They have no response.
    Refused,
    /// They are answered with this code and message, and the header `Retry-After`, which is zero for none.
    Answered(u16, &'static str, u64),
}

/// A client whose writes fail so while `down` is set.
fn client(world: &World, down: Arc<AtomicBool>, how: Down) -> Client {
    let service = world.server().service();
    let service = service_fn(move |request: Request<Body>| {
        let (service, down) = (service.clone(), down.clone());
        async move {
            if !down.load(Ordering::SeqCst) || request.method() == "GET" {
                let Ok(answer) = service.oneshot(request).await;
                return Ok(answer);
            }
            let Down::Answered(code, message, after) = how else {
                let cause = io::Error::new(io::ErrorKind::ConnectionRefused, "connection refused");
                return Err(BoxError::from(io::Error::other(cause)));
            };
            let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": "",
                "message": message, "details": {"retryAfterSeconds": after}});
            let answer = Response::builder().status(code);
            Ok(answer.body(Bytes::from(status.to_string()).into()).expect("a response"))
        }
    });
    Client::new(service, "default")
}

/// Runs a controller of a hundred objects through an outage of 25 s, and returns the lines about failed reconciles.
async fn outage(how: Down) -> Vec<String> {
    let (page, guard) = logged();
    let (world, down) = (world(), Arc::new(AtomicBool::new(true)));
    for n in 0..100 {
        world.put(&at(&format!("a{n}")), foobar("x"));
    }
    let manager = Manager::builder(client(&world, down.clone(), how)).name("test").build();
    let controller = Controller::<FooBar>::new("foobar").owns::<ConfigMap>();
    controller.register(&manager, Maps).unwrap();
    let running = Running::start(manager);
    seconds(25).await;
    down.store(false, Ordering::SeqCst);
    seconds(90).await;
    assert_eq!(world.count(CONFIG_MAPS), 100);
    running.stop().await.unwrap();
    drop(guard);
    let text = page.text();
    let lines = text
        .lines()
        .filter(|line| line.contains(" failed: ") || line.contains(" failed again: "));
    lines.map(str::to_owned).collect()
}

/// The number of failures in lines about counted ones.
fn counted(lines: &[String]) -> usize {
    let counts = lines.iter().filter_map(|line| line.split_once("failures="));
    let counts = counts.map(|(_, rest)| rest.split(' ').next().unwrap_or_default());
    counts.map(|count| count.parse::<usize>().expect("a number")).sum()
}

#[tokio::test(start_paused = true)]
async fn an_outage_has_a_line_by_name_with_the_cause_and_then_a_count_in_each_interval() {
    let cases = [
        (Down::Refused, "connection refused"),
        (
            Down::Answered(503, "no server is available", 0),
            "no server is available (503)",
        ),
        (
            Down::Answered(500, "etcdserver: request timed out", 0),
            "etcdserver: request timed out (500)",
        ),
        (Down::Answered(429, "too many requests", 4), "too many requests (429)"),
        (Down::Answered(403, "cannot create it", 0), "cannot create it (403)"),
        (
            Down::Answered(422, "a webhook denied it", 0),
            "a webhook denied it (422)",
        ),
    ];
    for (how, cause) in cases {
        let lines = outage(how).await;
        assert!((1..=5).contains(&lines.len()), "{how:?}: {lines:#?}");
        assert!(
            lines.iter().all(|line| line.matches(cause).count() == 1),
            "{how:?}: {lines:#?}"
        );
        assert!(
            lines[0].contains("object=default/a") && lines[0].contains("attempt=0"),
            "{how:?}: {lines:#?}"
        );
        // Each object fails once at least, and the last failures are counted too.
        let others = &lines[1..];
        assert!(counted(others) >= 99, "{how:?}: {lines:#?}");
        for line in others {
            let about = |part| line.contains(part);
            assert!(
                about("objects=default/a") && about("controller=\"foobar\""),
                "{how:?}: {lines:#?}"
            );
            assert!(!about("reconcile_id="), "{how:?}: {lines:#?}");
        }
    }
}

#[test]
fn no_crate_of_opentelemetry_is_built_without_the_feature() {
    let manifest = include_str!("../Cargo.toml");
    let (dependencies, _) = manifest.split_once("[dev-dependencies]").expect("a section");
    let theirs: Vec<_> = dependencies
        .lines()
        .filter(|line| line.contains("opentelemetry") && line.contains("version ="))
        .collect();
    assert!(theirs.len() >= 5, "{theirs:?}");
    assert!(
        theirs.iter().all(|line| line.ends_with("optional = true }")),
        "{theirs:?}"
    );
    assert!(!manifest.contains("\ndefault = "), "no feature is enabled by default");
}

#[tokio::test(start_paused = true)]
async fn a_leader_election_in_a_namespace_that_does_not_exist_is_a_warning() {
    let (page, guard) = logged();
    let election = Election::spawn(ElectionConfig::new("op", "missing"), world().client(), &Metrics::new()).unwrap();
    election.begin();
    seconds(60).await;
    assert!(!election.is_leader());
    drop(guard);
    let text = page.text();
    let line = "the leader lease could not be acquired: namespaces \"missing\" not found (404)";
    assert!(text.contains(line), "{text}");
}
