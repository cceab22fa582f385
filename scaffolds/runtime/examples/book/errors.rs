//! A reconciler that decides for each error whether and when to retry.

use std::{sync::Arc, time::Duration};

use kubewright_runtime::{Action, Context, Error, Reconciler, Result};

use crate::{
    bucket::{Bucket, BucketError, Buckets},
    foobar::FooBar,
};

/// Creates a bucket for each FooBar.
pub struct FooBarReconciler {
    buckets: Buckets,
}

impl Reconciler<FooBar> for FooBarReconciler {
    // ANCHOR: reconcile
    async fn reconcile(&self, _cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let bucket = self
            .buckets
            .ensure(&foobar.spec.target)
            .await
            .map_err(|error| match error {
                // Only a change of the spec helps: not retried, Ready=False with this reason.
                BucketError::BadName(_) => Error::terminal("BadTarget", error.to_string()),
                // May pass by itself: retried after 5 ms, 10 ms, 20 ms … 1000 s.
                BucketError::Unreachable => Error::retry(error),
                // The store needs some time.
                BucketError::Busy => Error::retry_after(error, Duration::from_secs(30)),
            })?;
        Ok(match bucket {
            // Not a failure: check again later, because nothing notifies us.
            Bucket::Busy => Action::RequeueAfter(Duration::from_secs(10)),
            Bucket::Ready => Action::Done,
        })
    }
    // ANCHOR_END: reconcile
}
