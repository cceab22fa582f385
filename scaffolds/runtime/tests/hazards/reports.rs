//! Failures in the status: reported although a write fails, set back also by a later process, and left to a reconciler that
//! reports them itself.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::{api::core::v1::ConfigMap, jiff::Timestamp};
use kubewright_runtime::{Action, Clock, Conditions, Context, Controller, Error, Manager, Reconciler, Result};
use serde_json::{Value, json};

use crate::support::{
    World,
    faults::failure,
    kinds::{CONFIG_MAPS, FOOBARS, FooBar, Running, at, condition, foobar, seconds, world},
    notes::child,
};

/// Ends as its object's target says.
#[derive(Clone, Default)]
struct ByTarget(Arc<AtomicUsize>);

impl Reconciler<FooBar> for ByTarget {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        self.0.fetch_add(1, Ordering::SeqCst);
        match foobar.spec.target.as_str() {
            "bad" => return Err(Error::terminal("BadTarget", "no such target")),
            "wordy" => return Err(Error::terminal("no such target", "ä".repeat(40_000))),
            // Waits for something, which is no failure.
            "waits" => {
                let waits = cx.condition("Ready", false, "Progressing", "");
                cx.patch_status(|status| status.conditions.set(waits)).await?;
            }
            target => {
                let map = json!({"metadata": {"name": cx.key().name()}});
                let made = cx.apply_child::<ConfigMap>(child(map)).await;
                if let (Err(_), "reports") = (&made, target) {
                    let broken = cx.condition("Ready", false, "MapFailed", "the map cannot be made");
                    cx.patch_status(|status| status.conditions.set(broken)).await?;
                }
                made?;
                match target {
                    "polls" => return Ok(Action::RequeueAfter(Duration::from_secs(100))),
                    "polls-often" => return Ok(Action::RequeueAfter(Duration::from_millis(1))),
                    "clock-often" => return Ok(Action::At(cx.now() + Duration::from_millis(2))),
                    "clock" => return Ok(Action::At(cx.now() + Duration::from_secs(100))),
                    _ => {}
                }
            }
        }
        Ok(Action::Done)
    }
}

fn controller() -> Controller<FooBar> {
    Controller::new("foobar").owns::<ConfigMap>()
}

fn start(world: &World, controller: Controller<FooBar>) -> (Running, Arc<AtomicUsize>) {
    let (manager, reconciler) = (
        Manager::builder(world.client())
            .name("test")
            .clock(Clock::started_at(Timestamp::now()))
            .build(),
        ByTarget::default(),
    );
    let runs = reconciler.0.clone();
    controller.register(&manager, reconciler).unwrap();
    (Running::start(manager), runs)
}

/// Refuses the creation of ConfigMaps.
fn forbid(world: &World) {
    world.intercept(|verb, path| {
        let refused = verb == "POST" && path == CONFIG_MAPS;
        refused.then(|| (403, failure(403, "Forbidden", path)))
    });
}

fn allow(world: &World) {
    world.intercept(|_, _| None);
}

fn status_writes(world: &World) -> usize {
    world.requests(&format!("PATCH {FOOBARS}")).len()
}

/// Status and reason.
fn verdict(world: &World, name: &str) -> [Value; 2] {
    let [status, reason, _] = condition(world, name);
    [status, reason]
}

fn says(status: &str, reason: &str) -> [Value; 2] {
    [json!(status), json!(reason)]
}

#[tokio::test(start_paused = true)]
async fn a_terminal_error_is_reported_although_the_first_writes_of_its_condition_fail() {
    for (code, reason) in [(503, "ServiceUnavailable"), (409, "Conflict"), (500, "InternalError")] {
        let (world, failed) = (world(), Arc::<AtomicUsize>::default());
        world.put(&at("a"), foobar("bad"));
        world.edit_status(&at("a"), |object| {
            object["status"] = json!({"conditions": [{"type": "Ready", "status": "True", "reason": "Done", "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z"}]});
        });
        let count = failed.clone();
        world.intercept(move |verb, path| {
            let fails = verb == "PATCH" && path.ends_with("/status") && count.fetch_add(1, Ordering::SeqCst) < 3;
            fails.then(|| (code, failure(code, reason, path)))
        });
        let (running, runs) = start(&world, controller());
        seconds(60).await;
        assert_eq!(verdict(&world, "a"), says("False", "BadTarget"), "{code}");
        assert_eq!(
            failed.load(Ordering::SeqCst),
            4,
            "{code}: the third repetition succeeds, and is the last"
        );
        let before = runs.load(Ordering::SeqCst);
        seconds(3000).await;
        assert_eq!(
            runs.load(Ordering::SeqCst),
            before,
            "{code}: a reported terminal error is not retried"
        );
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_terminal_error_is_reported_whatever_its_reason_and_message_are() {
    let world = world();
    world.put(&at("a"), foobar("wordy"));
    let (first, runs) = start(&world, controller());
    seconds(3600).await;
    let [status, reason, message] = condition(&world, "a");
    assert_eq!([status, reason], says("False", "ReconcileFailed"));
    assert!(message.as_str().unwrap().ends_with("ä…"));
    assert_eq!(runs.load(Ordering::SeqCst), 1, "it is not retried");
    // Recognised as the runtime's own.
    world.edit(&at("a"), |object| object["spec"]["target"] = json!("map"));
    seconds(5).await;
    assert_eq!(verdict(&world, "a"), says("True", "Reconciled"));
    first.stop().await.unwrap();
}

fn observed(world: &World, name: &str) -> Value {
    world.object(&at(name)).unwrap()["status"]["observedGeneration"].clone()
}

#[tokio::test(start_paused = true)]
async fn a_generation_that_ends_with_a_terminal_error_is_observed() {
    let world = world();
    for name in ["a", "b"] {
        world.put(&at(name), foobar("bad"));
    }
    world.edit_status(&at("a"), |object| object["status"] = json!({"observedGeneration": 0}));
    let target = |target: &str| world.edit(&at("a"), |object| object["spec"]["target"] = json!(target));
    let (first, _) = start(&world, controller());
    seconds(5).await;
    assert_eq!(observed(&world, "a"), 1);
    assert_eq!(
        observed(&world, "b"),
        Value::Null,
        "a status without the generation gets none"
    );
    target("worse");
    target("bad");
    seconds(5).await;
    assert_eq!(observed(&world, "a"), 3);

    // This reconciler never writes the generation, so the runtime does not leave an old one behind: in the same process, or in
    // a later one.
    target("map");
    seconds(5).await;
    assert_eq!(observed(&world, "a"), 4);
    target("bad");
    seconds(5).await;
    first.stop().await.unwrap();
    target("waits");
    let (second, _) = start(&world, controller());
    seconds(5).await;
    assert_eq!(
        (observed(&world, "a"), verdict(&world, "a")),
        (json!(6), says("False", "Progressing"))
    );
    second.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_is_retried_or_of_a_second_controller_leaves_the_observed_generation() {
    let world = world();
    world.put(&at("a"), foobar("map"));
    world.edit_status(&at("a"), |object| object["status"] = json!({"observedGeneration": 1}));
    world.edit(&at("a"), |object| object["spec"]["target"] = json!("another"));
    forbid(&world);
    let (running, _) = start(&world, controller());
    seconds(5).await;
    assert_eq!(verdict(&world, "a"), says("False", "Forbidden"));
    assert_eq!(observed(&world, "a"), 1, "the generation is not done");
    running.stop().await.unwrap();

    allow(&world);
    world.edit(&at("a"), |object| object["spec"]["target"] = json!("bad"));
    let manager = Manager::builder(world.client()).name("test").build();
    let audit = Controller::new("audit").owns::<ConfigMap>();
    audit.register(&manager, ByTarget::default()).unwrap();
    let main = Controller::<FooBar>::new("foobar").owns::<ConfigMap>();
    main.register(&manager, Idle).unwrap();
    let running = Running::start(manager);
    seconds(5).await;
    assert_eq!(observed(&world, "a"), 1, "the main controller has not written it");
    running.stop().await.unwrap();
}

/// Does nothing, successfully.
struct Idle;

impl Reconciler<FooBar> for Idle {
    async fn reconcile(&self, _: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn a_condition_is_set_back_although_the_first_writes_fail() {
    let (world, failed) = (world(), Arc::<AtomicUsize>::default());
    world.put(&at("a"), foobar("map"));
    forbid(&world);
    let (running, _) = start(&world, controller());
    seconds(5).await;
    assert_eq!(verdict(&world, "a"), says("False", "Forbidden"));
    let count = failed.clone();
    world.intercept(move |verb, path| {
        let fails = verb == "PATCH" && path.ends_with("/status") && count.fetch_add(1, Ordering::SeqCst) < 3;
        fails.then(|| (503, failure(503, "ServiceUnavailable", path)))
    });
    seconds(120).await;
    assert_eq!(verdict(&world, "a"), says("True", "Reconciled"));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_condition_that_cannot_be_set_back_is_not_written_in_a_loop() {
    for (code, reason) in [(409, "Conflict"), (503, "ServiceUnavailable")] {
        let world = world();
        world.put(&at("a"), foobar("map"));
        forbid(&world);
        let (running, _) = start(&world, controller());
        seconds(3600).await;
        assert_eq!(verdict(&world, "a"), says("False", "Forbidden"));
        world.intercept(move |verb, path| {
            let fails = verb == "PATCH" && path.ends_with("/status");
            fails.then(|| (code, failure(code, reason, path)))
        });
        seconds(60).await;
        let before = status_writes(&world);
        seconds(600).await;
        let writes = status_writes(&world) - before;
        assert!((3..=21).contains(&writes), "{code}: {writes} in ten minutes");
        allow(&world);
        seconds(1000).await;
        assert_eq!(verdict(&world, "a"), says("True", "Reconciled"), "{code}");
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_success_whose_condition_cannot_be_set_back_runs_again_at_its_time() {
    for (target, every) in [("polls", 100), ("polls-often", 30), ("clock", 100), ("clock-often", 30)] {
        let world = world();
        world.put(&at("a"), foobar(target));
        forbid(&world);
        let (running, runs) = start(&world, controller());
        seconds(3600).await;
        assert_eq!(verdict(&world, "a"), says("False", "Forbidden"));
        world.intercept(move |verb, path| {
            let fails = verb == "PATCH" && path.ends_with("/status");
            fails.then(|| (422, failure(422, "Invalid", path)))
        });
        // The delay of the retries has grown beyond the requested time.
        seconds(7200).await;
        let before = runs.load(Ordering::SeqCst);
        seconds(3600).await;
        let (runs, expected) = (runs.load(Ordering::SeqCst) - before, 3600 / every);
        assert!((expected - 2..=expected + 6).contains(&runs), "{target}: {runs}");
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_condition_of_an_earlier_process_is_set_back_and_one_of_the_reconciler_stays() {
    let world = world();
    for (name, target) in [("a", "map"), ("b", "bad"), ("c", "waits")] {
        world.put(&at(name), foobar(target));
    }
    forbid(&world);
    let (first, _) = start(&world, controller());
    seconds(5).await;
    first.stop().await.unwrap();
    assert_eq!(verdict(&world, "a"), says("False", "Forbidden"));
    assert_eq!(verdict(&world, "b"), says("False", "BadTarget"));

    allow(&world);
    world.edit(&at("b"), |object| object["spec"]["target"] = json!("map"));
    let (second, _) = start(&world, controller());
    seconds(5).await;
    assert_eq!(verdict(&world, "a"), says("True", "Reconciled"));
    assert_eq!(verdict(&world, "b"), says("True", "Reconciled"));
    assert_eq!(verdict(&world, "c"), says("False", "Progressing"));
    let reads = world.requests(&format!("GET {}", at("c"))).len();
    world.edit(&at("c"), |object| object["metadata"]["labels"] = json!({"a": "b"}));
    seconds(5).await;
    assert_eq!(
        world.requests(&format!("GET {}", at("c"))).len(),
        reads,
        "read once in each process"
    );
    second.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_the_reconciler_reports_itself_is_written_once_also_by_the_next_process() {
    let world = world();
    world.put(&at("a"), foobar("reports"));
    forbid(&world);
    for _ in 0..2 {
        let (running, runs) = start(&world, controller());
        seconds(300).await;
        assert!(runs.load(Ordering::SeqCst) > 10);
        assert_eq!(verdict(&world, "a"), says("False", "MapFailed"));
        assert_eq!(status_writes(&world), 1, "by the reconciler, and none by the runtime");
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn conflicts_that_last_are_failures_and_are_retried_each_half_minute() {
    let world = world();
    world.put(&at("a"), foobar("map"));
    world.intercept(|verb, path| {
        let conflicts = verb == "POST" && path == CONFIG_MAPS;
        conflicts.then(|| (409, failure(409, "Conflict", path)))
    });
    let manager = Manager::builder(world.client()).name("test").build();
    controller().register(&manager, ByTarget::default()).unwrap();
    let metrics = manager.metrics().clone();
    let errors = || {
        let text = metrics.encode();
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with("controller_runtime_reconcile_errors_total"));
        line.and_then(|line| line.rsplit_once(' '))
            .map(|(_, count)| count.to_owned())
    };
    let running = Running::start(manager);
    seconds(1).await;
    assert_eq!(errors().as_deref(), Some("0"), "conflicts that pass are none");
    seconds(60).await;
    assert_ne!(errors().as_deref(), Some("0"));
    assert_eq!(verdict(&world, "a"), says("False", "Conflict"));
    seconds(3600).await;
    allow(&world);
    seconds(31).await;
    assert_eq!(
        verdict(&world, "a"),
        says("True", "Reconciled"),
        "half a minute after the last one"
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_condition_for_what_is_wrong_becomes_true_with_a_failure_and_false_with_a_success() {
    let world = world();
    world.put(&at("a"), foobar("bad"));
    let (running, _) = start(&world, controller().abnormal_condition("Degraded"));
    seconds(5).await;
    assert_eq!(verdict(&world, "a"), says("True", "BadTarget"));
    world.edit(&at("a"), |object| object["spec"]["target"] = json!("map"));
    seconds(5).await;
    assert_eq!(verdict(&world, "a"), says("False", "Reconciled"));
    running.stop().await.unwrap();
}
