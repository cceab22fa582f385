//! The effects of writes: a definition's resources are served, and removed with it; Services of an earlier server keep
//! their addresses. Effects stand above the registry, which does not depend on them.

use std::{
    collections::BTreeSet,
    sync::{Arc, Weak},
    time::Duration,
};

use futures::FutureExt;
use tokio::runtime::Handle;

use crate::{
    call::Call,
    custom::Definitions,
    registry::{self, Answer, Reply},
    state::Core,
    status::Status,
    store::Range,
};

/// The first and the longest delay after the deletion of a definition's object was refused.
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

    /// Restores the effects of the objects that an earlier server stored. A deletion that it had begun continues in a task of its
    /// own, as it may have to wait.
    pub async fn restore(self: &Arc<Self>) {
        let terminating = self.definitions.restore(&self.core).await;
        self.hold();
        match Handle::try_current() {
            Ok(runtime) if !terminating.is_empty() => {
                let cluster = Arc::clone(self);
                runtime.spawn(async move { cluster.empty(terminating).await });
            }
            _ => self.empty(terminating).await,
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
            return registry::write(&self.core, &call, warnings).await;
        }
        let cluster = Arc::clone(self);
        let mut work = async move {
            let mut warnings = Vec::new();
            let reply = registry::write(&cluster.core, &call, &mut warnings).await;
            if let Ok(reply) = &reply {
                let terminating = cluster.definitions.follow(&cluster.core, &call, reply).await;
                cluster.empty(terminating).await;
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

    /// Deletes the objects of terminating definitions. After a refusal a task tries again later.
    async fn empty(self: &Arc<Self>, definitions: BTreeSet<String>) {
        for name in definitions {
            if self.definitions.empty(&self.core, &name).await || !self.definitions.begin_retrying(&name).await {
                continue;
            }
            if let Ok(runtime) = Handle::try_current() {
                runtime.spawn(empty_later(Arc::downgrade(self), name));
            }
        }
    }

    /// Reserves the addresses and ports of the Services that an earlier server stored.
    fn hold(&self) {
        for resource in self.core.catalogue.snapshot().all() {
            if resource.rules().held.is_none() {
                continue;
            }
            let range = Range::new(&resource.store_name(), "");
            let page = self.core.store.list(&range, None, None, 0);
            for record in page.into_iter().flat_map(|page| page.records) {
                if let Ok(object) = serde_json::from_slice(&record.object) {
                    resource.rules().hold(&object);
                }
            }
        }
    }
}

/// Tries to delete the objects of a terminating definition until no deletion is refused, with a growing delay.
async fn empty_later(cluster: Weak<Cluster>, name: String) {
    let [mut delay, longest] = DELAYS;
    loop {
        tokio::time::sleep(delay).await;
        let Some(cluster) = cluster.upgrade() else { return };
        if cluster.definitions.empty(&cluster.core, &name).await {
            return cluster.definitions.end_retrying(&name).await;
        }
        delay = longest.min(delay * 2);
    }
}
