//! A cleanup that takes more than one run.

use std::{sync::Arc, time::Duration};

use kubewright_runtime::{Action, Cleanup, Context, Error, Reconciler, Result};

use crate::{bucket::Buckets, foobar::FooBar};

/// Removes the bucket of each deleted FooBar.
pub struct FooBarReconciler {
    buckets: Buckets,
}

impl Reconciler<FooBar> for FooBarReconciler {
    async fn reconcile(&self, _cx: &Context<FooBar>, _foobar: Arc<FooBar>) -> Result<Action> {
        Ok(Action::Done)
    }

    // ANCHOR: cleanup
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/cleanup")
    }

    async fn cleanup(&self, _cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Cleanup> {
        match self.buckets.remove(&foobar.spec.target).await.map_err(Error::retry)? {
            None => Ok(Cleanup::Done),
            // The finalizer stays, and this runs again.
            Some(_) => Ok(Cleanup::Pending(Duration::from_secs(5))),
        }
    }
    // ANCHOR_END: cleanup
}
