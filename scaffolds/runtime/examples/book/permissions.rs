//! Permissions on named objects, in one namespace, on URLs, and in a role of their own.

use kubewright_runtime::{Controller, Manager, Reconciler, Result, Rule};

use crate::foobar::FooBar;

// ANCHOR: permissions
/// The reconciler reads a Secret of the operator's namespace, Services of `kube-system`, and metrics of the API server.
pub fn register(manager: &Manager, reconciler: impl Reconciler<FooBar>) -> Result<()> {
    Controller::<FooBar>::new("foobar")
        .grant(
            Rule::new(&[""], &["secrets"], &["get"])
                .names(&["licence"])
                .in_own_namespace(),
        )
        .grant(Rule::new(&[""], &["services"], &["list"]).in_namespace("kube-system"))
        .grant(Rule::urls(&["/metrics"], &["get"]))
        // Nodes are read only where the administrator keeps this role.
        .grant(Rule::new(&[""], &["nodes"], &["get"]).role("node-reader"))
        .register(manager, reconciler)
}
// ANCHOR_END: permissions
