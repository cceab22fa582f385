//! Paths of the operator's own on the metrics server.

use kubewright_runtime::{Manager, Result, RouteResponse};
use serde_json::json;

use crate::foobar::FooBar;

// ANCHOR: routes
/// Serves how many FooBars there are.
pub fn serve(manager: &Manager) -> Result<()> {
    let foobars = manager.informer::<FooBar>().store();
    manager.route("/debug/foobars", move |_request| {
        let count = foobars.list().len();
        async move { RouteResponse::json(&json!({"count": count})) }
    })
}
// ANCHOR_END: routes
