//! What operators get wrong, each once: every test fails on a runtime that has the hazard. The names carry the numbers
//! of the list in `docs/contributing/hazards.md`; those of the informer stand in `informer.rs`.

mod support;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResourceExt, api::ObjectMeta};
use kubewright_runtime::{
    Action, Cleanup, Conditions, Context, Controller, Error, EventType, Manager, ObjectKey, Predicate, Reconciler,
    Result,
};
use serde_json::json;
use support::{
    World,
    kinds::{CONFIG_MAPS, FooBar, Planet, Running, at, foobar, seconds, world},
};
use tokio::time::Instant;

const FINALIZER: &str = "test.example.com/cleanup";

/// What the scripted reconciler does with one object, and what it has seen.
#[derive(Default)]
struct Script {
    runs: Mutex<Vec<(String, Instant)>>,
    deleted: Mutex<Vec<String>>,
    cleanups: AtomicUsize,
    finalizer: Option<&'static str>,
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Script {
    fn runs(&self, name: &str) -> Vec<Instant> {
        self.runs
            .lock()
            .unwrap()
            .iter()
            .filter(|(of, _)| of == name)
            .map(|(_, at)| *at)
            .collect()
    }
}

/// Does what the object's name says.
#[derive(Clone)]
struct ByName(Arc<Script>);

impl Reconciler<FooBar> for ByName {
    fn finalizer(&self) -> Option<&str> {
        self.0.finalizer
    }

    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let name = foobar.metadata.name.clone().unwrap();
        self.0.runs.lock().unwrap().push((name.clone(), Instant::now()));
        let now = self.0.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most.fetch_max(now, Ordering::SeqCst);
        if name.starts_with("slow") {
            tokio::time::sleep(Duration::from_secs(3)).await;
        }
        self.0.now.fetch_sub(1, Ordering::SeqCst);
        match name.split('-').next().unwrap() {
            "panics" => panic!("as asked"),
            "fails" => return Err(Error::retry("not yet")),
            "terminal" => return Err(Error::terminal("BadTarget", "no such target")),
            "chatty" => {
                for n in 0..5000 {
                    cx.event(EventType::Normal, "Chatted", format!("word {n}"));
                }
            }
            "child" | "patient" => {
                let child = ConfigMap {
                    metadata: ObjectMeta {
                        name: Some(format!("{name}-foobar")),
                        ..ObjectMeta::default()
                    },
                    data: Some(BTreeMap::from([("target".to_owned(), foobar.spec.target.clone())])),
                    ..ConfigMap::default()
                };
                match cx.apply_child(child).await {
                    // As generated reconcilers do: said in the status, and waited for.
                    Err(Error::NotOwned(_)) if name.starts_with("patient") => {}
                    applied => _ = applied?,
                }
            }
            _ => {}
        }
        cx.patch_status(|status| {
            status.observed_generation = foobar.metadata.generation;
            status.conditions.set(cx.condition("Ready", true, "Done", "as asked"));
        })
        .await?;
        Ok(Action::Done)
    }

    async fn cleanup(&self, _: &Context<FooBar>, _: Arc<FooBar>) -> Result<Cleanup> {
        match self.0.cleanups.fetch_add(1, Ordering::SeqCst) {
            0 => Ok(Cleanup::Pending(Duration::from_secs(7))),
            _ => Ok(Cleanup::Done),
        }
    }

    fn deleted(&self, key: &ObjectKey) {
        self.0.deleted.lock().unwrap().push(key.to_string());
    }
}

fn controller() -> Controller<FooBar> {
    Controller::new("foobar").owns::<ConfigMap>()
}

fn run(world: &World, script: &Arc<Script>, controller: Controller<FooBar>) -> Running {
    let manager = Manager::builder(world.client()).name("test").build();
    controller.register(&manager, ByName(script.clone())).unwrap();
    Running::start(manager)
}

#[tokio::test(start_paused = true)]
async fn k02_each_object_has_its_own_growing_delay() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.put(&at("fails-a"), foobar("x"));
    world.put(&at("works-b"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(60).await;

    let runs = script.runs("fails-a");
    let gaps: Vec<_> = runs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.len() >= 10, "a retryable error is retried: {gaps:?}");
    for (n, gap) in gaps.iter().enumerate() {
        let base = Duration::from_millis(5 << n);
        assert!(
            *gap >= base && *gap <= base.mul_f64(1.1) + Duration::from_millis(2),
            "retry {n} after {gap:?}, not {base:?}"
        );
    }
    assert_eq!(script.runs("works-b").len(), 1, "its neighbour is not disturbed");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn k03_a_panic_fails_one_object_and_no_other() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.put(&at("panics-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(1).await;
    world.put(&at("works-b"), foobar("x"));
    seconds(1).await;

    assert!(script.runs("panics-a").len() > 1, "a panic is retried");
    assert_eq!(script.runs("works-b").len(), 1);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn k04_one_worker_by_default_and_never_more_than_asked() {
    for (asked, expected) in [(None, 1), (Some(3), 3)] {
        let (world, script) = (world(), Arc::<Script>::default());
        for n in 0..10 {
            world.put(&at(&format!("slow-{n}")), foobar("x"));
        }
        let controller = asked.into_iter().fold(controller(), Controller::concurrency);
        let running = run(&world, &script, controller);
        seconds(60).await;
        assert_eq!(script.most.load(Ordering::SeqCst), expected);
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn k05_a_cache_that_cannot_be_filled_ends_the_process_and_names_the_watch() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.intercept(|_, path| {
        path.contains("configmaps")
            .then(|| (403, support::faults::failure(403, "Forbidden", path)))
    });
    world.put(&at("works-a"), foobar("x"));
    let running = run(&world, &script, controller());
    let error = running.done.await.unwrap().unwrap_err().to_string();
    assert!(error.contains("ConfigMap") && error.contains("403"), "{error}");
    assert!(script.runs("works-a").is_empty(), "nothing runs on half a cache");
}

#[tokio::test(start_paused = true)]
async fn k08_the_controller_is_mapped_whatever_version_names_it_and_also_the_one_before() {
    let (world, script) = (
        World::uncollected(&[FooBar::crd(), Planet::crd()]),
        Arc::<Script>::default(),
    );
    for name in ["works-a", "works-b", "works-c"] {
        world.put(&at(name), foobar("x"));
    }
    let child = |controller: &str, other: &str| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"ownerReferences": [
            {"apiVersion": "test.example.com/v1beta7", "kind": "FooBar", "name": controller, "uid": "u", "controller": true},
            {"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": other, "uid": "v"}]}})
    };
    let running = run(&world, &script, controller());
    seconds(1).await;
    let before = ["works-a", "works-b", "works-c"].map(|name| script.runs(name).len());
    let path = format!("{CONFIG_MAPS}/child");
    world.put(&path, child("works-a", "works-c"));
    seconds(1).await;
    world.put(&path, child("works-b", "works-c"));
    seconds(1).await;

    assert_eq!(
        script.runs("works-a").len(),
        before[0] + 2,
        "once when it got the child, once when it lost it"
    );
    assert_eq!(script.runs("works-b").len(), before[1] + 1);
    assert_eq!(
        script.runs("works-c").len(),
        before[2],
        "an owner that is not the controller stays asleep"
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn k09_a_cluster_scoped_owner_has_one_key_whatever_namespace_its_child_is_in() {
    struct Seen(Arc<Mutex<Vec<String>>>);
    impl Reconciler<Planet> for Seen {
        async fn reconcile(&self, cx: &Context<Planet>, _: Arc<Planet>) -> Result<Action> {
            self.0.lock().unwrap().push(cx.key().to_string());
            Ok(Action::Done)
        }
    }
    let (world, seen) = (
        World::uncollected(&[FooBar::crd(), Planet::crd()]),
        Arc::<Mutex<Vec<String>>>::default(),
    );
    world.put(
        "/apis/test.example.com/v1/planets/earth",
        json!({"apiVersion": "test.example.com/v1", "kind": "Planet", "spec": {}}),
    );
    world.put(
        "/api/v1/namespaces/kube-system/configmaps/moon",
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"ownerReferences": [
        {"apiVersion": "test.example.com/v1", "kind": "Planet", "name": "earth", "uid": "u", "controller": true}]}}),
    );
    let manager = Manager::builder(world.client()).build();
    Controller::<Planet>::new("planet")
        .owns::<ConfigMap>()
        .register(&manager, Seen(seen.clone()))
        .unwrap();
    let running = Running::start(manager);
    seconds(1).await;
    world.edit("/api/v1/namespaces/kube-system/configmaps/moon", |moon| {
        moon["data"] = json!({"phase": "full"})
    });
    seconds(1).await;

    assert_eq!(*seen.lock().unwrap(), ["earth", "earth"]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn k10_the_reconciler_learns_that_an_object_is_gone() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.put(&at("works-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(1).await;
    world.delete(&at("works-a"));
    seconds(1).await;
    assert_eq!(*script.deleted.lock().unwrap(), ["default/works-a"]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn k14_a_predicate_does_not_swallow_deletions() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.put(&at("works-a"), foobar("x"));
    let running = run(&world, &script, controller().predicate(Predicate::generation_changed()));
    seconds(1).await;
    world.delete(&at("works-a"));
    seconds(1).await;
    assert_eq!(script.deleted.lock().unwrap().len(), 1);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn k17_a_generation_predicate_does_not_stop_after_the_finalizer_and_a_pending_cleanup_keeps_it() {
    let world = world();
    let script = Arc::new(Script {
        finalizer: Some(FINALIZER),
        ..Script::default()
    });
    world.put(&at("child-a"), foobar("x"));
    let running = run(&world, &script, controller().predicate(Predicate::generation_changed()));
    seconds(1).await;
    assert_eq!(
        world.object(&at("child-a")).unwrap()["metadata"]["finalizers"],
        json!([FINALIZER])
    );
    assert_eq!(world.count(CONFIG_MAPS), 1, "the run that stored the finalizer went on");

    world.delete(&at("child-a"));
    seconds(5).await;
    assert!(
        world.object(&at("child-a")).is_some(),
        "a cleanup that is pending keeps the object"
    );
    seconds(5).await;
    assert!(
        world.object(&at("child-a")).is_none(),
        "a cleanup that is done lets it go"
    );
    assert_eq!(script.cleanups.load(Ordering::SeqCst), 2);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn k18_events_hold_up_neither_a_reconcile_nor_the_end() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.hang("events.k8s.io");
    world.put(&at("chatty-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(1).await;
    let status = world.object(&at("chatty-a")).unwrap()["status"].clone();
    assert_eq!(
        status["conditions"][0]["status"],
        json!("True"),
        "done, while no event was ever answered"
    );
    assert!(
        !world.requests("POST /apis/events.k8s.io").is_empty(),
        "they are sent beside it"
    );

    let asked = Instant::now();
    running.stop().await.unwrap();
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
}

#[tokio::test(start_paused = true)]
async fn k19_shutdown_waits_for_the_work_in_hand_and_not_for_ever() {
    for (drain, in_time) in [(30, true), (1, false)] {
        let (world, script) = (world(), Arc::<Script>::default());
        let manager = Manager::builder(world.client())
            .graceful_shutdown_timeout(Duration::from_secs(drain))
            .build();
        controller().register(&manager, ByName(script.clone())).unwrap();
        world.put(&at("slow-a"), foobar("x"));
        let running = Running::start(manager);
        seconds(1).await;
        world.put(&at("works-b"), foobar("x"));
        let asked = Instant::now();
        let ended = running.stop().await;
        assert_eq!(ended.is_ok(), in_time, "{ended:?}");
        assert!(asked.elapsed() <= Duration::from_secs(drain + 1));
        assert_eq!(script.now.load(Ordering::SeqCst) == 0, in_time);
        assert!(script.runs("works-b").is_empty(), "no new work after the signal");
    }
}

#[tokio::test(start_paused = true)]
async fn a_terminal_error_is_not_retried_and_stands_in_the_status() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.put(&at("terminal-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(3600).await;
    assert_eq!(script.runs("terminal-a").len(), 1);
    let condition = world.object(&at("terminal-a")).unwrap()["status"]["conditions"][0].clone();
    assert_eq!(
        (&condition["status"], &condition["reason"]),
        (&json!("False"), &json!("BadTarget"))
    );

    world.edit(&at("terminal-a"), |object| object["spec"]["target"] = json!("y"));
    seconds(1).await;
    assert_eq!(
        script.runs("terminal-a").len(),
        2,
        "a change of the object is a new chance"
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn its_own_status_does_not_wake_a_controller_and_a_foreign_one_is_repaired_at_once() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.put(&at("works-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(60).await;
    assert_eq!(script.runs("works-a").len(), 1);
    assert_eq!(world.requests(&format!("PATCH {}/status", at("works-a"))).len(), 1);
    assert_eq!(
        world.object(&at("works-a")).unwrap()["metadata"]["generation"],
        json!(1)
    );

    world.edit_status(&at("works-a"), |object| object["status"] = json!({"conditions": []}));
    seconds(1).await;
    assert_eq!(script.runs("works-a").len(), 2);
    let object = world.object(&at("works-a")).unwrap();
    assert_eq!(object["status"]["conditions"][0]["status"], json!("True"));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn its_own_status_is_known_even_when_the_watch_overtakes_the_answer() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.delay_replies(Duration::from_secs(2));
    world.put(&at("works-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(60).await;
    assert_eq!(script.runs("works-a").len(), 1);

    world.edit(&at("works-a"), |object| object["spec"]["target"] = json!("y"));
    seconds(1).await;
    world.edit(&at("works-a"), |object| {
        object["metadata"]["labels"] = json!({"foreign": "yes"})
    });
    seconds(60).await;
    assert!(
        script.runs("works-a").len() >= 3,
        "a foreign change in the middle of it is not taken for its own"
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_reconcile_is_never_behind_the_operators_own_writes() {
    let (world, script) = (world(), Arc::<Script>::default());
    let running = run(&world, &script, controller());
    seconds(1).await;
    world.delay_watches("configmaps", Duration::from_secs(30));
    world.put(&at("child-a"), foobar("x"));
    seconds(1).await;
    world.edit(&at("child-a"), |object| {
        object["metadata"]["labels"] = json!({"touched": "yes"})
    });
    seconds(1).await;

    assert_eq!(script.runs("child-a").len(), 2);
    let about_child = [world.requests("POST /api/"), world.requests("PATCH /api/")].concat();
    assert_eq!(
        about_child,
        [format!("POST {CONFIG_MAPS}")],
        "the second run knew of the child that no watch had shown yet"
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_when_nothing_changed_and_drift_is_repaired() {
    let (world, script) = (world(), Arc::<Script>::default());
    world.put(&at("child-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(1).await;
    assert_eq!(world.requests(&format!("POST {CONFIG_MAPS}")).len(), 1);
    let child = format!("{CONFIG_MAPS}/child-a-foobar");

    let writes = |world: &World| world.requests("PATCH").len() + world.requests("POST /api").len();
    let before = writes(&world);
    world.edit(&at("child-a"), |object| {
        object["metadata"]["labels"] = json!({"touched": "yes"})
    });
    seconds(1).await;
    assert_eq!(
        (script.runs("child-a").len(), writes(&world)),
        (2, before),
        "it looked, and had nothing to do"
    );

    world.edit(&child, |child| child["data"]["target"] = json!("drifted"));
    seconds(1).await;
    assert_eq!(world.object(&child).unwrap()["data"]["target"], json!("x"));
    world.delete(&child);
    seconds(1).await;
    assert!(world.object(&child).is_some(), "a child that was deleted is made again");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_foreign_object_of_the_childs_name_is_never_touched_and_its_going_wakes_the_owner() {
    let (world, script) = (world(), Arc::<Script>::default());
    let child = format!("{CONFIG_MAPS}/child-a-foobar");
    world.put(
        &child,
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": {"theirs": "1"}}),
    );
    let theirs = world.object(&child);
    world.put(&at("child-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(2).await;
    assert_eq!(world.object(&child), theirs);

    world.delete(&child);
    seconds(1).await;
    assert_eq!(world.object(&child).unwrap()["data"], json!({"target": "x"}));
    running.stop().await.unwrap();
}

/// What stood in the way was there when it was asked about, and gone, as the watch had told, before anybody waited for that.
#[tokio::test(start_paused = true)]
async fn a_foreign_object_that_goes_while_it_is_looked_at_is_not_waited_for() {
    let (world, script) = (world(), Arc::<Script>::default());
    let child = format!("{CONFIG_MAPS}/patient-a-foobar");
    let (posts, path) = (AtomicUsize::new(0), child.clone());
    world.intercept(move |verb, asked| match verb {
        "POST" if asked == CONFIG_MAPS && posts.fetch_add(1, Ordering::SeqCst) == 0 => {
            Some((409, support::faults::failure(409, "AlreadyExists", asked)))
        }
        "GET" if asked == path => {
            let metadata =
                json!({"name": "patient-a-foobar", "namespace": "default", "uid": "theirs", "resourceVersion": "1"});
            Some((
                200,
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}),
            ))
        }
        _ => None,
    });
    world.put(&at("patient-a"), foobar("x"));
    let running = run(&world, &script, controller());
    seconds(10).await;
    assert_eq!(
        world.object(&child).map(|child| child["data"].clone()),
        Some(json!({"target": "x"}))
    );
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn two_controllers_share_one_list_and_one_watch() {
    let world = world();
    world.put(&at("works-a"), foobar("x"));
    let manager = Manager::builder(world.client()).build();
    let (one, two) = (Arc::<Script>::default(), Arc::<Script>::default());
    Controller::<FooBar>::new("one")
        .register(&manager, ByName(one.clone()))
        .unwrap();
    Controller::<FooBar>::new("two")
        .register(&manager, ByName(two.clone()))
        .unwrap();
    let twice = Controller::<FooBar>::new("two")
        .register(&manager, ByName(two.clone()))
        .unwrap_err();
    assert!(twice.to_string().contains("`two`"));
    let running = Running::start(manager);
    seconds(5).await;

    assert!(!one.runs("works-a").is_empty() && !two.runs("works-a").is_empty());
    let reads = world.requests("GET /apis/test.example.com/v1/foobars").len();
    let watches = world.requests("WATCH /apis/test.example.com/v1/foobars").len();
    assert!(reads <= 1 && watches == 1, "{reads} lists, {watches} watches");
    running.stop().await.unwrap();
}
