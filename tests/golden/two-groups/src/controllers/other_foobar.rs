// Copyright 2026 The FooBar authors
// SPDX-License-Identifier: MIT

//! Keeps one ConfigMap for each FooBar.

use std::{collections::BTreeMap, sync::Arc};

use api::other::v1::FooBar;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{ResourceExt, api::ObjectMeta};
use kubewright_runtime::{
    Action, Conditions, Context, Controller, Error, EventType, Manager, Reconciler, Result,
    child_name,
};

use crate::app::App;

/// The condition that reports whether the ConfigMap matches the spec.
const READY: &str = "Ready";

struct FooBarReconciler;

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    Controller::<FooBar>::new("other_foobar")
        .owns::<ConfigMap>()
        .register(manager, FooBarReconciler)
}

impl Reconciler<FooBar> for FooBarReconciler {
    // Runs after any change of the object or its ConfigMap, without saying which: compare the cluster with the spec,
    // then act.
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let ready = match cx.apply_child(child(&object)).await {
            Ok(applied) => {
                if applied.changed() {
                    cx.event(EventType::Normal, "Applied", "wrote the ConfigMap");
                }
                cx.condition(READY, true, "Applied", "the ConfigMap matches the spec")
            }
            // An object of that name belongs to somebody else. It is left alone, and `reconcile` runs again when it
            // changes or is deleted.
            Err(Error::NotOwned(other)) => {
                cx.event(EventType::Warning, "ChildNotOwned", other.to_string());
                cx.condition(READY, false, "ChildNotOwned", other.to_string())
            }
            // The runtime retries with a growing delay, unless the error is terminal.
            Err(error) => return Err(error),
        };
        // The patch is sent only if it changes something.
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.conditions.set(ready);
        })
        .await?;
        Ok(Action::Done)
    }
}

/// The ConfigMap of an object. `apply_child` adds the namespace and the owner.
fn child(object: &FooBar) -> ConfigMap {
    let mut data = BTreeMap::from([("target".to_owned(), object.spec.target.clone())]);
    if let Some(type_) = &object.spec.r#type {
        data.insert("type".to_owned(), type_.clone());
    }
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(child_name(&object.name_any(), "other-foobar")),
            ..ObjectMeta::default()
        },
        data: Some(data),
        ..ConfigMap::default()
    }
}

#[cfg(test)]
mod tests {
    use kubewright_runtime::testing::from_yaml;

    use super::*;

    /// The sample with this type.
    fn object(r#type: Option<&str>) -> FooBar {
        let sample = include_str!("../../config/samples/other_v1_foobar.yaml");
        let mut object: FooBar = from_yaml("sample", sample);
        object.spec.r#type = r#type.map(str::to_owned);
        object
    }

    #[test]
    fn the_child_has_the_fields_of_the_spec() {
        let object = object(Some("greeting"));
        let child = child(&object);
        assert_eq!(child.name_any(), "sample-other-foobar");
        let data = child.data.unwrap();
        assert_eq!(data["target"], object.spec.target);
        assert_eq!(data["type"], "greeting");
    }

    #[test]
    fn a_child_without_a_type_has_only_the_target() {
        let data = child(&object(None)).data.unwrap();
        assert_eq!(data.into_keys().collect::<Vec<_>>(), ["target"]);
    }
}
