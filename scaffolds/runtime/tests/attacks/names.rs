//! An operator names a child after a field of the spec, and a tenant writes a name that changes the path.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{Action, Context, Controller, Error, Reconciler, Result};
use serde_json::json;

use crate::support::{
    kinds::{FooBar, Planet, Running, at, foobar, planet, seconds, world},
    notes::{child, manager},
};

/// Names its child after the target.
struct Named;

impl Reconciler<FooBar> for Named {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let error = cx
            .apply_child::<ConfigMap>(child(json!({"metadata": {"name": foobar.spec.target}})))
            .await
            .unwrap_err();
        assert!(matches!(error, Error::Setup(_)), "{error}");
        Err(error)
    }
}

const NAMES: [&str; 9] = ["a/b", "..", ".", "a?x", "", "%2e%2e", "../secrets/a", "a#x", "a b"];

#[tokio::test(start_paused = true)]
async fn a_child_name_that_changes_the_path_is_refused_before_any_request() {
    for owned in [true, false] {
        let world = world();
        let manager = manager(&world);
        let controller = Controller::<FooBar>::new("foobar");
        let controller = if owned {
            controller.owns::<ConfigMap>()
        } else {
            controller
        };
        controller.register(&manager, Named).unwrap();
        let running = Running::start(manager);
        seconds(1).await;
        let before = world.requests("").len();
        for (nth, name) in NAMES.iter().enumerate() {
            world.put(&at(&format!("a-{nth}")), foobar(name));
        }
        seconds(60).await;
        let sent: Vec<_> = world.requests("").drain(before..).collect();
        let elsewhere = |request: &&String| !request.contains("/events") && !request.contains("/status");
        assert_eq!(sent.iter().filter(elsewhere).count(), 0, "owned: {owned}, {sent:?}");
        for (nth, name) in NAMES.iter().enumerate() {
            let status = world.object(&at(&format!("a-{nth}"))).unwrap()["status"]["conditions"][0].clone();
            assert_eq!(status["status"], json!("False"), "{}", name);
        }
        running.stop().await.unwrap();
    }
}

/// Applies a child in the namespace that the object's label names.
struct Elsewhere;

impl Reconciler<Planet> for Elsewhere {
    async fn reconcile(&self, cx: &Context<Planet>, planet: Arc<Planet>) -> Result<Action> {
        let namespace = planet
            .metadata
            .annotations
            .iter()
            .flatten()
            .next()
            .map(|(_, value)| value.clone());
        let metadata = json!({"name": "a", "namespace": namespace});
        let error = cx
            .apply_child::<ConfigMap>(child(json!({"metadata": metadata})))
            .await
            .unwrap_err();
        assert!(matches!(error, Error::Setup(_)), "{error}");
        Ok(Action::Done)
    }
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_changes_the_path_is_refused_before_any_request() {
    let world = world();
    let manager = manager(&world);
    Controller::<Planet>::new("planet")
        .owns::<ConfigMap>()
        .register(&manager, Elsewhere)
        .unwrap();
    let running = Running::start(manager);
    seconds(1).await;
    let before = world.requests("").len();
    for (nth, namespace) in ["kube-system/secrets", "..", "", "a?b", "%2e", "A"].iter().enumerate() {
        let mut planet = planet();
        planet["metadata"] = json!({"annotations": {"namespace": namespace}});
        // An empty namespace counts as none, so the operator's own is used.
        if !namespace.is_empty() {
            world.put(&format!("/apis/test.example.com/v1/planets/p-{nth}"), planet);
        }
    }
    seconds(60).await;
    assert_eq!(
        world.requests("").len(),
        before,
        "{:?}",
        world.requests("").drain(before..).collect::<Vec<_>>()
    );
    running.stop().await.unwrap();
}
