//! A controller that is woken by more than its own kind, and caches that hold what is needed.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kube::core::PartialObjectMeta;
use kubewright_runtime::{Controller, Delta, Manager, ObjectKey, Predicate, Reconciler, Result};
use tokio::{sync::mpsc, time::interval};

use crate::{bucket::Buckets, foobar::FooBar};

// ANCHOR: caches
/// Before any controller is registered: what the caches hold.
pub fn configure(manager: &Manager) -> Result<()> {
    manager.configure_cache::<ConfigMap>(|cache| {
        // The API server sends no others, which spares its network and our memory.
        cache.label_selector = Some("app.kubernetes.io/managed-by=foobar-operator".to_owned());
        // What no reconciler reads need not be kept.
        cache.transform = Some(Arc::new(|map: &mut ConfigMap| map.binary_data = None));
    })
}
// ANCHOR_END: caches

// ANCHOR: sources
/// What wakes the controller.
pub fn register(manager: &Manager, buckets: Buckets, reconciler: impl Reconciler<FooBar>) -> Result<()> {
    let came_or_went = Predicate::new(|delta: &Delta<_>| !matches!(delta, Delta::Updated { .. }));
    let foobars = manager.informer::<FooBar>().store();
    let every =
        move |_: &PartialObjectMeta<Node>| foobars.list().iter().map(|foobar| ObjectKey::of(&**foobar)).collect();
    Controller::<FooBar>::new("foobar")
        // Found by `cx.by_index::<FooBar>("target", …)`.
        .index("target", |foobar: &FooBar| vec![foobar.spec.target.clone()])
        // All FooBars, when a node comes or goes. Of nodes, which report all the time, the metadata alone is watched.
        .watches_where::<PartialObjectMeta<Node>>(came_or_went, every)
        // Those that something outside of Kubernetes names.
        .watches_channel(poll(manager, buckets))
        .register(manager, reconciler)
}

/// Asks the bucket store each minute which buckets have changed.
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
