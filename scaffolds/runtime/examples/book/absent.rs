//! A controller that makes objects of a kind only where that kind is installed.

use std::sync::Arc;

use kube::CustomResource;
use kubewright_runtime::{Action, Context, Controller, Manager, Reconciler, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::foobar::FooBar;

/// A kind of the Prometheus operator; only the fields that are written are needed.
#[derive(Clone, Debug, PartialEq, CustomResource, Deserialize, Serialize)]
#[kube(
    group = "monitoring.coreos.com",
    version = "v1",
    kind = "ServiceMonitor",
    namespaced,
    schema = "disabled"
)]
pub struct ServiceMonitorSpec {
    pub selector: Value,
    pub endpoints: Vec<Value>,
}

struct FooBarReconciler;

// ANCHOR: optional
/// The operator also runs in clusters without the Prometheus operator.
pub fn register(manager: &Manager) -> Result<()> {
    Controller::<FooBar>::new("foobar")
        .owns::<ServiceMonitor>()
        .optional::<ServiceMonitor>()
        .register(manager, FooBarReconciler)
}

impl Reconciler<FooBar> for FooBarReconciler {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        if cx.is_served::<ServiceMonitor>()? {
            let spec = ServiceMonitorSpec {
                selector: json!({"matchLabels": {"app": cx.key().name()}}),
                endpoints: vec![json!({"port": "metrics"})],
            };
            cx.apply_child(ServiceMonitor::new(cx.key().name(), spec)).await?;
        }
        Ok(Action::Done)
    }
}
// ANCHOR_END: optional
