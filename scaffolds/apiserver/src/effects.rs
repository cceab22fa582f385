//! The effects of writes: a definition's resources are served, and removed with it; Services of an earlier server keep
//! their addresses. Effects stand above the registry, which does not depend on them.

use std::sync::Arc;

use futures::FutureExt;

use crate::{
    call::Call,
    custom::Definitions,
    registry::{self, Answer, Reply},
    state::Core,
    status::Status,
    store::Range,
};

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

    /// Restores the effects of the objects that an earlier server stored.
    pub async fn restore(&self) {
        self.definitions.restore(&self.core).await;
        self.hold();
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
                cluster.definitions.follow(&cluster.core, &call, reply).await;
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
