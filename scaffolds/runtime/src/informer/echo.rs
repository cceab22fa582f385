//! The watch events of our own writes. They show what the response to the write has put into the store already, so they are
//! not decoded: of the three events after a change of a FooBar, those of its child and of its status.

use std::{future::Future, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use tokio::task_local;

use super::{SharedInformer, Watchable};

task_local! {
    /// The writes that the watch of this task awaits. `Deserialize` has no parameter for them.
    static AWAITED: Arc<dyn Awaits>;
}

/// Knows the own writes that no watch has shown yet.
pub(super) trait Awaits: Send + Sync {
    /// Whether there are any.
    fn any(&self) -> bool;
    /// Whether this version of an object is one, and is stored.
    fn awaits(&self, metadata: &ObjectMeta) -> bool;
}

impl<K: Watchable> Awaits for SharedInformer<K> {
    fn any(&self) -> bool {
        // The text that would be stored does not contain the result of a transform.
        self.config.transform.is_none() && self.lock().reflection.awaits_any()
    }

    fn awaits(&self, metadata: &ObjectMeta) -> bool {
        self.lock().reflection.awaits(metadata)
    }
}

/// Runs a watch. `awaited` is locked while the watch decodes, so it must not be locked by whoever polls the watch.
pub(super) async fn watching<T>(awaited: Arc<dyn Awaits>, watch: impl Future<Output = T>) -> T {
    AWAITED.scope(awaited, watch).await
}

/// Whether an object that is being decoded is awaited by the watch of this task; `identity` returns its metadata.
pub(super) fn awaited(identity: impl FnOnce() -> ObjectMeta) -> Option<Box<ObjectMeta>> {
    let found = AWAITED.try_with(|awaited| {
        if !awaited.any() {
            return None;
        }
        let metadata = identity();
        awaited.awaits(&metadata).then(|| Box::new(metadata))
    });
    // Outside of a watch, such as in the list of one namespace.
    found.ok().flatten()
}
