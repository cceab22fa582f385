//! Answers of the API server that look final and are not.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kubewright_runtime::{Action, Context, Controller, Manager, Reconciler, Result};
use serde_json::json;

use crate::support::{
    World,
    faults::failure,
    kinds::{CONFIG_MAPS, FooBar, Running, at, condition, config_map, foobar, seconds, world},
    notes::child,
};

/// Keeps a ConfigMap of the object's name, and writes no status.
struct Map;

impl Reconciler<FooBar> for Map {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let map = json!({"metadata": {"name": cx.key().name()}, "data": {"a": "1"}});
        cx.apply_child::<ConfigMap>(child(map)).await?;
        Ok(Action::Done)
    }
}

fn start<R: Reconciler<FooBar>>(world: &World, reconciler: R) -> Running {
    let manager = Manager::builder(world.client()).name("test").build();
    let controller = Controller::new("foobar").owns::<ConfigMap>();
    controller.register(&manager, reconciler).unwrap();
    Running::start(manager)
}

/// As a Service whose `nodePort` another one has, until that one goes.
#[tokio::test(start_paused = true)]
async fn what_is_found_invalid_is_tried_again_each_half_minute_and_said_in_the_status_meanwhile() {
    let (world, refuses) = (world(), Arc::new(AtomicBool::new(true)));
    let refusing = refuses.clone();
    world.intercept(move |verb, path| {
        let refused = verb == "POST" && path == CONFIG_MAPS && refusing.load(Ordering::SeqCst);
        refused.then(|| (422, failure(422, "Invalid", path)))
    });
    world.put(&at("a"), foobar("x"));
    let running = start(&world, Map);
    seconds(89).await;
    assert_eq!(world.requests(&format!("POST {CONFIG_MAPS}")).len(), 3);
    assert_eq!(condition(&world, "a")[..2], [json!("False"), json!("Rejected")]);

    refuses.store(false, Ordering::SeqCst);
    seconds(31).await;
    assert_eq!(world.count(CONFIG_MAPS), 1);
    assert_eq!(
        condition(&world, "a")[..2],
        [json!("True"), json!("Reconciled")],
        "nobody else would turn it"
    );
    running.stop().await.unwrap();
}

/// An API server that looks at the `nodePort` before the name finds the object's own port taken, and does not look at the name.
#[tokio::test(start_paused = true)]
async fn a_child_that_the_cache_does_not_show_is_found_also_where_its_creation_is_invalid() {
    let (world, gets) = (world(), AtomicUsize::new(0));
    world.put(&at("a"), foobar("x"));
    let owner = world.object(&at("a")).unwrap()["metadata"]["uid"].clone();
    let reference =
        json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "a", "uid": owner, "controller": true});
    world.put(
        &config_map("a"),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"ownerReferences": [reference]}}),
    );
    world.intercept(move |verb, path| match verb {
        "POST" if path == CONFIG_MAPS => Some((422, failure(422, "Invalid", path))),
        // Not watched, so it is asked for first, of an API server that is behind.
        "GET" if path == config_map("a") && gets.fetch_add(1, Ordering::SeqCst) == 0 => {
            Some((404, failure(404, "NotFound", path)))
        }
        _ => None,
    });
    let manager = Manager::builder(world.client()).name("test").build();
    Controller::<FooBar>::new("foobar").register(&manager, Map).unwrap();
    let running = Running::start(manager);
    seconds(1).await;
    assert_eq!(world.object(&config_map("a")).unwrap()["data"], json!({"a": "1"}));
    running.stop().await.unwrap();
}

/// Reads a FooBar of its own name in another namespace, which is not there.
struct Elsewhere(AtomicUsize);

impl Reconciler<FooBar> for Elsewhere {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        if self.0.fetch_add(1, Ordering::SeqCst) < 3 {
            let elsewhere = Api::<FooBar>::namespaced(cx.client().clone(), "kube-system");
            elsewhere.get(cx.key().name()).await?;
        }
        let map = json!({"metadata": {"name": cx.key().name()}});
        cx.apply_child::<ConfigMap>(child(map)).await?;
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_is_not_gone_because_another_of_its_name_is() {
    let world = world();
    world.put(&at("a"), foobar("x"));
    let running = start(&world, Elsewhere(AtomicUsize::new(0)));
    seconds(5).await;
    assert_eq!(world.count(CONFIG_MAPS), 1, "it is tried again");
    running.stop().await.unwrap();
}
