//! Keeps one ConfigMap for each Well with an annotation.

use std::sync::Arc;

use api::water_example_org::v1::Well;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{ResourceExt, api::ObjectMeta};
use kubewright_runtime::{
    Action, Context, Controller, Error, EventType, Manager, Reconciler, Result, child_name,
};

use crate::app::App;

/// The annotation that requests a ConfigMap for its object.
const GREETING: &str = "foobar-operator.example.com/greeting";

struct WellReconciler;

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    Controller::<Well>::new("well")
        .foreign()
        .owns::<ConfigMap>()
        .prunes::<ConfigMap>()
        .register(manager, WellReconciler)
}

impl Reconciler<Well> for WellReconciler {
    // The kind belongs to somebody else, so its status is not written. Runs after any change of the object or its
    // ConfigMap.
    async fn reconcile(&self, cx: &Context<Well>, object: Arc<Well>) -> Result<Action> {
        let Some(greeting) = object.annotations().get(GREETING) else {
            // The annotation may have been there earlier.
            cx.prune_children::<ConfigMap>(&[]).await?;
            return Ok(Action::Done);
        };
        match cx.apply_child(child(&object.name_any(), greeting)).await {
            Ok(applied) => {
                if applied.changed() {
                    cx.event(EventType::Normal, "Applied", "wrote the ConfigMap");
                }
            }
            // An object of that name belongs to somebody else. It is left alone, and `reconcile` runs again when it
            // changes or is deleted.
            Err(Error::NotOwned(other)) => {
                cx.event(EventType::Warning, "ChildNotOwned", other.to_string());
            }
            // The runtime retries with a growing delay, unless the error is terminal.
            Err(error) => return Err(error),
        }
        Ok(Action::Done)
    }
}

/// The ConfigMap of an object of this name. `apply_child` adds the namespace and the owner.
fn child(name: &str, greeting: &str) -> ConfigMap {
    let data = [("greeting".to_owned(), greeting.to_owned())];
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(child_name(name, "well")),
            ..ObjectMeta::default()
        },
        data: Some(data.into()),
        ..ConfigMap::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_child_has_the_greeting() {
        let child = child("sample", "hello");
        assert!(child.name_any().starts_with("sample-"));
        assert_eq!(child.data.unwrap()["greeting"], "hello");
    }
}
