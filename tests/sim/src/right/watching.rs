//! Operators that look at objects of others, and at another kind.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt;
use kubewright_runtime::{Action, Conditions, Context, Controller, Manager, ObjectKey, Reconciler, Result};

use super::named;
use crate::{FooBar, Site, wrong::ready};

pub(super) fn copies(manager: &Manager) -> Result<()> {
    let all = |secret: &Secret| {
        let is_settings = secret.name_any() == "settings";
        let sample = || ObjectKey::new(secret.metadata.namespace.as_deref(), "sample");
        is_settings.then(sample).into_iter().collect()
    };
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .watches::<Secret>(all)
        .register(manager, Copies)
}

/// Copies a Secret of its user, once there is one.
struct Copies;

impl Reconciler<FooBar> for Copies {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let Some(settings) = cx.get::<Secret>("settings")? else {
            let waits = cx.condition("Ready", false, "NoSettings", "there is no Secret `settings`");
            cx.patch_status(|status| {
                status.observed_generation = object.metadata.generation;
                status.conditions.set(waits);
            })
            .await?;
            return Ok(Action::Done);
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let data = settings.data.iter().flatten();
        let copy = ConfigMap {
            metadata: named(&object.name_any(), "copy"),
            data: Some(data.map(|(name, value)| (name.clone(), text(&value.0))).collect()),
            ..ConfigMap::default()
        };
        cx.apply_child(copy).await?;
        ready(cx, &object).await
    }
}

pub(crate) fn cluster_scoped(manager: &Manager) -> Result<()> {
    Controller::<Site>::new("site")
        .owns::<ConfigMap>()
        .register(manager, OfCluster)
}

struct OfCluster;

impl Reconciler<Site> for OfCluster {
    async fn reconcile(&self, cx: &Context<Site>, object: Arc<Site>) -> Result<Action> {
        let mut metadata = named(&object.name_any(), "site");
        metadata.namespace = Some("default".to_owned());
        let child = ConfigMap {
            metadata,
            data: Some(BTreeMap::from([("target".to_owned(), object.spec.target.clone())])),
            ..ConfigMap::default()
        };
        cx.apply_child(child).await?;
        let ready = cx.condition("Ready", true, "Applied", "");
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.conditions.set(ready);
        })
        .await?;
        Ok(Action::Done)
    }
}
