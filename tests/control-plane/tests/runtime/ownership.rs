//! Shared objects and objects without an owner, with the server-side apply and the garbage collector of Kubernetes.

use std::sync::Arc;

use anyhow::Result;
use control_plane::{Assets, ControlPlane, Settings, eventually};
use k8s_openapi::api::{
    core::v1::{ConfigMap, Secret},
    rbac::v1::ClusterRole,
};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use kubewright_runtime::{Action, Cleanup, Context, Controller, Manager, Reconciler, Result as Reconciled};
use serde_json::{Value, json};

use super::{PATIENCE, Running};

const OWNERS: usize = 6;

/// ConfigMaps with a finalizer own a Secret together, and each has a ClusterRole and a Secret in another namespace.
struct Owners;

impl Reconciler<ConfigMap> for Owners {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/cleanup")
    }

    async fn reconcile(&self, cx: &Context<ConfigMap>, owner: Arc<ConfigMap>) -> Reconciled<Action> {
        let name = owner.name_any();
        let shared = json!({"metadata": {"name": "common"}, "type": "Opaque", "data": {"key": "dmFsdWU="}});
        if owner.labels().contains_key("leaves") {
            cx.release_shared::<Secret>(&[]).await?;
        } else {
            cx.apply_shared::<Secret>(typed(shared)).await?;
        }
        let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
        cx.apply_unowned::<ClusterRole>(typed(json!({"metadata": {"name": name}, "rules": rules})))
            .await?;
        let far = json!({"metadata": {"name": name, "namespace": "kube-public"}, "data": {"key": "dmFsdWU="}});
        cx.apply_unowned::<Secret>(typed(far)).await?;
        Ok(Action::Done)
    }

    async fn cleanup(&self, cx: &Context<ConfigMap>, _: Arc<ConfigMap>) -> Reconciled<Cleanup> {
        cx.delete_unowned::<ClusterRole>(&[]).await?;
        cx.delete_unowned::<Secret>(&[]).await?;
        Ok(Cleanup::Done)
    }
}

fn typed<T: serde::de::DeserializeOwned>(object: Value) -> T {
    serde_json::from_value(object).expect("an object of that kind")
}

fn start(client: &Client) -> Result<Running> {
    let manager = Manager::builder(client.clone())
        .name("test")
        .namespace("default")
        .build();
    manager.configure_cache::<ConfigMap>(|cache| cache.label_selector = Some("owner=yes".to_owned()))?;
    Controller::<ConfigMap>::new("owners")
        .foreign()
        .shares::<Secret>()
        .applies_unowned::<Secret>()
        .prunes::<Secret>()
        .applies_unowned::<ClusterRole>()
        .prunes::<ClusterRole>()
        .concurrency(OWNERS)
        .register(&manager, Owners)?;
    Ok(Running::start(manager))
}

struct Cluster {
    maps: Api<ConfigMap>,
    secrets: Api<Secret>,
    far: Api<Secret>,
    roles: Api<ClusterRole>,
}

impl Cluster {
    /// The names of the shared Secret's owners; none if it does not exist.
    async fn owners(&self) -> Result<Vec<String>> {
        let secret = self.secrets.get_opt("common").await?.unwrap_or_default();
        let owners = secret.metadata.owner_references.unwrap_or_default();
        let mut names: Vec<_> = owners.into_iter().map(|owner| owner.name).collect();
        names.sort();
        Ok(names)
    }

    async fn owned_by(&self, expected: &[String]) -> Result<()> {
        let what = format!("the owners {expected:?}");
        eventually(&what, PATIENCE, async || {
            Ok((self.owners().await? == expected).then_some(()))
        })
        .await
    }

    async fn version(&self) -> Result<Option<String>> {
        Ok(self.secrets.get("common").await?.metadata.resource_version)
    }
}

fn merged(patch: Value) -> Patch<Value> {
    Patch::Merge(patch)
}

#[tokio::test(flavor = "multi_thread")]
async fn shared_and_unowned_objects_live_on_a_real_server_as_documented() -> Result<()> {
    let Some(assets) = Assets::or_skip() else { return Ok(()) };
    let settings = Settings {
        controllers: true,
        ..Settings::default()
    };
    let plane = ControlPlane::start(&assets, settings).await?;
    let client = plane.client().await?;
    let cluster = Cluster {
        maps: Api::namespaced(client.clone(), "default"),
        secrets: Api::namespaced(client.clone(), "default"),
        far: Api::namespaced(client.clone(), "kube-public"),
        roles: Api::all(client.clone()),
    };
    let running = start(&client)?;
    let names: Vec<_> = (0..OWNERS).map(|number| format!("owner-{number}")).collect();
    for name in &names {
        let owner: ConfigMap = typed(json!({"metadata": {"name": name, "labels": {"owner": "yes"}}}));
        let created = async || Ok(cluster.maps.create(&PostParams::default(), &owner).await.ok());
        eventually("the owner is created", PATIENCE, created).await?;
    }
    cluster.owned_by(&names).await?;

    // Drift is repaired, by a process that did not write the object too; and a restart writes nothing.
    running.stop().await?;
    let (before, running) = (cluster.version().await?, start(&client)?);
    let drifted = merged(json!({"data": {"key": "d3Jvbmc="}}));
    cluster.far.patch("owner-1", &PatchParams::default(), &drifted).await?;
    cluster
        .roles
        .patch("owner-1", &PatchParams::default(), &merged(json!({"rules": []})))
        .await?;
    let repaired = async || {
        let (secret, role) = (cluster.far.get("owner-1").await?, cluster.roles.get("owner-1").await?);
        let is_right = secret.data.is_some_and(|data| data["key"].0 == b"value")
            && role.rules.is_some_and(|rules| !rules.is_empty());
        Ok(is_right.then_some(()))
    };
    eventually("the objects without an owner are repaired", PATIENCE, repaired).await?;
    assert_eq!(cluster.version().await?, before);
    cluster
        .secrets
        .patch("common", &PatchParams::default(), &drifted)
        .await?;
    let repaired = async || {
        Ok((cluster
            .secrets
            .get("common")
            .await?
            .data
            .is_some_and(|data| data["key"].0 == b"value"))
        .then_some(()))
    };
    eventually("the shared object is repaired", PATIENCE, repaired).await?;
    assert_eq!(cluster.owners().await?, names);

    // One leaves, others are deleted, and the last one takes the object with it.
    let leaves = merged(json!({"metadata": {"labels": {"leaves": "now"}}}));
    cluster.maps.patch(&names[0], &PatchParams::default(), &leaves).await?;
    cluster.owned_by(&names[1..]).await?;
    for name in &names[1..OWNERS - 1] {
        cluster.maps.delete(name, &DeleteParams::default()).await?;
    }
    cluster.owned_by(&names[OWNERS - 1..]).await?;
    cluster
        .maps
        .delete(&names[OWNERS - 1], &DeleteParams::default())
        .await?;
    let gone = async || Ok(cluster.secrets.get_opt("common").await?.is_none().then_some(()));
    eventually("the shared object is deleted", PATIENCE, gone).await?;

    // Of the objects without an owner, those of the first one are left.
    let left = async || {
        let (roles, secrets) = (&cluster.roles, &cluster.far);
        for name in &names[1..] {
            if roles.get_opt(name).await?.is_some() || secrets.get_opt(name).await?.is_some() {
                return Ok(None);
            }
        }
        Ok((roles.get_opt(&names[0]).await?.is_some() && secrets.get_opt(&names[0]).await?.is_some()).then_some(()))
    };
    eventually("the cleanup deletes what was applied without an owner", PATIENCE, left).await?;
    running.stop().await
}
