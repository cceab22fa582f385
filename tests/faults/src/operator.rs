//! The operator under test: it names one child after the spec, keeps another one whose name never changes, prunes, has
//! a finalizer until it has cleaned up, and writes a status.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret},
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::{Client, CustomResource, api::ObjectMeta};
use kubewright_runtime::{Action, Cleanup, Conditions, Context, Controller, Manager, Reconciler, Result, child_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

/// The spec of a FooBar.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "FooBar",
    namespaced,
    status = "FooBarStatus"
)]
pub struct FooBarSpec {
    /// The name of a child.
    pub target: String,
}

/// The status of a FooBar.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct FooBarStatus {
    /// One of them is `Ready`.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

struct Named;

impl Reconciler<FooBar> for Named {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/cleanup")
    }

    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let target = &foobar.spec.target;
        let named = ConfigMap {
            metadata: called(cx.key().name(), target),
            data: Some(BTreeMap::from([("target".to_owned(), target.clone())])),
            ..ConfigMap::default()
        };
        let fixed = Secret {
            metadata: called(cx.key().name(), "fixed"),
            data: Some(BTreeMap::from([(
                "target".to_owned(),
                ByteString(target.clone().into_bytes()),
            )])),
            ..Secret::default()
        };
        let name = named.metadata.name.clone().unwrap_or_default();
        cx.apply_child(named).await?;
        cx.apply_child(fixed).await?;
        cx.prune_children::<ConfigMap>(&[&name]).await?;
        let ready = cx.condition("Ready", true, "Applied", target.clone());
        cx.patch_status(|status| status.conditions.set(ready)).await?;
        Ok(Action::Done)
    }

    async fn cleanup(&self, _: &Context<FooBar>, _: Arc<FooBar>) -> Result<Cleanup> {
        Ok(Cleanup::Done)
    }
}

fn called(name: &str, suffix: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(child_name(name, suffix)),
        ..ObjectMeta::default()
    }
}

/// A running operator, which is killed on drop.
pub struct Process(JoinHandle<Result<()>>);

impl Process {
    /// Starts it on this client.
    ///
    /// # Panics
    ///
    /// If it cannot be registered.
    pub fn start(client: Client) -> Self {
        let manager = Manager::builder(client).name("test").build();
        Controller::<FooBar>::new("foobar")
            .owns::<ConfigMap>()
            .owns::<Secret>()
            .prunes::<ConfigMap>()
            .concurrency(2)
            .register(&manager, Named)
            .expect("a manager of one controller takes it");
        Self(tokio::spawn(
            async move { manager.run(std::future::pending(), None).await },
        ))
    }

    /// Whether it has ended by itself, which is always an error.
    pub fn has_ended(&self) -> bool {
        self.0.is_finished()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.0.abort();
    }
}
