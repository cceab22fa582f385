//! Controllers that are started and stopped while the manager runs.

use std::{
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use crate::support::{
    World,
    faults::failure,
    kinds::{FooBar, Running, at, config_map, foobar, seconds, world},
    notes::{Notes, Seen, manager, taken},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{
    Action, Context, Controller, Controllers, Election, ElectionConfig, Error, Metrics, ObjectKey, Reconciler, Result,
    RunningController, Task,
};
use serde_json::json;
use tokio::{runtime::Handle, sync::oneshot, task::JoinHandle, time::sleep};

const WATCH: &str = "WATCH /apis/test.example.com/v1/foobars";

/// Tasks that exist now.
fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

fn plain(name: &str) -> Controller<FooBar> {
    Controller::new(name)
}

/// A manager that runs, its metrics, and what starts controllers in it.
async fn run(world: &World) -> (Running, Metrics, Controllers) {
    let manager = manager(world);
    let (metrics, controllers) = (manager.metrics().clone(), manager.controllers());
    let running = Running::start(manager);
    seconds(1).await;
    (running, metrics, controllers)
}

async fn start(controllers: &Controllers, seen: &Seen) -> RunningController {
    controllers.start(plain("foobar"), Notes(seen.clone())).await.unwrap()
}

/// Keeps no object, but remembers whether it still exists.
#[derive(Clone, Default)]
struct Remembers(Arc<Mutex<Vec<Weak<FooBar>>>>);

impl Reconciler<FooBar> for Remembers {
    async fn reconcile(&self, _: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        self.0.lock().unwrap().push(Arc::downgrade(&foobar));
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn a_controller_works_from_its_start_to_its_stop_and_again_after_the_next_start() {
    let (world, seen) = (world(), Seen::default());
    world.put(&at("a"), foobar("x"));
    let (running, metrics, controllers) = run(&world).await;
    let (before, text) = (tasks(), metrics.encode());

    let foobars = start(&controllers, &seen).await;
    seconds(5).await;
    world.put(&at("b"), foobar("x"));
    seconds(5).await;
    assert_eq!(taken(&seen), ["a", "b"]);
    let counted = r#"controller_runtime_reconcile_total{controller="foobar",result="success"} 2"#;
    assert!(metrics.encode().contains(counted));
    assert_eq!(controllers.get("foobar").unwrap().name(), "foobar");

    foobars.stop().await;
    seconds(1).await;
    assert!(foobars.has_stopped() && controllers.get("foobar").is_none());
    let requests = world.requests("").len();
    world.put(&at("c"), foobar("x"));
    seconds(3600).await;
    assert_eq!((taken(&seen), world.requests("").len()), (Vec::new(), requests));
    assert_eq!(tasks(), before);
    assert_eq!(metrics.encode(), text, "its metrics are gone");

    let again = start(&controllers, &seen).await;
    seconds(5).await;
    let mut names = taken(&seen);
    names.sort();
    assert_eq!(names, ["a", "b", "c"], "every object, once");
    running.stop().await.unwrap();
    assert!(again.has_stopped());
    let late = controllers.start(plain("late"), Notes(seen)).await.err().unwrap();
    assert!(matches!(&late, Error::Retry(_)), "{late}");
    assert_eq!(late.to_string(), "the manager is stopping or has stopped");
}

#[tokio::test(start_paused = true)]
async fn a_hundred_starts_and_stops_leave_neither_tasks_nor_watches_nor_objects() {
    let (world, remembers) = (world(), Remembers::default());
    for n in 0..20 {
        world.put(&at(&format!("a{n}")), foobar("x"));
    }
    let (running, metrics, controllers) = run(&world).await;
    let (before, text) = (tasks(), metrics.encode());
    for round in 1..=100 {
        let controller = plain("foobar")
            .owns::<ConfigMap>()
            .index::<FooBar>("target", |foobar| vec![foobar.spec.target.clone()]);
        let foobars = controllers.start(controller, remembers.clone()).await.unwrap();
        seconds(1).await;
        foobars.stop().await;
        seconds(1).await;
        let known = std::mem::take(&mut *remembers.0.lock().unwrap());
        assert_eq!(known.len(), 20, "round {round}");
        assert!(known.iter().all(|object| object.upgrade().is_none()), "round {round}");
        assert_eq!(tasks(), before, "round {round}");
    }
    assert_eq!(metrics.encode(), text);
    assert_eq!(Arc::strong_count(&remembers.0), 1, "the reconcilers are dropped");
    let watches = world.requests("WATCH").len();
    assert_eq!(world.requests(WATCH).len(), 100);
    seconds(3600).await;
    assert_eq!(world.requests("WATCH").len(), watches);
    running.stop().await.unwrap();
}

/// Notes when a reconcile begins and ends; it takes ten seconds.
struct Slow(Seen);

impl Reconciler<FooBar> for Slow {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let note = |what: &str| self.0.lock().unwrap().push(format!("{what} {}", cx.key().name()));
        note("begins");
        sleep(Duration::from_secs(10)).await;
        note("ends");
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_the_current_key_and_drops_those_that_are_queued() {
    let (world, seen) = (world(), Seen::default());
    world.put(&at("a"), foobar("x"));
    let (running, _, controllers) = run(&world).await;
    let foobars = controllers.start(plain("foobar"), Slow(seen.clone())).await.unwrap();
    seconds(1).await;
    world.put(&at("b"), foobar("x"));
    seconds(1).await;
    let stops = foobars.clone();
    let stopping = tokio::spawn(async move { stops.stop().await });
    seconds(5).await;
    assert!(!stopping.is_finished());
    let error = controllers
        .start(plain("foobar"), Slow(seen.clone()))
        .await
        .err()
        .unwrap();
    assert!(
        error.to_string().starts_with("two controllers are named `foobar`"),
        "{error}"
    );
    seconds(5).await;
    assert!(stopping.is_finished());
    assert_eq!(taken(&seen), ["begins a", "ends a"]);

    // The shutdown of the manager waits as well.
    controllers.start(plain("foobar"), Slow(seen.clone())).await.unwrap();
    seconds(1).await;
    running.stop().await.unwrap();
    assert_eq!(taken(&seen).len(), 2, "one reconcile began, and ended");
}

#[tokio::test(start_paused = true)]
async fn a_controller_that_cannot_be_registered_is_not_started_and_leaves_nothing() {
    let (world, seen) = (world(), Seen::default());
    let manager = manager(&world);
    let (metrics, controllers) = (manager.metrics().clone(), manager.controllers());
    let early = controllers
        .start(plain("early"), Notes(seen.clone()))
        .await
        .err()
        .unwrap();
    assert!(
        early
            .to_string()
            .contains("the manager does not run yet\n\nhint: register it"),
        "{early}"
    );
    plain("foobar")
        .index::<FooBar>("target", |_| Vec::new())
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    let running = Running::start(manager);
    seconds(1).await;
    let (before, text) = (tasks(), metrics.encode());
    for (controller, error) in [
        (plain("foobar"), "two controllers are named `foobar`"),
        (
            plain("copy").condition("Ready"),
            "`foobar` and `copy` both write the condition `Ready`",
        ),
        (
            plain("copy").index::<FooBar>("target", |_| Vec::new()),
            "FooBar: there is an index `target` already",
        ),
        (
            plain("copy").index::<ConfigMap>("x", |_| Vec::new()),
            "`copy` indexes ConfigMap, but neither owns nor",
        ),
    ] {
        let refused = controllers.start(controller, Notes(seen.clone())).await.err().unwrap();
        assert!(
            matches!(&refused, Error::Setup(_)) && refused.to_string().starts_with(error),
            "{refused}"
        );
    }
    seconds(1).await;
    assert_eq!((tasks(), metrics.encode()), (before, text));
    let copy = controllers.start(plain("copy"), Notes(seen)).await.unwrap();
    assert_eq!(copy.name(), "copy", "no name is taken by a refused controller");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_is_refused_fails_the_start_alone() {
    let (world, seen) = (world(), Seen::default());
    let manager = manager(&world);
    plain("foobar").register(&manager, Notes(seen.clone())).unwrap();
    let controllers = manager.controllers();
    let running = Running::start(manager);
    let refused = Arc::new(Mutex::new(true));
    let refuses = refused.clone();
    world.intercept(move |_, path| {
        let refused = path == "/api/v1/configmaps" && *refuses.lock().unwrap();
        refused.then(|| (403, failure(403, "Forbidden", path)))
    });
    seconds(1).await;
    let before = tasks();
    let watching = || plain("copy").watches::<ConfigMap>(|_| Vec::new());
    let error = controllers.start(watching(), Notes(seen.clone())).await.err().unwrap();
    let text = error.to_string();
    assert!(matches!(error, Error::Retry(_)), "{text}");
    assert!(
        text.contains("the cache of `ConfigMap` in all namespaces is not filled"),
        "{text}"
    );
    assert!(
        text.contains("403") && text.contains("declare the controller with `Manager::may_start`"),
        "{text}"
    );
    seconds(1).await;
    assert_eq!(tasks(), before);

    world.put(&at("a"), foobar("x"));
    seconds(5).await;
    assert_eq!(taken(&seen), ["a"], "the other controller works");
    *refused.lock().unwrap() = false;
    controllers.start(watching(), Notes(seen.clone())).await.unwrap();
    seconds(5).await;
    assert_eq!(taken(&seen), ["a"]);
    running.stop().await.unwrap();
}

/// Notes how many ConfigMaps its cache contains.
#[derive(Clone)]
struct Counts(Seen);

impl Reconciler<FooBar> for Counts {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let note = format!("{} {}", cx.key().name(), cx.list::<ConfigMap>()?.len());
        self.0.lock().unwrap().push(note);
        Ok(Action::Done)
    }
}

/// Owns a ConfigMap of the FooBar's name.
struct Owns;

impl Reconciler<FooBar> for Owns {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let fields = json!({"metadata": {"name": cx.key().name()}, "data": {"target": foobar.spec.target}});
        cx.apply_child::<ConfigMap>(crate::support::notes::child(fields))
            .await?;
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn controllers_share_caches_and_a_cache_of_children_is_widened_for_one_that_needs_every_object() {
    let (world, seen) = (world(), Seen::default());
    world.put(&at("a"), foobar("x"));
    world.put(&config_map("foreign"), json!({"apiVersion": "v1", "kind": "ConfigMap"}));
    let manager = manager(&world);
    let controllers = manager.controllers();
    plain("foobar").owns::<ConfigMap>().register(&manager, Owns).unwrap();
    let running = Running::start(manager);
    seconds(5).await;
    let lists = |path: &str| world.requests(&format!("GET {path}")).len();
    let (maps, foobars) = (lists("/api/v1/configmaps"), lists("/apis/test.example.com/v1/foobars"));

    let counts = plain("counts").watches::<ConfigMap>(|_| vec![ObjectKey::new(Some("default"), "a")]);
    let counting = controllers.start(counts, Counts(seen.clone())).await.unwrap();
    seconds(5).await;
    assert_eq!(
        taken(&seen),
        ["a 2"],
        "the caches were filled before the first reconcile"
    );
    assert_eq!(lists("/api/v1/configmaps"), maps + 1);
    assert_eq!(
        lists("/apis/test.example.com/v1/foobars"),
        foobars,
        "this cache is shared"
    );
    let writes = world.writes("/api/v1").len();
    world.delete(&config_map("a"));
    seconds(5).await;
    assert_eq!(taken(&seen).last().unwrap(), "a 2", "the child is back");
    assert_eq!(
        world.writes("/api/v1").len(),
        writes + 1,
        "and was written by its owner alone"
    );

    counting.stop().await;
    seconds(1).await;
    world.delete(&config_map("a"));
    seconds(5).await;
    assert!(
        world.object(&config_map("a")).is_some(),
        "the registered controller keeps the cache"
    );
    assert_eq!(taken(&seen), [""; 0]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn unlabelled_children_are_found_before_the_first_reconcile() {
    let (world, seen) = (world(), Seen::default());
    world.put(&at("a"), foobar("x"));
    let uid = world.object(&at("a")).unwrap()["metadata"]["uid"].clone();
    let owner =
        json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "a", "uid": uid, "controller": true});
    world.put_as(
        &config_map("old"),
        "test/foobar",
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"ownerReferences": [owner]}}),
    );
    let (running, _, controllers) = run(&world).await;
    controllers
        .start(plain("foobar").owns::<ConfigMap>(), Counts(seen.clone()))
        .await
        .unwrap();
    seconds(5).await;
    assert_eq!(taken(&seen)[0], "a 1");
    running.stop().await.unwrap();
}

/// Starts a controller for the objects that a FooBar's target names, and stops itself.
struct Starts {
    controllers: Controllers,
    seen: Seen,
}

impl Reconciler<FooBar> for Starts {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let mut name = foobar.spec.target.clone();
        if name == "itself" {
            name = "foobar".to_owned();
            self.controllers.get(&name).unwrap().request_stop();
        } else if self.controllers.get(&name).is_none() {
            self.controllers.start(plain(&name), Notes(self.seen.clone())).await?;
        }
        self.seen
            .lock()
            .unwrap()
            .push(format!("{name} for {}", cx.key().name()));
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn a_reconcile_starts_controllers_and_stops_its_own() {
    let (world, seen) = (world(), Seen::default());
    let (running, _, controllers) = run(&world).await;
    let starts = Starts {
        controllers: controllers.clone(),
        seen: seen.clone(),
    };
    controllers.start(plain("foobar"), starts).await.unwrap();
    world.put(&at("a"), foobar("other"));
    seconds(5).await;
    let mut runs = taken(&seen);
    runs.sort();
    assert_eq!(runs, ["a", "other for a"]);
    world.put(&at("b"), foobar("itself"));
    seconds(5).await;
    assert!(controllers.get("foobar").is_none() && controllers.get("other").is_some());
    taken(&seen);
    world.put(&at("c"), foobar("itself"));
    seconds(5).await;
    assert_eq!(taken(&seen), ["c"], "only the other one works");
    running.stop().await.unwrap();
}

fn candidate(world: &World, identity: &str) -> Arc<Election> {
    let config = ElectionConfig {
        identity: identity.to_owned(),
        ..ElectionConfig::new("op", "default")
    };
    Arc::new(Election::spawn(config, world.client(), &Metrics::new()).unwrap())
}

/// A candidate for the lease that starts a controller at once, which it hands out.
fn elected(
    world: &World,
    identity: &str,
    seen: &Seen,
) -> (JoinHandle<Result<()>>, oneshot::Receiver<RunningController>) {
    let manager = manager(world);
    let (controllers, seen, (hand_out, handed_out)) = (manager.controllers(), seen.clone(), oneshot::channel());
    let task = Task::new("starts", move |stop| async move {
        _ = hand_out.send(controllers.start(plain("foobar"), Notes(seen)).await?);
        stop.requested().await;
        Ok(())
    });
    manager.task(task.leaderless());
    let election = candidate(world, identity);
    let running = tokio::spawn(async move { manager.run(std::future::pending(), Some(election)).await });
    (running, handed_out)
}

#[tokio::test(start_paused = true)]
async fn a_controller_of_a_standby_works_when_it_leads_and_ends_with_its_lease() {
    let (world, seen) = (world(), Seen::default());
    let leader = candidate(&world, "leader");
    leader.begin();
    leader.acquired().await;
    world.put(&at("a"), foobar("x"));
    let (running, started) = elected(&world, "standby", &seen);
    let foobars = started.await.unwrap();
    seconds(60).await;
    assert_eq!(world.requests(WATCH).len(), 1, "its cache is filled");
    assert_eq!(taken(&seen), [""; 0], "a standby writes nothing");
    leader.release().await;
    seconds(5).await;
    assert_eq!(taken(&seen), ["a"]);

    let broken = Arc::new(Mutex::new(true));
    let breaks = broken.clone();
    world.intercept(move |verb, path| {
        let broken = verb != "WATCH" && path.contains("/leases") && *breaks.lock().unwrap();
        broken.then(|| (503, failure(503, "ServiceUnavailable", path)))
    });
    let error = running.await.unwrap().unwrap_err();
    assert!(error.to_string().starts_with("the leader lease is lost"), "{error}");
    seconds(1).await;
    assert!(foobars.has_stopped());
    world.put(&at("b"), foobar("x"));
    seconds(60).await;
    assert_eq!(taken(&seen), [""; 0]);

    *broken.lock().unwrap() = false;
    let (running, _started) = elected(&world, "next", &seen);
    seconds(60).await;
    let mut names = taken(&seen);
    names.sort();
    assert_eq!(names, ["a", "b"], "the next process that leads starts it again");
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn a_controller_that_is_stopped_on_a_standby_never_works() {
    let (world, seen) = (world(), Seen::default());
    let leader = candidate(&world, "leader");
    leader.begin();
    leader.acquired().await;
    world.put(&at("a"), foobar("x"));
    let (running, started) = elected(&world, "standby", &seen);
    started.await.unwrap().stop().await;
    leader.release().await;
    seconds(60).await;
    assert_eq!(taken(&seen), [""; 0]);
    assert!(!running.is_finished());
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_cancelled_leaves_nothing() {
    let (world, seen) = (world(), Seen::default());
    let (running, metrics, controllers) = run(&world).await;
    let (before, text) = (tasks(), metrics.encode());
    world.hang("foobars");
    let starting = controllers.start(plain("foobar"), Notes(seen.clone()));
    assert!(tokio::time::timeout(Duration::from_secs(10), starting).await.is_err());
    seconds(1).await;
    assert_eq!((tasks(), metrics.encode()), (before, text));
    world.answer_again();
    start(&controllers, &seen).await;
    assert_eq!(world.requests(WATCH).len(), 1);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_registration_while_the_manager_runs_is_refused() {
    let world = world();
    let manager = Arc::new(manager(&world));
    let runs = manager.clone();
    let running = tokio::spawn(async move { runs.run(seconds(10), None).await });
    seconds(1).await;
    let error = plain("late")
        .register(&manager, Notes(Seen::default()))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`late` is registered while the manager runs\n\nhint: start it"),
        "{error}"
    );
    running.await.unwrap().unwrap();
}
