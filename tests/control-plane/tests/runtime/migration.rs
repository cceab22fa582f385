//! Objects that are stored in a former version: the migration as a process that is killed, on a real API server, and what
//! etcd has before and after.

use std::{
    collections::BTreeMap,
    env,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use control_plane::{ControlPlane, Stored};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, Config,
    api::{ApiResource, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams},
    client::ClientBuilder,
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright_runtime::{Migrated, StorageMigration};
use serde_json::json;
use tokio::time::sleep;
use tower::layer::layer_fn;

use super::{PATIENCE, crd, eventually, install, plane};

const NAME: &str = "gizmos.other.example.com";
const OBJECTS: usize = 300;
/// The kubeconfig of the child process.
const CHILD: &str = "KUBEWRIGHT_TEST_MIGRATION";

fn gizmos(client: &Client, version: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("other.example.com", version, "Gizmo");
    Api::namespaced_with(client.clone(), "default", &ApiResource::from_gvk(&kind))
}

/// The objects that etcd has in this version.
async fn stored_as(plane: &ControlPlane, version: &str) -> Result<BTreeMap<String, Stored>> {
    let version = json!(format!("other.example.com/{version}"));
    let mut stored = plane.stored("other.example.com/gizmos").await?;
    stored.retain(|_, stored| stored.object["apiVersion"] == version);
    Ok(stored)
}

async fn stored_versions(client: &Client) -> Result<Vec<String>> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let status = crds.get(NAME).await?.status;
    Ok(status.and_then(|status| status.stored_versions).unwrap_or_default())
}

/// Gives the CRD these versions, the first of which is stored.
async fn define(client: &Client, versions: &[(&str, bool)]) -> kube::Result<CustomResourceDefinition> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let new = json!({"spec": {"versions": crd("gizmos", "Gizmo", versions).spec.versions}});
    crds.patch(NAME, &PatchParams::default(), &Patch::Merge(new)).await
}

/// The process that is killed. Each of its requests takes some time.
#[tokio::test]
#[ignore = "a part of the test below"]
async fn migrate_as_a_process_of_its_own() -> Result<()> {
    let Some(file) = env::var_os(CHILD) else { return Ok(()) };
    let config = Config::from_custom_kubeconfig(Kubeconfig::read_from(file)?, &KubeConfigOptions::default()).await?;
    let slowly = layer_fn(|inner| {
        tower::util::MapFuture::new(inner, |answer| async {
            sleep(Duration::from_millis(100)).await;
            answer.await
        })
    });
    let client: Client = ClientBuilder::try_from(config)?.with_layer(&slowly).build();
    let outcome = StorageMigration::new(client)
        .settle(Duration::ZERO)
        .run(NAME, "v2")
        .await?;
    bail!("it was not killed: {outcome}")
}

#[tokio::test]
async fn a_migration_that_is_killed_is_completed_by_the_next_and_the_version_can_go() -> Result<()> {
    let Some(plane) = plane().await? else { return Ok(()) };
    let client = plane.client().await?;
    install(&client, &crd("gizmos", "Gizmo", &[("v1", true), ("v2", true)])).await?;
    let v1 = gizmos(&client, "v1");
    eventually("the kind is served", PATIENCE, async || {
        Ok(v1.list(&ListParams::default()).await.ok())
    })
    .await?;
    let object = |number: usize| -> Result<DynamicObject> {
        let head =
            json!({"apiVersion": "other.example.com/v1", "kind": "Gizmo", "metadata": {"name": format!("g{number}")}});
        let mut object: DynamicObject = serde_json::from_value(head)?;
        object.data = json!({"spec": {"size": number}});
        Ok(object)
    };
    let create = async |number| anyhow::Ok(v1.create(&PostParams::default(), &object(number)?).await?);
    let created: Vec<_> = stream::iter(0..OBJECTS)
        .map(create)
        .buffer_unordered(16)
        .try_collect()
        .await?;
    ensure!((created.len(), stored_as(&plane, "v1").await?.len()) == (OBJECTS, OBJECTS));

    define(&client, &[("v2", true), ("v1", true)]).await?;
    ensure!(stored_versions(&client).await? == ["v1", "v2"]);
    ensure!(
        stored_as(&plane, "v1").await?.len() == OBJECTS,
        "a change of the CRD stores nothing anew"
    );
    let refused = define(&client, &[("v2", true)])
        .await
        .err()
        .context("a version is removed too early")?;
    ensure!(refused.to_string().contains("a storage migration ensures"), "{refused}");

    killed_in_the_middle(&plane).await?;
    let half = stored_as(&plane, "v2").await?;
    ensure!((1..OBJECTS).contains(&half.len()), "{} objects", half.len());
    ensure!(stored_versions(&client).await? == ["v1", "v2"]);

    let migration = StorageMigration::new(client.clone()).settle(Duration::ZERO);
    let left = migration.check(NAME, "v2").await?;
    ensure!(
        matches!(left, Migrated::Left { objects, .. } if objects == OBJECTS as u64),
        "{left}"
    );
    let done = migration.run(NAME, "v2").await?;
    ensure!(
        matches!(done, Migrated::Done { objects, .. } if objects == OBJECTS as u64),
        "{done}"
    );
    let all = stored_as(&plane, "v2").await?;
    ensure!((stored_as(&plane, "v1").await?.len(), all.len()) == (0, OBJECTS));
    let again = half
        .iter()
        .filter(|(key, written)| all.get(*key) != Some(written))
        .count();
    ensure!(again == 0, "{again} objects were written a second time");
    ensure!(stored_versions(&client).await? == ["v2"]);

    define(&client, &[("v2", true)]).await?;
    let v2 = gizmos(&client, "v2");
    let read = async || {
        Ok(v2
            .list(&ListParams::default())
            .await
            .ok()
            .filter(|list| list.items.len() == OBJECTS))
    };
    let list = eventually("all objects are served as v2", PATIENCE, read).await?;
    for object in list.items {
        let name = format!("g{}", object.data["spec"]["size"]);
        ensure!(object.metadata.name.as_deref() == Some(name.as_str()) && object.metadata.generation == Some(1));
    }
    Ok(())
}

/// Starts the process, and kills it when it has stored some objects.
async fn killed_in_the_middle(plane: &ControlPlane) -> Result<()> {
    let mut child = Command::new(env::current_exe()?)
        .args(["--ignored", "--exact", "migration::migrate_as_a_process_of_its_own"])
        .env(CHILD, plane.kubeconfig())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let some = eventually("some objects are stored anew", PATIENCE, async || {
        Ok((stored_as(plane, "v2").await?.len() >= 30).then_some(()))
    });
    let some = some.await;
    child.kill()?;
    child.wait()?;
    some
}
