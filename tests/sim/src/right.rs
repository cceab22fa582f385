//! Right operators, in which a simulation must not find anything.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret},
};
use kube::{ResourceExt, api::ObjectMeta};
use kubewright_runtime::{
    Action, Cleanup, Conditions, Context, Controller, Error, EventType, Manager, Reconciler, Result, child_name,
};

use crate::FooBar;

/// The operators, by name.
pub const ALL: [(&str, crate::Register); 2] = [("scaffolded", scaffolded), ("pruning", pruning)];

/// The controller of `kubewright create api --finalizer`.
struct Scaffolded;

fn scaffolded(manager: &Manager) -> Result<()> {
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .register(manager, Scaffolded)
}

impl Reconciler<FooBar> for Scaffolded {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/cleanup")
    }

    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let ready = match cx.apply_child(child(&object, "foobar")).await {
            Ok(applied) => {
                if applied.changed() {
                    cx.event(EventType::Normal, "Applied", "wrote the ConfigMap");
                }
                cx.condition("Ready", true, "Applied", "the ConfigMap matches the spec")
            }
            Err(Error::NotOwned(other)) => cx.condition("Ready", false, "ChildNotOwned", other.to_string()),
            Err(error) => return Err(error),
        };
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.conditions.set(ready);
        })
        .await?;
        Ok(Action::Done)
    }

    async fn cleanup(&self, _: &Context<FooBar>, _: Arc<FooBar>) -> Result<Cleanup> {
        Ok(Cleanup::Done)
    }
}

/// A ConfigMap with the spec of this object.
pub fn child(object: &FooBar, suffix: &str) -> ConfigMap {
    let mut data = BTreeMap::from([("target".to_owned(), object.spec.target.clone())]);
    if let Some(type_) = &object.spec.r#type {
        data.insert("type".to_owned(), type_.clone());
    }
    ConfigMap {
        metadata: named(&object.name_any(), suffix),
        data: Some(data),
        ..ConfigMap::default()
    }
}

/// The metadata of a child.
pub fn named(owner: &str, suffix: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(child_name(owner, suffix)),
        ..ObjectMeta::default()
    }
}

/// Names one child after the spec, and prunes the earlier ones; another child has a fixed name.
struct Pruning;

fn pruning(manager: &Manager) -> Result<()> {
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .owns::<Secret>()
        .prunes::<ConfigMap>()
        .concurrency(2)
        .register(manager, Pruning)
}

impl Reconciler<FooBar> for Pruning {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let named_after = child(&object, &object.spec.target);
        let name = named_after.name_any();
        let text = ByteString(object.spec.target.clone().into_bytes());
        let fixed = Secret {
            metadata: named(&object.name_any(), "fixed"),
            data: Some(BTreeMap::from([("target".to_owned(), text)])),
            ..Secret::default()
        };
        cx.apply_child(named_after).await?;
        cx.apply_child(fixed).await?;
        cx.prune_children::<ConfigMap>(&[&name]).await?;
        let ready = cx.condition("Ready", true, "Applied", object.spec.target.clone());
        cx.patch_status(|status| status.conditions.set(ready)).await?;
        Ok(Action::Done)
    }
}
