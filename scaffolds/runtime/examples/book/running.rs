//! A controller that starts and stops another one while the operator runs.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{Action, Context, Controller, Controllers, Manager, Reconciler, Result};

use crate::foobar::FooBar;

// ANCHOR: running
struct FooBarReconciler {
    controllers: Controllers,
}

/// Checks the ConfigMaps, while any FooBar asks for that.
struct Checks;

fn checks() -> Controller<ConfigMap> {
    Controller::<ConfigMap>::new("checks").foreign()
}

pub fn register(manager: &Manager) -> Result<()> {
    // `make manifests` writes its permissions too.
    manager.may_start(&checks(), &Checks);
    let controllers = manager.controllers();
    Controller::<FooBar>::new("foobar").register(manager, FooBarReconciler { controllers })
}

impl Reconciler<FooBar> for FooBarReconciler {
    async fn reconcile(&self, cx: &Context<FooBar>, _foobar: Arc<FooBar>) -> Result<Action> {
        let wanted = cx.list::<FooBar>()?.iter().any(|foobar| foobar.spec.target == "checks");
        match self.controllers.get("checks") {
            None if wanted => drop(self.controllers.start(checks(), Checks).await?),
            Some(running) if !wanted => running.stop().await,
            _ => {}
        }
        Ok(Action::Done)
    }
}
// ANCHOR_END: running

impl Reconciler<ConfigMap> for Checks {
    async fn reconcile(&self, _: &Context<ConfigMap>, _: Arc<ConfigMap>) -> Result<Action> {
        Ok(Action::Done)
    }
}
