//! A controller for a foreign kind: it reads the objects, and does not write their status.

use std::{sync::Arc, time::Duration};

use crate::support::{World, kinds::config_map};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kubewright_runtime::{Action, Context, Controller, Error, Manager, Reconciler, Result};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/a";

fn deployment() -> Value {
    let pod = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}});
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": pod});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {}, "spec": spec})
}

fn start(
    world: &World,
    controller: Controller<Deployment>,
    reconciler: impl Reconciler<Deployment>,
) -> JoinHandle<Result<()>> {
    let manager = Manager::builder(world.client()).name("test").build();
    controller.register(&manager, reconciler).unwrap();
    tokio::spawn(async move { manager.run(std::future::pending(), None).await })
}

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
    world.put(DEPLOYMENT, deployment());
    let running = start(&world, controller, Fails);
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

/// Keeps no child, as a generated reconciler for a kind of others does.
struct KeepsNone;

impl Reconciler<Deployment> for KeepsNone {
    async fn reconcile(&self, cx: &Context<Deployment>, _: Arc<Deployment>) -> Result<Action> {
        cx.prune_children::<ConfigMap>(&[]).await?;
        Ok(Action::Done)
    }
}

/// The owner's own controller has children of the same kind.
#[tokio::test(start_paused = true)]
async fn the_children_of_the_owners_own_controller_are_neither_labelled_nor_pruned() {
    for (maker, label, all) in [
        ("other", None, false),
        ("other", None, true),
        ("other/deployment", Some("other"), false),
        ("tests/deployment@0", None, false),
    ] {
        let world = World::new(&[]);
        world.put(DEPLOYMENT, deployment());
        let uid = world.object(DEPLOYMENT).unwrap()["metadata"]["uid"].clone();
        let owner = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "a", "uid": uid, "controller": true});
        let labels = label.map_or(Value::Null, |label| json!({"kubewright.dev/operator": label}));
        let put = |name: &str, maker: &str, labels: &Value| {
            let metadata = json!({"labels": labels, "ownerReferences": [owner]});
            let child = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
            world.put_as(&config_map(name), maker, child);
        };
        put("theirs", maker, &labels);
        // An earlier version of the operator has made these, one of them with a client of its own.
        put("ours", "test/deployment", &Value::Null);
        put("of-a-client", "test kubewright-runtime", &Value::Null);
        let controller = Controller::<Deployment>::new("deployment").foreign();
        let controller = controller.owns::<ConfigMap>().prunes::<ConfigMap>();
        let running = start(
            &world,
            if all {
                controller.caches_all::<ConfigMap>()
            } else {
                controller
            },
            KeepsNone,
        );
        tokio::time::sleep(Duration::from_secs(60)).await;
        running.abort();
        assert_eq!(world.writes(&config_map("theirs")), [""; 0], "{maker} {label:?} {all}");
        let ours = ["ours", "of-a-client"].map(|name| world.object(&config_map(name)).is_some());
        assert_eq!(ours, [false, all], "{maker} {label:?} {all}");
    }
}
