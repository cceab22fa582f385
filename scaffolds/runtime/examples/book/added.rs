//! A controller that watches the kinds that its objects name.

use std::sync::Arc;

use kube::{
    Resource,
    core::{ApiResource, DynamicObject, GroupVersionKind, PartialObjectMeta},
};
use kubewright_runtime::{Action, AddedWatches, Context, Controller, Kind, Manager, ObjectKey, Reconciler, Result};

use crate::foobar::FooBar;

// ANCHOR: added
struct FooBarReconciler {
    watches: AddedWatches,
}

/// Registers a controller whose objects name the kinds that they depend on.
pub fn register(manager: &Manager) -> Result<()> {
    let watches = AddedWatches::new();
    Controller::<FooBar>::new("foobar")
        .adds_watches(&watches)
        // No declaration names the kinds, so the permission is granted by hand.
        .rule(&["storage.example.org"], &["*"], &["get", "list", "watch"])
        .register(manager, FooBarReconciler { watches })
}

impl Reconciler<FooBar> for FooBarReconciler {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let kind = GroupVersionKind::gvk("storage.example.org", "v1", &foobar.spec.target);
        let kind = Kind::<PartialObjectMeta<DynamicObject>>::namespaced(ApiResource::from_gvk(&kind));
        // An object wakes the FooBar of its own name.
        let same_name = |object: &PartialObjectMeta<DynamicObject>| vec![ObjectKey::of(object)];
        let store = self.watches.watch(&kind, same_name).await?;
        let _labels = store.get(cx.key()).map(|object| object.meta().labels.clone());
        Ok(Action::Done)
    }
}
// ANCHOR_END: added
