//! Keeps one ConfigMap in step with each FooBar.

use std::{collections::BTreeMap, sync::Arc};

use api::test::v1::FooBar;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{ResourceExt, api::ObjectMeta};
use kubewright_runtime::{
    Action, Cleanup, Conditions, Context, Controller, Error, EventType, Manager, Reconciler,
    Result, child_name,
};

use crate::app::App;

/// Holds a deleted object back until `cleanup` is done.
const FINALIZER: &str = "test.example.com/cleanup";

/// The condition that says whether the ConfigMap is in step.
const READY: &str = "Ready";

struct FooBarReconciler;

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .register(manager, FooBarReconciler)
}

impl Reconciler<FooBar> for FooBarReconciler {
    fn finalizer(&self) -> Option<&str> {
        Some(FINALIZER)
    }

    // Called whenever the object or its ConfigMap may have changed, and never told which: look, compare, act.
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let ready = match cx.apply_child(child(&object)).await {
            Ok(applied) => {
                if applied.changed() {
                    cx.event(EventType::Normal, "Applied", "wrote the ConfigMap");
                }
                cx.condition(READY, true, "Applied", "the ConfigMap is in step")
            }
            // Somebody else's: it is left alone, and we are called again when it changes or goes.
            Err(Error::NotOwned(other)) => {
                cx.event(EventType::Warning, "ChildNotOwned", other.to_string());
                cx.condition(READY, false, "ChildNotOwned", other.to_string())
            }
            // The runtime tries again, with a growing delay, where that can help.
            Err(error) => return Err(error),
        };
        // Sent only where it differs from what is there.
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.conditions.set(ready);
        })
        .await?;
        Ok(Action::Done)
    }

    // The place to undo what Kubernetes cannot see. The ConfigMap needs nothing: it goes with its owner.
    async fn cleanup(&self, cx: &Context<FooBar>, _object: Arc<FooBar>) -> Result<Cleanup> {
        cx.event(EventType::Normal, "CleanedUp", "nothing was left behind");
        Ok(Cleanup::Done)
    }
}

/// The ConfigMap that an object asks for. `apply_child` adds the namespace and the owner.
fn child(object: &FooBar) -> ConfigMap {
    let mut data = BTreeMap::from([("target".to_owned(), object.spec.target.clone())]);
    if let Some(type_) = &object.spec.r#type {
        data.insert("type".to_owned(), type_.clone());
    }
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(child_name(&object.name_any(), "foobar")),
            ..ObjectMeta::default()
        },
        data: Some(data),
        ..ConfigMap::default()
    }
}

#[cfg(test)]
mod tests {
    use api::test::v1::foobar::FooBarSpec;

    use super::*;

    fn object(r#type: Option<&str>) -> FooBar {
        let spec = FooBarSpec {
            target: "world".to_owned(),
            r#type: r#type.map(str::to_owned),
        };
        FooBar::new("sample", spec)
    }

    #[test]
    fn the_child_says_what_the_spec_says() {
        let child = child(&object(Some("greeting")));
        assert_eq!(child.name_any(), "sample-foobar");
        let data = child.data.unwrap();
        assert_eq!(data["target"], "world");
        assert_eq!(data["type"], "greeting");
    }

    #[test]
    fn without_a_type_the_child_has_none_either() {
        let data = child(&object(None)).data.unwrap();
        assert_eq!(data.into_keys().collect::<Vec<_>>(), ["target"]);
    }
}
