//! Right operators, in which a simulation must not find anything.

mod by_hand;
mod children;
mod statuses;
mod watching;
mod workloads;

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret},
};
use kube::{ResourceExt, api::ObjectMeta};
use kubewright_runtime::{
    Action, Cleanup, Conditions, Context, Controller, Error, EventType, Manager, Reconciler, Result, child_name,
};

use serde_json::json;

pub(crate) use self::watching::cluster_scoped;
use crate::{FooBar, Objects};

/// A right operator.
pub struct Right {
    /// How it is written.
    pub name: &'static str,
    /// Its controllers.
    pub register: crate::Register,
    /// The kinds and objects.
    pub objects: fn() -> Objects,
}

/// The operators; the first one is what `kubewright create api --finalizer` scaffolds.
pub const ALL: [Right; 27] = [
    right("scaffolded", scaffolded),
    right("names a child after the spec, and prunes", pruning),
    right("reads, then creates or replaces what differs", by_hand::replaces),
    right("creates, or else merges", by_hand::merges),
    right("polls its child instead of watching it", by_hand::polls),
    right("skips an observed generation whose child is there", by_hand::skips),
    right("lets the server generate the name", by_hand::generated),
    right("cleans up another system", by_hand::external),
    right("has children of three kinds", children::three_kinds),
    right("has a child for some specs only", children::conditional),
    right("deletes children by its own list", children::deletes),
    right("creates a Secret once", children::once),
    right("adopts its child", children::adopts),
    right("claims children by a label, as a ReplicaSet does", children::claims),
    right("keeps Pods", children::keeps_pods),
    right("has a child in another namespace", children::elsewhere),
    Right {
        objects: two_samples,
        ..right("shares one child among its objects", children::shares)
    },
    right("waits for a Deployment", workloads::deploys),
    right("runs a Job for each spec", workloads::runs),
    right(
        "runs a Job once, and remembers its end in the status",
        workloads::runs_once,
    ),
    right("reports progress before and after the work", statuses::progress),
    right("has several conditions", statuses::several),
    right("refuses a spec with a terminal error", statuses::refuses),
    right("has two controllers on one kind", statuses::two_controllers),
    right("comes back with back-off until its child is there", statuses::backs_off),
    Right {
        objects: with_settings,
        ..right("copies a Secret of its users", watching::copies)
    },
    Right {
        objects: crate::sites,
        ..right("has cluster-scoped objects", watching::cluster_scoped)
    },
];

const fn right(name: &'static str, register: crate::Register) -> Right {
    Right {
        name,
        register,
        objects: crate::objects,
    }
}

/// Two objects of the kind.
fn two_samples() -> Objects {
    let mut objects = crate::objects();
    let mut second = objects.samples[0].clone();
    second["metadata"]["name"] = json!("second");
    objects.samples.push(second);
    objects
}

/// An object, and a Secret that its user keeps beside it.
fn with_settings() -> Objects {
    let mut objects = crate::objects();
    objects.samples.push(json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "settings"}, "stringData": {"colour": "blue"},
    }));
    objects
}

/// The controller of `kubewright create api --finalizer`.
struct Scaffolded;

pub(crate) fn scaffolded(manager: &Manager) -> Result<()> {
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
