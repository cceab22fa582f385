//! A controller whose children are of a kind that its settings name.

use std::sync::Arc;

use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kubewright_runtime::{Action, Context, Controller, Kind, Manager, Reconciler, Result};
use serde_json::json;

use crate::foobar::FooBar;

struct FooBarReconciler {
    backends: Kind<DynamicObject>,
}

// ANCHOR: dynamic
/// Registers the controller for backends of a kind such as `Bucket.storage.example.org/v1`.
pub fn register(manager: &Manager, kind: &GroupVersionKind, plural: &str) -> Result<()> {
    let backends = Kind::<DynamicObject>::namespaced(ApiResource::from_gvk_with_plural(kind, plural));
    Controller::<FooBar>::new("foobar")
        .uses(&backends, |backends| backends.owns().prunes().optional())
        .register(manager, FooBarReconciler { backends })
}

impl Reconciler<FooBar> for FooBarReconciler {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let backends = cx.of(&self.backends);
        if !backends.is_served()? {
            return Ok(Action::Done);
        }
        let mut backend = DynamicObject {
            types: None,
            metadata: Default::default(),
            data: json!({"spec": {"target": foobar.spec.target}}),
        };
        backend.metadata.name = Some(cx.key().name().to_owned());
        backends.apply_child(backend).await?;
        backends.prune_children(&[cx.key().name()]).await?;
        let _ready = backends
            .child(cx.key().name())?
            .is_some_and(|backend| backend.data["status"]["ready"] == true);
        Ok(Action::Done)
    }
}
// ANCHOR_END: dynamic
