//! Kinds that may be absent, while their CRDs come, change and go.

use std::sync::{Arc, Mutex};

use anyhow::Result;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, CustomResource,
    api::{Patch, PatchParams, PostParams},
};
use kubewright_runtime::{Action, Context, Controller, Manager, ObjectKey, Reconciler};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{PATIENCE, Running, crd, eventually, install, plane, remove, seen};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(
    group = "other.example.com",
    version = "v1",
    kind = "Gadget",
    namespaced,
    schema = "disabled"
)]
struct GadgetSpec {
    size: i32,
}

/// Records what is reconciled and what is gone.
struct Life(Arc<Mutex<Vec<String>>>);

impl Reconciler<Gadget> for Life {
    async fn reconcile(&self, cx: &Context<Gadget>, gadget: Arc<Gadget>) -> kubewright_runtime::Result<Action> {
        let line = format!("{} {}", cx.key().name(), gadget.spec.size);
        self.0.lock().unwrap().push(line);
        Ok(Action::Done)
    }

    fn deleted(&self, key: &ObjectKey) {
        self.0.lock().unwrap().push(format!("{} gone", key.name()));
    }
}

#[tokio::test]
async fn a_kind_comes_changes_its_served_versions_and_goes_without_a_restart() -> Result<()> {
    let Some(plane) = plane().await? else { return Ok(()) };
    let client = plane.client().await?;
    let lines = Arc::<Mutex<Vec<String>>>::default();
    let manager = Manager::builder(client.clone()).name("test").build();
    Controller::<Gadget>::new("gadget")
        .optional::<Gadget>()
        .register(&manager, Life(lines.clone()))?;
    let informer = manager.informer::<Gadget>();
    let running = Running::start(manager);
    eventually("the informer is synced", PATIENCE, async || {
        Ok((informer.has_synced() && !informer.is_served()).then_some(()))
    })
    .await?;

    let gadgets: Api<Gadget> = Api::namespaced(client.clone(), "default");
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let one = Gadget::new("one", GadgetSpec { size: 1 });
    for _ in 0..2 {
        install(&client, &crd("gadgets", "Gadget", &[("v1", true), ("v2", true)])).await?;
        let create = async || Ok(gadgets.create(&PostParams::default(), &one).await.ok());
        eventually("the kind is served", PATIENCE, create).await?;
        seen(&lines, "one 1").await?;

        for (served, line) in [(false, "one gone"), (true, "one 1")] {
            let patch = json!([{"op": "replace", "path": "/spec/versions/0/served", "value": served}]);
            let patch = Patch::Json::<()>(serde_json::from_value(patch)?);
            crds.patch("gadgets.other.example.com", &PatchParams::default(), &patch)
                .await?;
            seen(&lines, line).await?;
        }
        remove(&client, "gadgets.other.example.com").await?;
        seen(&lines, "one gone").await?;
        eventually("the kind is absent", PATIENCE, async || {
            Ok((!informer.is_served()).then_some(()))
        })
        .await?;
        assert!(informer.store().is_empty());
    }
    running.stop().await
}
