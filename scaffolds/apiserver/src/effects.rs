//! The effects of writes: a definition's resources are served, and removed with it; Services of an earlier server keep
//! their addresses. Effects stand above the registry, which does not depend on them.

use std::{sync::Arc, time::Duration};

use futures::FutureExt;
use tokio::runtime::Handle;

use crate::{
    call::Call,
    custom::Definitions,
    registry::{self, Answer, Reply},
    state::Core,
    status::Status,
};

/// The first and the longest delay after a write of a definition's status was refused.
const DELAYS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(64)];

/// The state of a server, and writes together with their effects.
pub struct Cluster {
    /// The state.
    pub core: Core,
    definitions: Definitions,
}

impl Cluster {
    /// Creates a cluster on this state.
    pub fn new(core: Core) -> Self {
        Self {
            core,
            definitions: Definitions::default(),
        }
    }

    /// Restores the effects of the objects that an earlier server stored. What has to wait, as for a webhook, continues in a task
    /// of its own.
    pub async fn restore(self: &Arc<Self>) {
        self.hold();
        let cluster = Arc::clone(self);
        let mut work = async move {
            let refused = cluster.definitions.restore(&cluster.core).await;
            cluster.retry_later(refused, DELAYS[0]);
        }
        .boxed();
        if let (None, Ok(runtime)) = ((&mut work).now_or_never(), Handle::try_current()) {
            runtime.spawn(work);
        }
    }

    /// Answers a request for a resource of the catalogue. Warnings for the client are added to `warnings`, also when
    /// the request is refused.
    ///
    /// # Errors
    /// The Status to answer with.
    pub async fn serve(self: &Arc<Self>, call: Call, warnings: &mut Vec<String>) -> Result<Answer, Status> {
        if let Some(sentence) = call.resource.rules().deprecation.as_deref() {
            warnings.push(sentence.to_owned());
        }
        if call.verb.is_read() {
            return registry::read(&self.core, &call).await;
        }
        self.write(call, warnings).await.map(Answer::Object)
    }

    /// Answers a write once its effects are done.
    ///
    /// A write with effects that has to wait runs in a task of its own, so it completes even if this future is dropped.
    ///
    /// # Errors
    /// The Status to answer with.
    pub async fn write(self: &Arc<Self>, call: Call, warnings: &mut Vec<String>) -> Result<Reply, Status> {
        if !Definitions::follows(&call) {
            let reply = registry::write(&self.core, &call, warnings).await?;
            // While a webhook was called, the deletion of the object's definition may have begun.
            self.retry_later(Definitions::waiting_for(&self.core, &call), Duration::ZERO);
            return Ok(reply);
        }
        let cluster = Arc::clone(self);
        let mut work = async move {
            let mut warnings = Vec::new();
            let reply = registry::write(&cluster.core, &call, &mut warnings).await;
            if let Ok(reply) = &reply {
                let refused = cluster.definitions.follow(&cluster.core, &call, reply).await;
                cluster.retry_later(refused, DELAYS[0]);
            }
            (reply, warnings)
        }
        .boxed();
        // If nothing has to wait, as in a server without a disk, the answer is there at once.
        let (reply, said) = match (&mut work).now_or_never() {
            Some(done) => done,
            None => {
                let done = tokio::spawn(work).await;
                done.map_err(|_| Status::internal("the request caused a panic"))?
            }
        };
        warnings.extend(said);
        reply
    }

    /// Lets a task for each definition carry out its steps after a delay, which grows with each refusal of a write.
    fn retry_later(self: &Arc<Self>, definitions: impl IntoIterator<Item = String>, delay: Duration) {
        let Ok(runtime) = Handle::try_current() else { return };
        for name in definitions {
            let cluster = Arc::downgrade(self);
            runtime.spawn(async move {
                tokio::time::sleep(delay).await;
                if let Some(cluster) = cluster.upgrade() {
                    let refused = cluster.definitions.retry(&cluster.core, &name).await;
                    cluster.retry_later(refused, (delay * 2).clamp(DELAYS[0], DELAYS[1]));
                }
            });
        }
    }

    /// Reserves the addresses and ports of the Services that an earlier server stored.
    fn hold(&self) {
        for resource in self.core.catalogue.snapshot().all() {
            if resource.rules().held.is_none() {
                continue;
            }
            for record in self.core.store.all(&resource.store_name(), "") {
                resource.rules().hold(&record.value());
            }
        }
    }
}
