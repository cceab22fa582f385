//! An object in another namespace, which cannot have an owner reference.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ObjectMeta;
use kubewright_runtime::{Action, Cleanup, Context, Controller, Manager, Reconciler, Result};

use crate::foobar::FooBar;

/// Keeps one ConfigMap in another namespace for each FooBar.
pub struct FooBarReconciler;

// ANCHOR: unowned
impl Reconciler<FooBar> for FooBarReconciler {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let route = ConfigMap {
            metadata: ObjectMeta {
                name: Some(format!("{}-{}", cx.namespace(), cx.key().name())),
                namespace: Some("gateway".to_owned()),
                ..ObjectMeta::default()
            },
            data: Some(BTreeMap::from([("target".to_owned(), foobar.spec.target.clone())])),
            ..ConfigMap::default()
        };
        cx.apply_unowned(route).await?;
        Ok(Action::Done)
    }

    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/route")
    }

    async fn cleanup(&self, cx: &Context<FooBar>, _foobar: Arc<FooBar>) -> Result<Cleanup> {
        cx.delete_unowned::<ConfigMap>(&[]).await?;
        Ok(Cleanup::Done)
    }
}
// ANCHOR_END: unowned

/// Registers the controller.
pub fn register(manager: &Manager) -> Result<()> {
    // ANCHOR: register
    Controller::<FooBar>::new("foobar")
        .applies_unowned::<ConfigMap>()
        .prunes::<ConfigMap>()
        .register(manager, FooBarReconciler)
    // ANCHOR_END: register
}
