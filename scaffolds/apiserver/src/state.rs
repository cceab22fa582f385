//! The state that all parts of the server share: objects, resources, rights and time. It stands below the registry;
//! what is derived from it (discovery, definitions, controllers) stands above.

use std::sync::Arc;

use crate::{
    authorize::Authorizer,
    catalogue::Catalogue,
    clock::Clock,
    flow::FlowControl,
    policies::Policies,
    quota,
    status::Status,
    store::{Lost, Store},
    webhooks::Webhooks,
};

/// The state from which requests are answered.
#[derive(Default)]
pub struct Core {
    /// All objects.
    pub store: Store,
    /// All resources.
    pub catalogue: Catalogue,
    /// Decides which requests are allowed.
    pub authorizer: Authorizer,
    /// The clock for timestamps of objects.
    pub clock: Clock,
    /// The flows of requests.
    pub flow: FlowControl,
    /// The admission policies.
    pub policies: Policies,
    /// The writes that quotas have been charged for.
    pub charged: quota::Pending,
    /// The webhooks, which the conversions of custom kinds share.
    pub webhooks: Arc<Webhooks>,
}

impl Core {
    /// Checks that changes can still be stored.
    ///
    /// # Errors
    /// 500 once the disk has failed.
    pub fn check_disk(&self) -> Result<(), Status> {
        self.store.failure().map_or(Ok(()), |lost| Err(unwritable(&lost)))
    }

    /// Seconds since 1970, see [`Clock`].
    pub fn now(&self) -> i64 {
        self.clock.seconds()
    }
}

/// 500: the disk has failed.
pub fn unwritable(lost: &Lost) -> Status {
    Status::internal(&format!("the data directory is no longer writable: {}", lost.0))
}
