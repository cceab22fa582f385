//! Reconciles each Pump. The reconciler is empty: fill it in.

use std::sync::Arc;

use api::water::v1::Pump;
use kubewright_runtime::{Action, Conditions, Context, Controller, Manager, Reconciler, Result};

use crate::app::App;

/// The condition that reports whether the object has been reconciled.
const READY: &str = "Ready";

struct PumpReconciler;

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    Controller::<Pump>::new("pump").register(manager, PumpReconciler)
}

impl Reconciler<Pump> for PumpReconciler {
    // Runs after any change, without saying which: compare the cluster with `object.spec`, then act. It may run again
    // at any time, so a second run must change nothing.
    async fn reconcile(&self, cx: &Context<Pump>, object: Arc<Pump>) -> Result<Action> {
        let ready = cx.condition(READY, true, "Reconciled", "there was nothing to do");
        // The patch is sent only if it changes something.
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.conditions.set(ready);
        })
        .await?;
        Ok(Action::Done)
    }
}
