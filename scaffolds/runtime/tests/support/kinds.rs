//! The kinds of the tests, and a running manager.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, CustomResourceExt};
use kubewright_runtime::{Manager, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{sync::oneshot, task::JoinHandle};

use super::World;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "FooBar",
    namespaced,
    status = "FooBarStatus"
)]
pub struct FooBarSpec {
    pub target: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FooBarStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// A cluster-scoped kind.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Planet")]
pub struct PlanetSpec {}

/// Another one, whose objects planets may own.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Moon")]
pub struct MoonSpec {}

pub const FOOBARS: &str = "/apis/test.example.com/v1/namespaces/default/foobars";
pub const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub const PLANETS: &str = "/apis/test.example.com/v1/planets";

/// A world with these kinds.
pub fn world() -> World {
    World::new(&[FooBar::crd(), Planet::crd(), Moon::crd()])
}

pub fn foobar(target: &str) -> Value {
    json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "metadata": {}, "spec": {"target": target}})
}

pub fn planet() -> Value {
    json!({"apiVersion": "test.example.com/v1", "kind": "Planet", "spec": {}})
}

/// The path of a FooBar.
pub fn at(name: &str) -> String {
    format!("{FOOBARS}/{name}")
}

/// The path of a ConfigMap.
pub fn config_map(name: &str) -> String {
    format!("{CONFIG_MAPS}/{name}")
}

/// Status, reason and message of a FooBar's condition.
pub fn condition(world: &World, name: &str) -> [Value; 3] {
    let condition = world.object(&at(name)).unwrap()["status"]["conditions"][0].clone();
    ["status", "reason", "message"].map(|field| condition[field].clone())
}

pub async fn seconds(n: u64) {
    tokio::time::sleep(Duration::from_secs(n)).await;
}

/// A manager that can be stopped.
pub struct Running {
    stop: oneshot::Sender<()>,
    pub done: JoinHandle<Result<()>>,
}

impl Running {
    pub fn start(manager: Manager) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let done = tokio::spawn(async move { manager.run(async { _ = stopped.await }, None).await });
        Self { stop, done }
    }

    pub async fn stop(self) -> Result<()> {
        _ = self.stop.send(());
        self.done.await.expect("the manager does not panic")
    }
}
