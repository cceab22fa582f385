//! A reconciler that says of each failure what is to be done about it.

use std::{sync::Arc, time::Duration};

use kubewright_runtime::{Action, Context, Error, Reconciler, Result};

use crate::{
    bucket::{Bucket, BucketError, Buckets},
    foobar::FooBar,
};

/// Makes a bucket for each FooBar.
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
                // Only a change of the spec helps: not tried again, Ready=False with this reason.
                BucketError::BadName(_) => Error::terminal("BadTarget", error.to_string()),
                // May pass by itself: tried again after 5 ms, 10 ms, 20 ms … 1000 s.
                BucketError::Unreachable => Error::retry(error),
                // It knows how long it takes.
                BucketError::Busy => Error::retry_after(error, Duration::from_secs(30)),
            })?;
        Ok(match bucket {
            // Not a failure: look again in a while, because nobody will tell.
            Bucket::Busy => Action::RequeueAfter(Duration::from_secs(10)),
            Bucket::Ready => Action::Done,
        })
    }
    // ANCHOR_END: reconcile
}
