//! Runs a reconciler once for a test: without the queue, and without handling the result.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use super::{
    RECONCILES, Worker,
    run::{End, Next},
};
use crate::{
    context::Context,
    error::{Error, Result},
    key::ObjectKey,
    object::AnyObject,
    priority::Priority,
};

impl<K: AnyObject> Worker<K> {
    /// Runs the reconciler once for this object, without the queue, and returns when it is to run again.
    pub(crate) async fn rehearse(&self, key: &ObjectKey) -> Result<Option<Duration>> {
        let Some(object) = self.shared.main.informer.store().get(key) else {
            let reason = self.shared.main.informer.store().invalid(key);
            let reason = reason.unwrap_or_else(|| "it is not in the cache".into());
            return Err(Error::Setup(format!("`{key}` cannot be reconciled: {reason}")));
        };
        let cx = Context {
            shared: self.shared.clone(),
            key: key.clone(),
            object,
            attempt: 0,
            reconcile_id: RECONCILES.fetch_add(1, Ordering::Relaxed),
            priority: Arc::default(),
            patched: Arc::default(),
        };
        match self.run(&cx).await {
            End::Returned(Ok(Next::Nothing)) => Ok(None),
            End::Returned(Ok(Next::After(delay))) => Ok(Some(delay)),
            End::Returned(Ok(Next::At(at))) => Ok(Some(self.shared.clock.until(at))),
            End::Returned(Ok(Next::Backoff)) => Ok(Some(
                self.shared.state.queue.add_unfinished(key.clone(), Priority::Normal),
            )),
            End::Returned(Err(error)) => Err(error),
            End::Panicked(message) => Err(Error::retry(format!("the reconciler panicked: {message}"))),
            End::TimedOut(cut_off) => Err(Error::retry(cut_off.to_string())),
        }
    }
}
