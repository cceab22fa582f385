//! Keeps one ConfigMap beside each Well that asks for it.

use std::sync::Arc;

use api::water_example_org::v1::Well;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{ResourceExt, api::ObjectMeta};
use kubewright_runtime::{
    Action, Context, Controller, Error, EventType, Manager, Reconciler, Result, child_name,
};

use crate::app::App;

/// What an object says that wants a ConfigMap; all others are left alone.
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
    // The kind is not ours: its status is another controller's to write, and a finalizer of ours would hold up
    // whoever deletes an object after this operator is gone.
    async fn reconcile(&self, cx: &Context<Well>, object: Arc<Well>) -> Result<Action> {
        let Some(greeting) = object.annotations().get(GREETING) else {
            // It may have asked earlier: what there is is observed, not remembered.
            cx.prune_children::<ConfigMap>(&[]).await?;
            return Ok(Action::Done);
        };
        match cx.apply_child(child(&object.name_any(), greeting)).await {
            Ok(applied) => {
                if applied.changed() {
                    cx.event(EventType::Normal, "Applied", "wrote the ConfigMap");
                }
            }
            // Somebody else's: it is left alone, and we are called again when it changes or goes.
            Err(Error::NotOwned(other)) => {
                cx.event(EventType::Warning, "ChildNotOwned", other.to_string());
            }
            // The runtime tries again, with a growing delay, where that can help.
            Err(error) => return Err(error),
        }
        Ok(Action::Done)
    }
}

/// The ConfigMap for an object of this name. `apply_child` adds the namespace and the owner.
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
    fn the_child_says_what_was_asked_for() {
        let child = child("sample", "hello");
        assert!(child.name_any().starts_with("sample-"));
        assert_eq!(child.data.unwrap()["greeting"], "hello");
    }
}
