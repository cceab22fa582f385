//! Keys with a priority, and work that takes an unknown time.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Secret;
use kubewright_runtime::{
    Action, Context, Controller, Manager, ObjectKey, Predicate, Priority, RateLimit, Reconciler, Result, Wake,
};

use crate::foobar::FooBar;

// ANCHOR: urgent
pub fn register(manager: &Manager) -> Result<()> {
    Controller::<FooBar>::new("foobar")
        // A new password is applied before anything else.
        .watches_with_priority::<Secret>(Predicate::new(|_| true), |secret| {
            vec![Wake::new(ObjectKey::of(secret), Priority::High)]
        })
        // At most ten retries per second in the long run, of all FooBars together.
        .rate_limit(RateLimit::new(10.0, 100))
        .register(manager, Restores)
}

struct Restores;

impl Reconciler<FooBar> for Restores {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        if is_restored(&foobar).await? {
            return Ok(Action::Done);
        }
        // A restore takes seconds or hours: ask again with growing delays, ahead of objects that only changed.
        cx.requeue_with(Priority::High);
        Ok(Action::RequeueWithBackoff)
    }
}
// ANCHOR_END: urgent

async fn is_restored(_: &FooBar) -> Result<bool> {
    Ok(true)
}
