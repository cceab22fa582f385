//! Operators that report in other ways.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{Action, Conditions, Context, Controller, Error, Manager, Reconciler, Result};

use super::child;
use crate::{
    FooBar,
    wrong::{owning, ready},
};

pub(super) fn progress(manager: &Manager) -> Result<()> {
    owning(manager, Progress)
}

struct Progress;

impl Reconciler<FooBar> for Progress {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let wanted = child(&object, "foobar");
        let present = cx.child::<ConfigMap>(wanted.metadata.name.as_deref().unwrap_or_default())?;
        if present.is_none_or(|present| present.data != wanted.data) {
            let progressing = cx.condition("Ready", false, "Progressing", "the child is being written");
            cx.patch_status(|status| status.conditions.set(progressing)).await?;
        }
        cx.apply_child(wanted).await?;
        ready(cx, &object).await
    }
}

pub(super) fn several(manager: &Manager) -> Result<()> {
    owning(manager, Several)
}

struct Several;

impl Reconciler<FooBar> for Several {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        cx.apply_child(child(&object, "foobar")).await?;
        let length = object.spec.target.len();
        let long = cx.condition("Long", length > 5, "Measured", format!("{length} characters"));
        let typed = cx.condition("Typed", object.spec.r#type.is_some(), "Read", "");
        cx.patch_status(|status| {
            status.note = Some(object.spec.target.clone());
            status.conditions.set(long);
            status.conditions.set(typed);
        })
        .await?;
        ready(cx, &object).await
    }
}

pub(super) fn refuses(manager: &Manager) -> Result<()> {
    owning(manager, Refuses)
}

/// Leaves its child as it is if the spec is invalid.
struct Refuses;

impl Reconciler<FooBar> for Refuses {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        if object.spec.target != "world" {
            return Err(Error::terminal(
                "BadTarget",
                format!("there is no `{}`", object.spec.target),
            ));
        }
        cx.apply_child(child(&object, "foobar")).await?;
        ready(cx, &object).await
    }
}

pub(super) fn two_controllers(manager: &Manager) -> Result<()> {
    let foobar = Controller::<FooBar>::new("foobar").owns::<ConfigMap>();
    foobar.register(manager, Several)?;
    let audit = Controller::<FooBar>::new("audit").owns::<ConfigMap>();
    audit.register(manager, Audit)
}

/// Has a child and a condition of its own, beside another controller.
struct Audit;

impl Reconciler<FooBar> for Audit {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        cx.apply_child(child(&object, "audit")).await?;
        let ready = cx.condition("AuditReady", true, "Applied", "");
        cx.patch_status(|status| status.conditions.set(ready)).await?;
        Ok(Action::Done)
    }
}

pub(super) fn backs_off(manager: &Manager) -> Result<()> {
    owning(manager, BacksOff)
}

/// Applies its second child in the run after that of the first.
struct BacksOff;

impl Reconciler<FooBar> for BacksOff {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        if cx.apply_child(child(&object, "foobar")).await?.changed() {
            return Ok(Action::RequeueWithBackoff);
        }
        cx.apply_child(child(&object, "second")).await?;
        ready(cx, &object).await
    }
}
