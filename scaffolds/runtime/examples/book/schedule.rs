//! A Job each hour, of which the newest three stay.

use std::sync::Arc;

use k8s_openapi::{api::batch::v1::Job, jiff::Timestamp};
use kube::ResourceExt;
use kubewright_runtime::{Action, Completion, Context, Error, Manager, Reconciler, Result, job_name};
use serde_json::json;

use crate::foobar::FooBar;

/// The seconds of an hour.
const HOUR: i64 = 3_600;

// ANCHOR: register
/// Registers the controller.
pub fn register(manager: &Manager) -> Result<()> {
    controller().register(manager, Hourly)
}

/// The controller: it owns Jobs, and deletes some of them.
pub fn controller() -> kubewright_runtime::Controller<FooBar> {
    kubewright_runtime::Controller::new("hourly")
        .owns::<Job>()
        .prunes::<Job>()
}
// ANCHOR_END: register

/// Runs a Job for each FooBar, each hour.
pub struct Hourly;

impl Reconciler<FooBar> for Hourly {
    // ANCHOR: reconcile
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        let mut ended = cx.children::<Job>()?;
        ended.retain(|job| Completion::of(job).is_final());
        ended.sort_by_key(|job| job.metadata.creation_timestamp.clone());
        cx.delete_children(&ended[..ended.len().saturating_sub(3)]).await?;

        let hour = cx.now().as_second() / HOUR;
        let next = Timestamp::from_second((hour + 1) * HOUR).map_err(Error::retry)?;
        // The name contains the hour: a repeated reconcile, also after a restart, finds the Job.
        let job = job(&foobar, hour)?;
        cx.create_once(job).await.map_err(|error| error.with_deadline(next))?;
        Ok(Action::At(next))
    }
    // ANCHOR_END: reconcile
}

fn job(foobar: &FooBar, hour: i64) -> Result<Job> {
    let name = job_name(&foobar.name_any(), &hour.to_string());
    let container = json!({"name": "main", "image": "busybox", "args": ["echo", foobar.spec.target]});
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [container]}});
    serde_json::from_value(json!({"metadata": {"name": name}, "spec": {"template": template}})).map_err(Error::retry)
}
