//! Watches that a controller gets while it runs.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use crate::support::{
    World,
    faults::failure,
    kinds::{CONFIG_MAPS, FooBar, Running, at, config_map, foobar, seconds, world},
    notes::{Notes, Seen, manager, taken},
};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kubewright_runtime::{
    Action, AddedWatches, Context, Controller, Error, Kind, Manager, ObjectKey, Reconciler, Result,
};
use serde_json::{Value, json};

const SECRETS: &str = "/api/v1/namespaces/default/secrets";

/// Watches the kinds that a FooBar's target names, and records how many objects it finds.
#[derive(Clone, Default)]
struct Follows {
    added: AddedWatches,
    seen: Seen,
}

/// A kind by its name: of the core group, or of a CRD that may not be installed.
fn kind(name: &str) -> Kind<DynamicObject> {
    match name {
        "ConfigMap" => Kind::namespaced(ApiResource::erase::<ConfigMap>(&())),
        "Secret" => Kind::namespaced(ApiResource::erase::<Secret>(&())),
        _ => Kind::namespaced(ApiResource::from_gvk(&GroupVersionKind::gvk(
            "other.example.com",
            "v1",
            name,
        ))),
    }
}

/// The FooBar that an object's label `wakes` names.
fn woken(object: &DynamicObject) -> Vec<ObjectKey> {
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

fn labelled(kind: &str) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"labels": {"wakes": "a"}}})
}

impl Reconciler<FooBar> for Follows {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let mut found = BTreeMap::new();
        for name in foobar.spec.target.split(',') {
            let store = self.added.watch(&kind(name), woken).await?;
            found.insert(name, store.len());
        }
        self.seen.lock().unwrap().push(format!("{} {found:?}", cx.key().name()));
        Ok(Action::Done)
    }
}

impl Follows {
    fn start(&self, manager: Manager) -> Running {
        Controller::<FooBar>::new("foobar")
            .adds_watches(&self.added)
            .register(&manager, self.clone())
            .unwrap();
        Running::start(manager)
    }
}

fn watches(world: &World, path: &str) -> usize {
    world.requests(&format!("WATCH {path}")).len()
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_added_is_filled_first_and_wakes_its_objects_until_it_is_ended() {
    let (world, follows) = (world(), Follows::default());
    world.put(&config_map("old"), labelled("ConfigMap"));
    let running = follows.start(manager(&world));
    seconds(60).await;
    assert_eq!(watches(&world, "/api/v1"), 0, "nothing is watched before");

    world.put(&at("a"), foobar("ConfigMap"));
    seconds(5).await;
    let runs = taken(&follows.seen);
    assert_eq!(
        runs[0], r#"a {"ConfigMap": 1}"#,
        "the cache is filled when the call returns"
    );
    world.put(&config_map("new"), labelled("ConfigMap"));
    seconds(5).await;
    assert_eq!(taken(&follows.seen), [r#"a {"ConfigMap": 2}"#]);

    world.edit(&at("a"), |foobar| foobar["spec"]["target"] = json!("ConfigMap,Secret"));
    seconds(5).await;
    world.put(&format!("{SECRETS}/one"), labelled("Secret"));
    seconds(5).await;
    assert_eq!(
        taken(&follows.seen).last().unwrap(),
        r#"a {"ConfigMap": 2, "Secret": 1}"#
    );
    assert_eq!(
        watches(&world, "/api/v1/configmaps"),
        1,
        "one watch, however often it is asked for"
    );

    assert!(follows.added.unwatch(&kind("ConfigMap")));
    assert!(!follows.added.unwatch(&kind("ConfigMap")));
    world.delete(&config_map("new"));
    seconds(3600).await;
    assert_eq!(taken(&follows.seen), [""; 0], "an ended watch wakes nothing");
    assert_eq!(watches(&world, "/api/v1/configmaps"), 1, "and is not resumed");
    world.edit(&at("a"), |foobar| {
        foobar["metadata"]["labels"] = json!({"again": "yes"})
    });
    seconds(5).await;
    assert_eq!(
        taken(&follows.seen)[0],
        r#"a {"ConfigMap": 1, "Secret": 1}"#,
        "it can be added again"
    );

    running.stop().await.unwrap();
    let before = world.requests("").len();
    seconds(3600).await;
    assert_eq!(
        world.requests("").len(),
        before,
        "every watch has ended with the manager"
    );
    let late = follows.added.watch(&kind("Gear"), woken).await.unwrap_err();
    assert!(
        matches!(&late, Error::Retry(_)) && late.to_string().contains("has stopped"),
        "{late}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_absent_kind_is_watched_once_it_is_served() {
    let (world, follows) = (world(), Follows::default());
    let running = follows.start(manager(&world));
    world.put(&at("a"), foobar("Gear"));
    seconds(5).await;
    assert_eq!(taken(&follows.seen), [r#"a {"Gear": 0}"#]);
    let crd = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gears.other.example.com"}, "spec": {"group": "other.example.com", "scope": "Namespaced",
        "names": {"kind": "Gear", "plural": "gears"}, "versions": [{"name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object"}}}]}});
    world.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &crd);
    let mut gear = labelled("Gear");
    gear["apiVersion"] = json!("other.example.com/v1");
    world.put("/apis/other.example.com/v1/namespaces/default/gears/one", gear);
    seconds(20).await;
    assert_eq!(taken(&follows.seen), [r#"a {"Gear": 1}"#]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_refused_fails_the_reconcile_and_is_used_once_it_is_allowed() {
    let (world, follows) = (world(), Follows::default());
    let refused = Arc::new(Mutex::new(true));
    let refuses = refused.clone();
    world.intercept(move |_, path| {
        let refused = path == "/api/v1/configmaps" && *refuses.lock().unwrap();
        refused.then(|| (403, failure(403, "Forbidden", path)))
    });
    let running = follows.start(manager(&world));
    world.put(&at("a"), foobar("ConfigMap"));
    seconds(120).await;
    assert_eq!(taken(&follows.seen), [""; 0]);
    let error = follows
        .added
        .watch(&kind("ConfigMap"), woken)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("configmaps in all namespaces: 403"), "{error}");
    *refused.lock().unwrap() = false;
    seconds(120).await;
    assert_eq!(taken(&follows.seen), [r#"a {"ConfigMap": 0}"#]);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn watches_belong_to_one_controller_that_is_registered() {
    let (world, follows) = (world(), Follows::default());
    let early = follows
        .added
        .watch(&kind("Secret"), woken)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        early.contains("secrets/v1 cannot be watched: no controller is connected"),
        "{early}"
    );
    let manager = manager(&world);
    let running = |name: &str| {
        Controller::<FooBar>::new(name)
            .condition(format!("{name}Ready"))
            .adds_watches(&follows.added)
            .register(&manager, Notes(Seen::default()))
    };
    running("one").unwrap();
    let second = running("two").unwrap_err().to_string();
    assert!(
        second.contains("the `AddedWatches` of `two` are those of another controller"),
        "{second}"
    );
    assert_eq!(world.writes(CONFIG_MAPS), [""; 0]);
}
