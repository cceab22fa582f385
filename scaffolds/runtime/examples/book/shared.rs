//! An object with several owners.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ObjectMeta;
use kubewright_runtime::{Action, Context, Controller, Manager, Reconciler, Result, child_name};

use crate::foobar::FooBar;

/// Keeps one ConfigMap for all FooBars of a namespace with the same target.
pub struct FooBarReconciler;

impl Reconciler<FooBar> for FooBarReconciler {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        // ANCHOR: shared
        let name = child_name(&foobar.spec.target, "settings");
        let settings = ConfigMap {
            metadata: ObjectMeta {
                name: Some(name.clone()),
                ..ObjectMeta::default()
            },
            data: Some(BTreeMap::from([("target".to_owned(), foobar.spec.target.clone())])),
            ..ConfigMap::default()
        };
        cx.apply_shared(settings).await?;
        // The target of an earlier spec may have had another name.
        cx.release_shared::<ConfigMap>(&[&name]).await?;
        // ANCHOR_END: shared
        Ok(Action::Done)
    }
}

/// Registers the controller.
pub fn register(manager: &Manager) -> Result<()> {
    Controller::<FooBar>::new("foobar")
        .shares::<ConfigMap>()
        .prunes::<ConfigMap>()
        .register(manager, FooBarReconciler)
}
