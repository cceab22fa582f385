//! A child and a status: what most reconcilers write.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{ResourceExt, api::ObjectMeta};
use kubewright_runtime::{Action, Conditions, Context, Reconciler, Result, child_name};

use crate::foobar::FooBar;

/// Keeps one ConfigMap for each FooBar.
pub struct FooBarReconciler;

impl Reconciler<FooBar> for FooBarReconciler {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        // ANCHOR: child
        let child = ConfigMap {
            metadata: ObjectMeta {
                name: Some(child_name(&foobar.name_any(), "foobar")),
                ..ObjectMeta::default()
            },
            data: Some(BTreeMap::from([("target".to_owned(), foobar.spec.target.clone())])),
            ..ConfigMap::default()
        };
        let _applied = cx.apply_child(child).await?;
        // ANCHOR_END: child

        // ANCHOR: adopt
        let keys = Secret {
            metadata: ObjectMeta {
                name: Some(child_name(&foobar.name_any(), "keys")),
                ..ObjectMeta::default()
            },
            ..Secret::default()
        };
        cx.adopt_child(keys).await?;
        // ANCHOR_END: adopt

        // ANCHOR: status
        let ready = cx.condition("Ready", true, "Applied", "the ConfigMap is up to date");
        cx.patch_status(|status| {
            status.observed_generation = foobar.metadata.generation;
            status.conditions.set(ready);
        })
        .await?;
        // ANCHOR_END: status
        Ok(Action::Done)
    }
}
