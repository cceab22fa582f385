//! Kinds that may be absent: the operator works without them, notices when they are served, and when they no longer are.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU16, Ordering},
    },
};

use crate::support::{
    World,
    faults::failure,
    kinds::{FooBar, Running, at, condition, foobar, seconds},
    notes::{Notes, Seen, child, manager, taken},
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{CustomResource, CustomResourceExt};
use kubewright_runtime::{Action, Context, Controller, Error, Manager, ObjectKey, Reconciler, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A kind of another operator, which may not be installed.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "other.example.com", version = "v1", kind = "Gadget", namespaced)]
struct GadgetSpec {
    size: i32,
}

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GADGETS: &str = "/apis/other.example.com/v1/namespaces/default/gadgets";
const DISCOVERY: &str = "/apis/other.example.com/v1";

fn install(world: &World, crd: &CustomResourceDefinition) {
    world.post(CRDS, &json!(crd));
}

fn remove(world: &World, crd: &CustomResourceDefinition) {
    let name = crd.metadata.name.as_deref().unwrap_or_default();
    world.delete(&format!("{CRDS}/{name}"));
}

fn gadget(size: i32) -> Value {
    json!({"apiVersion": "other.example.com/v1", "kind": "Gadget", "metadata": {"labels": {"wakes": "a"}}, "spec": {"size": size}})
}

/// The FooBars that an object's label `wakes` names.
fn woken(object: &Gadget) -> Vec<ObjectKey> {
    let name = object
        .metadata
        .labels
        .iter()
        .flatten()
        .find(|(label, _)| *label == "wakes");
    name.map(|(_, name)| ObjectKey::new(Some("default"), name))
        .into_iter()
        .collect()
}

/// Records the objects that are reconciled, and those that are gone.
struct Life(Seen);

impl Reconciler<Gadget> for Life {
    async fn reconcile(&self, cx: &Context<Gadget>, gadget: Arc<Gadget>) -> Result<Action> {
        self.0
            .lock()
            .unwrap()
            .push(format!("{} {}", cx.key().name(), gadget.spec.size));
        Ok(Action::Done)
    }

    fn deleted(&self, key: &ObjectKey) {
        self.0.lock().unwrap().push(format!("{} gone", key.name()));
    }
}

#[tokio::test(start_paused = true)]
async fn an_own_kind_comes_and_goes_and_comes_again_without_a_restart() {
    let (world, seen) = (World::new(&[FooBar::crd()]), Seen::default());
    let notes = Seen::default();
    let manager = manager(&world);
    Controller::<Gadget>::new("gadget")
        .optional::<Gadget>()
        .register(&manager, Life(seen.clone()))
        .unwrap();
    Controller::<FooBar>::new("foobar")
        .register(&manager, Notes(notes.clone()))
        .unwrap();
    world.put(&at("a"), foobar("x"));
    let store = manager.informer::<Gadget>().store();
    let running = Running::start(manager);
    seconds(5).await;
    assert_eq!(taken(&notes), ["a"], "an absent kind delays no other controller");

    for _ in 0..2 {
        install(&world, &Gadget::crd());
        world.put(&format!("{GADGETS}/one"), gadget(1));
        seconds(15).await;
        assert_eq!(taken(&seen), ["one 1"]);
        world.put(&format!("{GADGETS}/two"), gadget(2));
        seconds(5).await;
        assert_eq!(taken(&seen), ["two 2"], "it is watched");

        remove(&world, &Gadget::crd());
        seconds(30).await;
        let mut gone = taken(&seen);
        gone.sort();
        assert_eq!(
            (gone, store.len()),
            (vec!["one gone".to_owned(), "two gone".to_owned()], 0)
        );
    }
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_no_longer_served_empties_the_cache_and_fills_it_again() {
    let mut crd = json!(Gadget::crd());
    let mut next = crd["spec"]["versions"][0].clone();
    (next["name"], next["storage"]) = (json!("v2"), json!(false));
    crd["spec"]["versions"].as_array_mut().unwrap().push(next);
    let (world, seen) = (World::new(&[FooBar::crd()]), Seen::default());
    world.post(CRDS, &crd);
    world.put(&format!("{GADGETS}/one"), gadget(1));
    let manager = manager(&world);
    Controller::<Gadget>::new("gadget")
        .optional::<Gadget>()
        .register(&manager, Life(seen.clone()))
        .unwrap();
    let running = Running::start(manager);
    seconds(5).await;
    assert_eq!(taken(&seen), ["one 1"]);

    let path = format!("{CRDS}/gadgets.other.example.com");
    world.edit(&path, |crd| crd["spec"]["versions"][0]["served"] = json!(false));
    // A watch that the API server does not end is opened again after some minutes.
    seconds(600).await;
    assert_eq!(taken(&seen), ["one gone"]);
    world.edit(&path, |crd| crd["spec"]["versions"][0]["served"] = json!(true));
    seconds(15).await;
    assert_eq!(taken(&seen), ["one 1"]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn only_a_discovery_document_without_the_kind_is_absence() {
    for (code, reason) in [(503, "ServiceUnavailable"), (403, "Forbidden"), (500, "InternalError")] {
        let (world, seen) = (World::new(&[FooBar::crd(), Gadget::crd()]), Seen::default());
        world.put(&format!("{GADGETS}/one"), gadget(1));
        let manager = manager(&world);
        Controller::<Gadget>::new("gadget")
            .optional::<Gadget>()
            .register(&manager, Life(seen.clone()))
            .unwrap();
        let informer = manager.informer::<Gadget>();
        let running = Running::start(manager);
        seconds(5).await;
        assert_eq!(taken(&seen), ["one 1"]);

        // An API server that has just started knows neither kinds nor, in this case, what it serves.
        let discovery = Arc::new(AtomicU16::new(code));
        let asked = discovery.clone();
        world.intercept(move |_, path| {
            let code = asked.load(Ordering::SeqCst);
            match path {
                DISCOVERY if code != 200 => Some((code, failure(code, reason, path))),
                _ if path.ends_with("/gadgets") => Some((404, failure(404, "NotFound", path))),
                _ => None,
            }
        });
        // Its watch ends, and cannot be resumed.
        seconds(900).await;
        assert_eq!((taken(&seen).len(), informer.store().len()), (0, 1), "{code}");
        assert!(informer.is_served());
        let error = informer.last_error().unwrap_or_default();
        assert!(error.contains("404"), "{error}");

        // A 404 of a list, when discovery shows the kind, is no absence either.
        discovery.store(200, Ordering::SeqCst);
        seconds(900).await;
        assert_eq!((taken(&seen).len(), informer.store().len()), (0, 1), "{code}");
        running.stop().await.unwrap();
    }
}

/// Owns a Gadget if the kind is served, and records what it reads.
#[derive(Clone, Default)]
struct Owner {
    seen: Seen,
    always: bool,
}

impl Reconciler<FooBar> for Owner {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let (served, found) = (cx.is_served::<Gadget>()?, cx.get::<Gadget>(cx.key().name())?.is_some());
        let all = cx.list::<Gadget>()?.len();
        self.seen
            .lock()
            .unwrap()
            .push(format!("{} {served} {found} {all}", cx.key().name()));
        if served || self.always {
            let fields = json!({"metadata": {"name": cx.key().name()}, "spec": {"size": 7}});
            let applied = cx.apply_child::<Gadget>(child(fields)).await;
            assert!(
                served || matches!(&applied, Err(Error::Absent(kind)) if kind == "Gadget"),
                "{applied:?}"
            );
            applied?;
        }
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn owners_are_reconciled_when_the_kind_of_their_children_comes_and_goes() {
    let (world, owner) = (World::new(&[FooBar::crd()]), Owner::default());
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .owns::<Gadget>()
        .optional::<Gadget>()
        .register(&manager, owner.clone())
        .unwrap();
    world.put(&at("a"), foobar("x"));
    let running = Running::start(manager);
    seconds(5).await;
    assert_eq!(taken(&owner.seen), ["a false false 0"]);

    install(&world, &Gadget::crd());
    seconds(15).await;
    assert_eq!(taken(&owner.seen), ["a true false 0"]);
    assert_eq!(world.object(&format!("{GADGETS}/a")).unwrap()["spec"]["size"], 7);
    world.edit(&format!("{GADGETS}/a"), |gadget| gadget["spec"]["size"] = json!(8));
    seconds(5).await;
    assert_eq!(taken(&owner.seen).last().map(String::as_str), Some("a true true 1"));
    assert_eq!(
        world.object(&format!("{GADGETS}/a")).unwrap()["spec"]["size"],
        7,
        "the owner repairs it"
    );

    remove(&world, &Gadget::crd());
    seconds(60).await;
    let last = taken(&owner.seen).pop();
    assert_eq!(last.as_deref(), Some("a false false 0"));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_apply_of_an_absent_kind_is_reported_once_and_made_when_the_kind_comes() {
    let world = World::new(&[FooBar::crd()]);
    let owner = Owner {
        always: true,
        ..Owner::default()
    };
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .owns::<Gadget>()
        .optional::<Gadget>()
        .register(&manager, owner.clone())
        .unwrap();
    world.put(&at("a"), foobar("x"));
    let running = Running::start(manager);
    seconds(3600).await;
    let expected = [
        json!("False"),
        json!("KindAbsent"),
        json!("the API server does not serve Gadget"),
    ];
    assert_eq!(condition(&world, "a"), expected);
    assert_eq!(taken(&owner.seen).len(), 1, "nothing is retried meanwhile");
    assert_eq!(world.writes(GADGETS), [""; 0]);

    install(&world, &Gadget::crd());
    seconds(15).await;
    assert!(world.object(&format!("{GADGETS}/a")).is_some());
    assert_eq!(condition(&world, "a")[0], "True");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_watched_kind_wakes_the_objects_that_it_names_once_it_is_served() {
    let (world, seen) = (World::new(&[FooBar::crd()]), Seen::default());
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .watches(woken)
        .optional::<Gadget>()
        .register(&manager, Notes(seen.clone()))
        .unwrap();
    world.put(&at("a"), foobar("x"));
    world.put(&at("b"), foobar("x"));
    let running = Running::start(manager);
    seconds(5).await;
    taken(&seen);
    install(&world, &Gadget::crd());
    seconds(20).await;
    let mut runs = taken(&seen);
    runs.sort();
    assert_eq!(runs, ["a", "b"], "what they do may depend on the kind");
    world.put(&format!("{GADGETS}/one"), gadget(1));
    seconds(5).await;
    assert_eq!(taken(&seen), ["a"]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_absent_kind_costs_six_requests_a_minute_in_any_number_of_namespaces() {
    let world = World::new(&[FooBar::crd()]);
    let namespaces = ["default", "kube-system", "kube-public"].map(str::to_owned);
    let manager = Manager::builder(world.client())
        .name("test")
        .watch_namespaces(namespaces)
        .build();
    Controller::<Gadget>::new("gadget")
        .optional::<Gadget>()
        .register(&manager, Life(Seen::default()))
        .unwrap();
    let running = Running::start(manager);
    seconds(60).await;
    let before = world.requests("").len();
    seconds(3600).await;
    let asked = world.requests(&format!("GET {DISCOVERY}")).len();
    let sent = world.requests("").len() - before;
    assert!((300..=360).contains(&sent), "{sent}");
    assert!(asked >= sent, "nothing but discovery is asked: {asked} of {sent}");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn children_without_the_label_are_found_when_their_kind_comes() {
    let (world, owner) = (World::new(&[FooBar::crd()]), Owner::default());
    let manager = manager(&world);
    Controller::<FooBar>::new("foobar")
        .owns::<Gadget>()
        .optional::<Gadget>()
        .register(&manager, owner.clone())
        .unwrap();
    world.put(&at("a"), foobar("x"));
    let uid = world.object(&at("a")).unwrap()["metadata"]["uid"].clone();
    let running = Running::start(manager);
    seconds(5).await;

    install(&world, &Gadget::crd());
    let mut old = gadget(1);
    old["metadata"]["ownerReferences"] = json!([
        {"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "a", "uid": uid, "controller": true}]);
    world.put_as(&format!("{GADGETS}/old"), "test/foobar", old);
    seconds(20).await;
    let labels = world.object(&format!("{GADGETS}/old")).unwrap()["metadata"]["labels"].clone();
    let labels: BTreeMap<String, String> = serde_json::from_value(labels).unwrap();
    assert_eq!(labels.get("kubewright.dev/operator").map(String::as_str), Some("test"));
    let last = taken(&owner.seen).pop();
    assert_eq!(last.as_deref(), Some("a true true 2"));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_declared_optional_still_ends_the_process() {
    let world = World::new(&[FooBar::crd()]);
    let manager = manager(&world);
    Controller::<Gadget>::new("gadget")
        .register(&manager, Life(Seen::default()))
        .unwrap();
    let error = manager.run(std::future::pending(), None).await.unwrap_err().to_string();
    assert!(
        error.contains("404") && error.contains("declare the kind `.optional`"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_the_controller_does_not_use_cannot_be_optional() {
    let world = World::new(&[FooBar::crd()]);
    let unused = Controller::<FooBar>::new("foobar")
        .optional::<Gadget>()
        .register(&manager(&world), Notes(Arc::new(Mutex::default())))
        .unwrap_err();
    assert!(
        unused.to_string().contains("`foobar` allows Gadget to be absent"),
        "{unused}"
    );
}
