//! A controller with several sources, and caches with a selection.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::{ConfigMap, Node, Secret};
use kube::core::PartialObjectMeta;
use kubewright_runtime::{Controller, Delta, Manager, ObjectKey, Predicate, Reconciler, Result, Selectors};
use tokio::{sync::mpsc, time::interval};

use crate::{bucket::Buckets, foobar::FooBar};

// ANCHOR: caches
/// Configures the caches, before any controller is registered.
pub fn configure(manager: &Manager) -> Result<()> {
    manager.configure_cache::<ConfigMap>(|cache| {
        // The API server sends no other ConfigMaps, which saves network traffic and memory.
        cache.label_selector = Some("app.kubernetes.io/managed-by=foobar-operator".to_owned());
        // Fields that no reconciler reads need not be kept.
        cache.transform = Some(Arc::new(|map: &mut ConfigMap| map.binary_data = None));
    })
}
// ANCHOR_END: caches

// ANCHOR: selectors
/// Reads all Secrets beside the operator, and only those of its users in all other namespaces.
pub fn configure_secrets(manager: &Manager) -> Result<()> {
    let own = manager.namespace().to_owned();
    manager.configure_cache::<Secret>(|cache| {
        cache.label_selector = Some("foobar-operator/use=credentials".to_owned());
        cache.namespace_selectors.insert(own, Selectors::default());
    })
}
// ANCHOR_END: selectors

// ANCHOR: sources
/// Declares what wakes the controller.
pub fn register(manager: &Manager, buckets: Buckets, reconciler: impl Reconciler<FooBar>) -> Result<()> {
    let came_or_went = Predicate::new(|delta: &Delta<_>| !matches!(delta, Delta::Updated { .. }));
    let foobars = manager.informer::<FooBar>().store();
    let every =
        move |_: &PartialObjectMeta<Node>| foobars.list().iter().map(|foobar| ObjectKey::of(&**foobar)).collect();
    Controller::<FooBar>::new("foobar")
        // Found by `cx.by_index::<FooBar>("target", …)`.
        .index("target", |foobar: &FooBar| vec![foobar.spec.target.clone()])
        // All FooBars, when a node is added or deleted. Only metadata is watched, because the status of nodes changes
        // often.
        .watches_where::<PartialObjectMeta<Node>>(came_or_went, every)
        // FooBars that a source outside of Kubernetes names.
        .watches_channel(poll(manager, buckets))
        .register(manager, reconciler)
}

/// Polls the bucket store each minute for changed buckets.
fn poll(manager: &Manager, buckets: Buckets) -> mpsc::Receiver<ObjectKey> {
    let (wake, keys) = mpsc::channel(16);
    manager.background(async move {
        let mut minute = interval(Duration::from_secs(60));
        loop {
            minute.tick().await;
            for (namespace, name) in buckets.changed().await {
                if wake.send(ObjectKey::new(Some(&namespace), &name)).await.is_err() {
                    return;
                }
            }
        }
    });
    keys
}
// ANCHOR_END: sources
