//! A controller for a foreign kind: it reads the objects, and does not write their status.

use std::{sync::Arc, time::Duration};

use crate::support::World;
use k8s_openapi::api::apps::v1::Deployment;
use kubewright_runtime::{Action, Context, Controller, Error, Manager, Reconciler, Result};
use serde_json::json;

/// Fails in a way that a person has to act on.
struct Fails;

impl Reconciler<Deployment> for Fails {
    async fn reconcile(&self, _: &Context<Deployment>, _: Arc<Deployment>) -> Result<Action> {
        Err(Error::terminal("BadGreeting", "no such greeting"))
    }
}

/// The requests that write a status, and those that write events, of a controller whose reconcile fails.
async fn traces(controller: Controller<Deployment>) -> (Vec<String>, Vec<String>) {
    let world = World::new(&[]);
    let pod = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}});
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": pod});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {}, "spec": spec});
    world.put("/apis/apps/v1/namespaces/default/deployments/a", deployment);
    let manager = Manager::builder(world.client()).name("test").build();
    controller.register(&manager, Fails).unwrap();
    let running = tokio::spawn(async move { manager.run(std::future::pending(), None).await });
    tokio::time::sleep(Duration::from_secs(60)).await;
    running.abort();
    let status = world.requests("PATCH /apis/apps/v1/namespaces/default/deployments/a/status");
    let events = world.requests("POST /apis/events.k8s.io/v1/namespaces/default/events");
    (status, events)
}

#[tokio::test(start_paused = true)]
async fn the_status_of_a_foreign_kind_is_not_written() {
    let (status, events) = traces(Controller::<Deployment>::new("deployment").foreign()).await;
    assert_eq!(status.len(), 0);
    assert_eq!(events.len(), 1, "the failure is reported by an event");
    let (status, events) = traces(Controller::<Deployment>::new("deployment")).await;
    assert_eq!(
        (status.len(), events.len()),
        (1, 1),
        "without `foreign` the status is written"
    );
}
