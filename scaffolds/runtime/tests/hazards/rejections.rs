//! Responses of the API server that look final but are not.

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

/// As for a Service whose `nodePort` another Service uses, until that one is deleted.
#[tokio::test(start_paused = true)]
async fn a_rejected_request_is_retried_every_half_minute_and_reported_in_the_status() {
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
        "the runtime sets its condition back"
    );
    running.stop().await.unwrap();
}

/// An overload that lasts longer than the server says.
#[tokio::test(start_paused = true)]
async fn requests_to_an_overloaded_api_server_become_rarer() {
    let world = world();
    world.intercept(|verb, path| {
        let mut busy = failure(429, "TooManyRequests", path);
        busy["details"]["retryAfterSeconds"] = json!(1);
        (verb == "POST" && path == CONFIG_MAPS).then_some((429, busy))
    });
    world.put(&at("a"), foobar("x"));
    let running = start(&world, Map);
    let posts = || world.requests(&format!("POST {CONFIG_MAPS}")).len();
    seconds(4).await;
    assert_eq!(posts(), 4, "not before the second that the server asks for");
    seconds(596).await;
    assert!((12..25).contains(&posts()), "{} requests in ten minutes", posts());
    running.stop().await.unwrap();
}

/// An API server that validates the `nodePort` before the name finds the object's own port taken, and does not compare
/// the name.
#[tokio::test(start_paused = true)]
async fn an_uncached_child_is_found_even_if_creating_it_again_is_invalid() {
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
        // The kind is not watched, so the object is read first, from an API server whose state is old.
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

/// Admission, such as a quota, runs before the names are compared.
#[tokio::test(start_paused = true)]
async fn an_uncached_child_is_found_even_if_creating_it_again_is_forbidden() {
    let world = world();
    world.put(&at("a"), foobar("x"));
    let running = start(&world, Map);
    seconds(1).await;
    world.intercept(|verb, path| {
        (verb == "POST" && path == CONFIG_MAPS).then(|| (403, failure(403, "Forbidden", path)))
    });
    world.edit(&config_map("a"), |map| map["metadata"]["labels"] = json!({}));
    seconds(10).await;
    let labels = &world.object(&config_map("a")).unwrap()["metadata"]["labels"];
    assert_eq!(labels["kubewright.dev/operator"], "test");
    world.delete(&config_map("a"));
    seconds(10).await;
    assert_eq!(
        condition(&world, "a")[..2],
        [json!("False"), json!("Forbidden")],
        "without a child the refusal is reported"
    );
    running.stop().await.unwrap();
}

/// Kubernetes until 1.33 answers so while the child's definition is being replaced.
#[tokio::test(start_paused = true)]
async fn a_create_that_is_not_allowed_is_retried() {
    let (world, posts) = (world(), AtomicUsize::new(0));
    world.intercept(move |verb, path| {
        let refused = verb == "POST" && path == CONFIG_MAPS && posts.fetch_add(1, Ordering::SeqCst) == 0;
        refused.then(|| (405, failure(405, "MethodNotAllowed", path)))
    });
    world.put(&at("a"), foobar("x"));
    let running = start(&world, Map);
    seconds(120).await;
    assert_eq!(world.count(CONFIG_MAPS), 1);
    running.stop().await.unwrap();
}

/// Reads a FooBar of its own name in another namespace, where there is none.
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
async fn an_object_does_not_count_as_gone_because_one_of_its_name_in_another_namespace_is() {
    let world = world();
    world.put(&at("a"), foobar("x"));
    let running = start(&world, Elsewhere(AtomicUsize::new(0)));
    seconds(5).await;
    assert_eq!(world.count(CONFIG_MAPS), 1, "the reconcile is retried");
    running.stop().await.unwrap();
}
