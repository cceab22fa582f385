//! Nothing that the runtime writes itself is forgotten: each write fails once, or its response is lost, or the process ends
//! there; the end state is as without a fault.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kubewright_runtime::{Action, Cleanup, Conditions, Context, Controller, Error, Reconciler, Result};
use serde_json::{Value, json};

use crate::support::{
    World,
    faults::failure,
    kinds::{FooBar, Running, at, config_map, foobar, seconds, world},
    notes::{child, manager},
};

const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/default/events";

/// Keeps a ConfigMap, a Secret that is made once, and an annotated ConfigMap without an owner, and cleans up; only reads the
/// children of an object named `reads`.
struct Keeper;

impl Reconciler<FooBar> for Keeper {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let (name, target) = (cx.key().name().to_owned(), foobar.spec.target.clone());
        if name == "reads" {
            let children = cx.children::<ConfigMap>()?.len();
            let ready = cx.condition("Ready", true, "Counted", format!("{children} children"));
            cx.patch_status(|status| status.conditions.set(ready)).await?;
            return Ok(Action::Done);
        }
        if target == "bad" {
            return Err(Error::terminal("BadTarget", "no such target"));
        }
        let map = format!("{name}-{target}");
        cx.apply_child::<ConfigMap>(child(json!({"metadata": {"name": map}, "data": {"target": target}})))
            .await?;
        cx.create_once::<Secret>(child(
            json!({"metadata": {"name": name}, "stringData": {"password": "x"}}),
        ))
        .await?;
        cx.apply_unowned::<ConfigMap>(child(json!({"metadata": {"name": format!("{name}-mark")}})))
            .await?;
        cx.prune_children::<ConfigMap>(&[&map]).await?;
        Ok(Action::Done)
    }

    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/keeper")
    }

    async fn cleanup(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Cleanup> {
        cx.delete_unowned::<ConfigMap>(&[]).await?;
        Ok(Cleanup::Done)
    }
}

fn start(world: &World) -> Running {
    let manager = manager(world);
    Controller::new("foobar")
        .owns::<ConfigMap>()
        .prunes::<ConfigMap>()
        .applies_unowned::<ConfigMap>()
        .owns::<Secret>()
        .register(&manager, Keeper)
        .unwrap();
    Running::start(manager)
}

/// The fate of one write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// It is refused with this code and reason.
    Refused(u16, &'static str),
    /// The process dies there; the write is stored, or not.
    Dies { stored: bool },
}

impl Fault {
    pub const UNAVAILABLE: Self = Self::Refused(503, "ServiceUnavailable");

    /// Happens at the `n`th write.
    pub fn inject(self, world: &World, n: usize) {
        match self {
            Self::Refused(code, reason) => {
                let count = AtomicUsize::new(0);
                world.intercept(move |verb, path| {
                    let writes = !matches!(verb, "GET" | "WATCH");
                    let fails = writes && count.fetch_add(1, Ordering::SeqCst) == n;
                    fails.then(|| (code, failure(code, reason, path)))
                });
            }
            Self::Dies { stored } => world.crash_at(n, stored),
        }
    }
}

/// The end state. A failure that was reported, and is over, leaves its condition, which is left out.
pub fn end_state(world: &World) -> BTreeMap<String, Value> {
    let mut state = world.end_state();
    let over = |condition: &Value| condition["status"] == "True" && condition["reason"] == "Reconciled";
    for object in state.values_mut() {
        if object["status"]["conditions"]
            .as_array()
            .is_none_or(|all| all.iter().all(over))
        {
            object["status"] = Value::Null;
        }
    }
    state
}

/// The writes so far.
pub fn all_writes(world: &World) -> Vec<String> {
    let mut writes = world.requests("");
    writes.retain(|request| !request.starts_with("GET ") && !request.starts_with("WATCH "));
    writes
}

/// The end state, with the reasons of the events for each object; and the writes.
type End = (BTreeMap<String, Value>, BTreeSet<String>);

/// A story with this fault at the `n`th write, and the writes.
async fn story(fault: Option<(usize, Fault)>) -> (End, Vec<String>) {
    let world = world();
    world.put(&at("reads"), foobar("x"));
    let uid = world.object(&at("reads")).unwrap()["metadata"]["uid"].clone();
    let owner = json!([{"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "reads", "uid": uid, "controller": true}]);
    let old = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"ownerReferences": owner}});
    world.put_as(&config_map("old"), "test/foobar", old);
    if let Some((n, fault)) = fault {
        fault.inject(&world, n);
    }
    let mut running = start(&world);
    seconds(2).await;
    for (name, target) in [("a", "bad"), ("b", "one"), ("c", "one")] {
        world.put(&at(name), foobar(target));
    }
    seconds(200).await;
    if world.restart() {
        running.done.abort();
        running = start(&world);
        seconds(200).await;
    }
    let reported = world.object(&at("a")).unwrap()["status"]["conditions"][0].clone();
    assert_eq!(
        [&reported["status"], &reported["reason"]],
        ["False", "BadTarget"],
        "{fault:?}"
    );
    for (name, target) in [("a", "good"), ("b", "two")] {
        world.edit(&at(name), |object| object["spec"]["target"] = json!(target));
    }
    world.edit(&format!("{SECRETS}/b"), |secret| {
        secret["metadata"]["labels"] = json!({})
    });
    world.delete(&at("c"));
    seconds(1500).await;
    if world.restart() {
        running.done.abort();
        running = start(&world);
        seconds(200).await;
    }
    let ended = running.stop().await;
    assert!(ended.is_ok(), "{fault:?}: {ended:?}");
    let mut state = end_state(&world);
    for secret in world.list(SECRETS) {
        let meta = &secret["metadata"];
        state.insert(meta["name"].to_string(), json!([meta["labels"], secret["data"]]));
    }
    let events = world.list(EVENTS).into_iter();
    let events = events.map(|event| format!("{} {}", event["regarding"]["name"], event["reason"]));
    ((state, events.collect()), all_writes(&world))
}

/// Runs the story with this fault at each write of the one without.
async fn at_each_write(fault: Fault) {
    let (expected, writes) = story(None).await;
    let names: Vec<_> = expected.0.keys().filter_map(|path| path.rsplit('/').next()).collect();
    assert_eq!(
        names,
        [
            "\"a\"", "\"b\"", "a-good", "a-mark", "b-mark", "b-two", "old", "a", "b", "reads"
        ]
    );
    assert_eq!(expected.1, BTreeSet::from(["\"a\" \"BadTarget\"".to_owned()]));
    assert!(writes.len() > 20, "{writes:?}");
    for (n, write) in writes.iter().enumerate() {
        let (ended, _) = story(Some((n, fault))).await;
        assert_eq!(ended.0, expected.0, "{fault:?} at {n}: {write}");
        let events = ended.1;
        assert!(events.is_superset(&expected.1), "{fault:?} at {n}: {write}: {events:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_is_unavailable_once_is_done_in_the_end() {
    at_each_write(Fault::UNAVAILABLE).await;
}

#[tokio::test(start_paused = true)]
async fn a_write_that_is_a_conflict_once_is_done_in_the_end() {
    at_each_write(Fault::Refused(409, "Conflict")).await;
}

#[tokio::test(start_paused = true)]
async fn a_write_that_is_forbidden_once_is_done_in_the_end() {
    at_each_write(Fault::Refused(403, "Forbidden")).await;
}

#[tokio::test(start_paused = true)]
async fn what_a_process_did_not_write_before_it_died_the_next_one_writes() {
    at_each_write(Fault::Dies { stored: false }).await;
}

#[tokio::test(start_paused = true)]
async fn what_a_process_wrote_last_before_it_died_is_not_written_twice() {
    at_each_write(Fault::Dies { stored: true }).await;
}

/// Fails, and records its attempts.
#[derive(Clone, Default)]
struct Failing(Arc<Mutex<Vec<u32>>>);

impl Failing {
    /// The attempts since the last call.
    fn taken(&self) -> Vec<u32> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Reconciler<FooBar> for Failing {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        self.0.lock().unwrap().push(cx.attempt());
        Err(Error::retry("it is not ready"))
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_that_replaces_a_deleted_one_at_once_has_not_failed_yet() {
    let (world, failing) = (world(), Failing::default());
    let manager = manager(&world);
    Controller::new("foobar").register(&manager, failing.clone()).unwrap();
    let running = Running::start(manager);
    world.put(&at("a"), foobar("one"));
    seconds(60).await;
    assert!(failing.taken().len() > 5);
    world.delete(&at("a"));
    world.put(&at("a"), foobar("one"));
    seconds(1).await;
    assert_eq!(failing.taken()[..2], [0, 1]);
    running.stop().await.unwrap();
}
