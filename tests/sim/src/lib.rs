//! A kind, and simulations of operators of it.

pub mod careless;
pub mod chancy;
pub mod eventful;
pub mod inconsiderate;
pub mod misled;
pub mod outside;
pub mod right;
pub mod rivals;
pub mod several;
pub mod unlucky;
pub mod wrong;

use std::future::pending;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{Client, CustomResource, CustomResourceExt};
pub use kubewright_apiserver::dev::sim::Objects;
use kubewright_apiserver::dev::sim::{Connection, Report, Simulation};
use kubewright_runtime::{Clock, Manager, Result, testing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The spec of a FooBar, as `kubewright create api` scaffolds it.
#[derive(CustomResource, Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "FooBar",
    namespaced,
    status = "FooBarStatus"
)]
pub struct FooBarSpec {
    /// The content of the child.
    pub target: String,
    /// More of it.
    pub r#type: Option<String>,
}

/// The status of a FooBar.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FooBarStatus {
    /// The generation that this status describes.
    pub observed_generation: Option<i64>,
    /// For operators that write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// One of them is `Ready`.
    #[serde(default)]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// The spec of a cluster-scoped kind.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Site", status = "FooBarStatus")]
pub struct SiteSpec {
    /// The content of the child.
    pub target: String,
}

/// Registers the controllers of an operator.
pub type Register = fn(&Manager) -> Result<()>;

/// `config/rbac` of an operator that may do this with ConfigMaps.
pub fn roles(verbs: &[&str]) -> Vec<Value> {
    let (api, account) = ("rbac.authorization.k8s.io/v1", "controller-manager");
    let all = ["create", "delete", "get", "list", "patch", "update", "watch"];
    vec![
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account, "namespace": "system"}}),
        json!({
            "apiVersion": api, "kind": "ClusterRole", "metadata": {"name": "manager-role"},
            "rules": [
                {"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs},
                {"apiGroups": [""], "resources": ["pods", "secrets", "services"], "verbs": all},
                {"apiGroups": ["apps", "batch"], "resources": ["deployments", "jobs"], "verbs": all},
                {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": all},
                {"apiGroups": ["test.example.com"], "resources": ["*"], "verbs": all},
            ],
        }),
        json!({
            "apiVersion": api, "kind": "ClusterRoleBinding", "metadata": {"name": "manager"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "manager-role"},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "system"}],
        }),
    ]
}

/// The kind, and one object of it.
pub fn objects() -> Objects {
    let sample = json!({
        "apiVersion": "test.example.com/v1", "kind": "FooBar",
        "metadata": {"name": "sample"}, "spec": {"target": "world", "type": "greeting"},
    });
    Objects {
        definitions: vec![serde_json::to_value(FooBar::crd()).unwrap_or_default()],
        roles: roles(&["create", "delete", "get", "list", "patch", "update", "watch"]),
        samples: vec![sample],
    }
}

/// The cluster-scoped kind, and one object of it.
pub fn sites() -> Objects {
    let sample = json!({
        "apiVersion": "test.example.com/v1", "kind": "Site", "metadata": {"name": "sample"}, "spec": {"target": "world"},
    });
    Objects {
        definitions: vec![serde_json::to_value(Site::crd()).unwrap_or_default()],
        samples: vec![sample],
        ..objects()
    }
}

/// A simulation of an operator with these controllers.
pub fn simulation(register: Register) -> Simulation {
    simulation_of(move |manager, _| register(manager))
}

/// A simulation of an operator whose controllers may use other systems.
pub fn simulation_of(
    register: impl Fn(&Manager, &Connection) -> Result<()> + Clone + Send + Sync + 'static,
) -> Simulation {
    Simulation::new(move |connection| run(connection, register.clone()))
}

async fn run(connection: Connection, register: impl Fn(&Manager, &Connection) -> Result<()>) -> Result<()> {
    testing::seed_delays(connection.seed());
    let clock = Clock::started_at(connection.now());
    let manager = Manager::builder(Client::new(connection.clone(), "default"))
        .name("test")
        .namespace("default")
        .clock(clock)
        .build();
    register(&manager, &connection)?;
    manager.run(pending(), None).await
}

/// Simulates an operator as `make sim` does.
///
/// # Panics
///
/// If the API server refuses the kind or the object.
pub fn explore(register: Register, pairs: usize) -> Report {
    let report = simulation(register).explore(objects(), 1, pairs);
    report.expect("the kind and the object are valid")
}
