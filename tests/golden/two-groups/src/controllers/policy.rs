// Copyright 2026 The FooBar authors
// SPDX-License-Identifier: MIT

//! Reconciles each Policy: what that means is for you to write.

use std::sync::Arc;

use api::test::v1beta1::Policy;
use kubewright_runtime::{Action, Conditions, Context, Controller, Manager, Reconciler, Result};

use crate::app::App;

/// The condition that says how far an object has come.
const READY: &str = "Ready";

struct PolicyReconciler;

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    Controller::<Policy>::new("policy").register(manager, PolicyReconciler)
}

impl Reconciler<Policy> for PolicyReconciler {
    // Called whenever the object may have changed, and never told how: look at the world, compare it with
    // `object.spec`, act on the difference. It may be called again at any time, so it must not mind.
    async fn reconcile(&self, cx: &Context<Policy>, object: Arc<Policy>) -> Result<Action> {
        let ready = cx.condition(READY, true, "Reconciled", "there was nothing to do");
        // Sent only where it differs from what is there.
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.conditions.set(ready);
        })
        .await?;
        Ok(Action::Done)
    }
}
