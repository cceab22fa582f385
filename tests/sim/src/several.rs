//! An operator of two kinds, and samples that belong together or do not.

use std::sync::Arc;

use kube::{Api, api::ListParams};
use kubewright_runtime::{Action, Context, Controller, Manager, Reconciler, Result};
use serde_json::json;

use crate::{
    FooBar, Objects, Site,
    right::{self, child},
};

/// The kinds FooBar and Site, with one object of each; the FooBar has this target.
pub fn objects(target: &str) -> Objects {
    let (mut objects, sites) = (crate::objects(), crate::sites());
    objects.samples[0]["spec"]["target"] = json!(target);
    objects.definitions.extend(sites.definitions);
    objects.samples.extend(sites.samples);
    objects.samples[1]["metadata"]["name"] = json!("harbour");
    objects
}

/// Registers a right controller of Sites, and one of FooBars that writes its child only if there is a Site, which no spec names.
///
/// # Errors
/// A controller is registered already.
pub fn looking(manager: &Manager) -> Result<()> {
    Controller::<FooBar>::new("foobar").register(manager, Looking)?;
    right::cluster_scoped(manager)
}

/// Registers a right controller of FooBars, and one of Sites that writes its child without an owner.
///
/// # Errors
/// A controller is registered already.
pub fn wrong(manager: &Manager) -> Result<()> {
    right::scaffolded(manager)?;
    Controller::<Site>::new("site").register(manager, Ownerless)
}

struct Looking;

impl Reconciler<FooBar> for Looking {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let sites = Api::<Site>::all(cx.client().clone())
            .list(&ListParams::default())
            .await?;
        if !sites.items.is_empty() {
            cx.apply_child(child(&object, "foobar")).await?;
        }
        Ok(Action::Done)
    }
}

struct Ownerless;

impl Reconciler<Site> for Ownerless {
    async fn reconcile(&self, cx: &Context<Site>, object: Arc<Site>) -> Result<Action> {
        let path = "/api/v1/namespaces/default/configmaps/of-site?fieldManager=site&force=true";
        let body = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "of-site"}, "data": {"target": object.spec.target},
        });
        let request = http::Request::patch(path)
            .header("content-type", "application/apply-patch+yaml")
            .body(body.to_string().into_bytes())
            .map_err(kubewright_runtime::Error::retry)?;
        cx.client().request::<serde_json::Value>(request).await?;
        Ok(Action::Done)
    }
}
