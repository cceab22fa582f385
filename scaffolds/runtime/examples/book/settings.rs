//! A controller with settings other than the defaults.

use std::time::Duration;

use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kubewright_runtime::{Backoff, Controller, Manager, Predicate, Reconciler, Result};

use crate::foobar::FooBar;

// ANCHOR: settings
/// Every setting that a controller has.
pub fn register(manager: &Manager, reconciler: impl Reconciler<FooBar>) -> Result<()> {
    Controller::<FooBar>::new("foobar")
        // Changes of children of these kinds wake their owner.
        .owns::<ConfigMap>()
        .owns::<Deployment>()
        // Up to eight FooBars at the same time, never one of them twice.
        .concurrency(8)
        // A reconcile that takes longer is cut off and counts as failed.
        .reconcile_timeout(Duration::from_secs(60))
        // Changes of the spec and of annotations wake the controller, changes of labels do not.
        .predicate(Predicate::generation_changed().or(Predicate::annotations_changed()))
        // A failing FooBar waits 1 s, 2 s, 4 s … 5 min.
        .backoff(Backoff {
            base: Duration::from_secs(1),
            max: Duration::from_secs(300),
            ..Backoff::default()
        })
        // Added to config/rbac/role.yaml, which already has the permissions for the lines above.
        .rule(&["batch"], &["jobs"], &["create"])
        .register(manager, reconciler)
}
// ANCHOR_END: settings
