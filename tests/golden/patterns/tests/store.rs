//! The life of an object on an API server that runs its Pods and volumes, with the operator's own program.

use std::{env, time::Duration};

use api::test::v1::Store;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, Secret};
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use kubewright_runtime::testing::{Program, RunningOperator, TestCluster, from_yaml, wait_for};
use kubewright_runtime::{Conditions, Result};
use serde_json::{Value, json};

const OPERATOR: Program = kubewright_runtime::operator!("foobar-operator");
const NAME: &str = "sample-store";
const READY: &str = "Ready";

/// Keeps a deleted object until `cleanup` is done.
const FINALIZER: &str = "test.example.com/cleanup";

#[tokio::test]
async fn an_object_is_upgraded_scaled_and_grown() -> Result<()> {
    let Some(world) = World::start().await? else {
        return Ok(());
    };
    let mut operator = world.operator().await?;
    world.settles(&mut operator, 3, "1.0.0").await?;
    let secret = world.secrets.get(NAME).await?.data;

    let spec = json!({ "version": "2.0.0", "members": 5 });
    world.change(spec).await?;
    world.settles(&mut operator, 5, "2.0.0").await?;
    world.change(json!({ "members": 2 })).await?;
    world.settles(&mut operator, 2, "2.0.0").await?;
    let storage = |size| json!({ "storage": { "size": size } });
    world.change(storage("2Gi")).await?;
    world.settles(&mut operator, 2, "2.0.0").await?;
    assert_eq!(world.volumes().await?, ["2Gi"; 2]);
    assert_eq!(world.secrets.get(NAME).await?.data, secret);

    for spec in [json!({ "version": "1.9.9" }), storage("1Gi")] {
        let refused = world.change(spec).await;
        assert!(matches!(refused, Err(kube::Error::Api(it)) if it.code == 422));
    }

    // While it is paused, nothing changes.
    let spec = json!({ "paused": true, "members": 3 });
    world.change(spec).await?;
    wait_for("Paused", async || world.is_paused().await).await?;
    assert_eq!(world.volumes().await?.len(), 2);

    let objects = &world.objects;
    // The finalizer keeps a deleted object until `cleanup` is done.
    let object = objects.get("sample").await?;
    let finalizers = object.metadata.finalizers.unwrap_or_default();
    assert!(finalizers.contains(&FINALIZER.to_owned()));
    objects.delete("sample", &DeleteParams::default()).await?;
    let gone = async || Ok(objects.get_opt("sample").await?.is_none());
    wait_for("the object to be gone", gone).await?;
    operator.stop()
}

#[tokio::test]
async fn an_upgrade_ends_the_same_wherever_the_operator_is_killed() -> Result<()> {
    let Some(world) = World::start().await? else {
        return Ok(());
    };
    let mut operator = world.operator().await?;
    world.settles(&mut operator, 3, "1.0.0").await?;
    let secret = world.secrets.get(NAME).await?.data;

    let spec = json!({ "version": "2.0.0", "storage": { "size": "2Gi" } });
    world.change(spec).await?;
    operator.stop()?;
    let settled = async || world.is_settled(3, "2.0.0").await;
    let operator = world.cluster.operator(OPERATOR);
    let killed = operator.killed_between_writes("the upgrade", settled);
    assert!(killed.await? > 4);
    assert_eq!(world.volumes().await?, ["2Gi"; 3]);
    assert_eq!(world.secrets.get(NAME).await?.data, secret);
    Ok(())
}

#[tokio::test]
async fn a_member_gets_another_volume_for_a_lost_one() -> Result<()> {
    let Some(world) = World::start().await? else {
        return Ok(());
    };
    let mut operator = world.operator().await?;
    world.settles(&mut operator, 3, "1.0.0").await?;

    let claim = format!("data-{NAME}-1");
    let annotations = json!({ "kubewright.dev/volume": "lost" });
    let patch = Patch::Merge(json!({ "metadata": { "annotations": annotations } }));
    let merge = PatchParams::default();
    let lost = world.claims.patch(&claim, &merge, &patch).await?.uid();
    wait_for("another volume", async || {
        operator.advance(Duration::from_secs(60))?;
        let claim = world.claims.get_opt(&claim).await?;
        Ok(claim.is_some_and(|claim| claim.uid() != lost))
    })
    .await?;
    world.settles(&mut operator, 3, "1.0.0").await?;
    operator.stop()
}

struct World {
    cluster: TestCluster,
    objects: Api<Store>,
    pods: Api<Pod>,
    claims: Api<PersistentVolumeClaim>,
    secrets: Api<Secret>,
}

impl World {
    /// The sample on a new cluster that runs Pods.
    async fn start() -> Result<Option<Self>> {
        if env::var_os("KUBEBUILDER_ASSETS").is_some_and(|it| !it.is_empty()) {
            eprintln!("skipped: KUBEBUILDER_ASSETS has no controllers that create Pods");
            return Ok(None);
        }
        let cluster = TestCluster::builder().workloads().start().await?;
        let (client, namespace) = (cluster.client(), cluster.namespace());
        Ok(Some(Self {
            objects: Api::namespaced(client.clone(), namespace),
            pods: Api::namespaced(client.clone(), namespace),
            claims: Api::namespaced(client.clone(), namespace),
            secrets: Api::namespaced(client, namespace),
            cluster,
        }))
    }

    /// Runs the operator with a clock of the test, and creates the object.
    async fn operator(&self) -> Result<RunningOperator> {
        let operator = self.cluster.operator(OPERATOR).clock(Timestamp::now());
        let operator = operator.start().await?;
        let sample = include_str!("../config/samples/test_v1_store.yaml");
        let object: Store = from_yaml("sample", sample);
        self.objects.create(&PostParams::default(), &object).await?;
        Ok(operator)
    }

    async fn change(&self, spec: Value) -> kube::Result<()> {
        let patch = Patch::Merge(json!({ "spec": spec }));
        let merge = PatchParams::default();
        self.objects.patch("sample", &merge, &patch).await?;
        Ok(())
    }

    /// Waits until the object is ready, with this many Pods of this version. The operator's clock goes on meanwhile.
    async fn settles(
        &self,
        operator: &mut RunningOperator,
        members: usize,
        version: &str,
    ) -> Result<()> {
        wait_for("a steady state", async || {
            operator.advance(Duration::from_secs(5))?;
            self.is_settled(members, version).await
        })
        .await
    }

    async fn is_settled(&self, members: usize, version: &str) -> Result<bool> {
        let object = self.objects.get("sample").await?;
        let status = object.status.unwrap_or_default();
        let is_current = status.observed_generation == object.metadata.generation;
        let pods = self.pods.list(&ListParams::default()).await?.items;
        let image = |pod: &Pod| pod.spec.as_ref()?.containers[0].image.clone();
        let is_of = |pod: &Pod| image(pod).is_some_and(|image| image.ends_with(version));
        let are_all = pods.len() == members && pods.iter().all(is_of);
        Ok(is_current && are_all && status.conditions.is_true(READY))
    }

    async fn is_paused(&self) -> Result<bool> {
        let status = self.objects.get("sample").await?.status;
        Ok(status.unwrap_or_default().phase.as_deref() == Some("Paused"))
    }

    /// The sizes of all volumes.
    async fn volumes(&self) -> Result<Vec<String>> {
        let claims = self.claims.list(&ListParams::default()).await?;
        let size = |it: PersistentVolumeClaim| it.status?.capacity?.get("storage").cloned();
        Ok(claims.into_iter().filter_map(size).map(|it| it.0).collect())
    }
}
