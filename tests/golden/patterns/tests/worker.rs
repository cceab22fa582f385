//! The life of an object on an API server, from creation to deletion, with the operator's own program. The test
//! acts as the kubelet where there is none.

use api::test::v1::Worker;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use kubewright_runtime::testing::{Program, TestCluster, from_yaml, wait_for};
use kubewright_runtime::{Conditions, Result};
use serde_json::json;

const OPERATOR: Program = kubewright_runtime::operator!("foobar-operator");
const READY: &str = "Ready";
const SELECTOR: &str = "test.example.com/worker=sample";

#[tokio::test]
async fn an_object_is_reconciled_from_creation_to_deletion() -> Result<()> {
    let cluster = TestCluster::start().await?;
    let operator = cluster.run_operator(OPERATOR).await?;
    let (client, namespace) = (cluster.client(), cluster.namespace());
    let objects: Api<Worker> = Api::namespaced(client.clone(), namespace);
    let pods: Api<Pod> = Api::namespaced(client, namespace);
    let merge = PatchParams::default();

    // The object gets its Pods, and is ready only after they are.
    objects.create(&PostParams::default(), &object()).await?;
    wait_for("two Pods", async || count_is(&pods, 2).await).await?;
    wait_for("not Ready", async || is_ready(&objects, "False", 0).await).await?;
    let made = living(&pods).await?;
    let [first, second] = &made[..] else {
        panic!("two Pods were there");
    };
    assert_eq!(first.owner_references()[0].controller, Some(true));
    set_ready(&pods, first).await?;
    set_ready(&pods, second).await?;
    wait_for("Ready", async || is_ready(&objects, "True", 2).await).await?;

    // The object is scaled up, then down: the newest Pod is deleted first, because it is not ready.
    let patch = Patch::Merge(json!({ "spec": { "replicas": 3 } }));
    objects.patch_scale("sample", &merge, &patch).await?;
    wait_for("a third Pod", async || count_is(&pods, 3).await).await?;
    let patch = Patch::Merge(json!({ "spec": { "replicas": 2 } }));
    objects.patch_scale("sample", &merge, &patch).await?;
    wait_for("two Pods again", async || count_is(&pods, 2).await).await?;
    let left = living(&pods).await?;
    let early = |pod: &Pod| pod.uid() == first.uid() || pod.uid() == second.uid();
    assert!(left.iter().all(early));
    wait_for("Ready again", async || is_ready(&objects, "True", 2).await).await?;

    // A Pod that loses its label is released and replaced.
    let patch = Patch::Merge(json!({ "metadata": { "labels": null } }));
    let released = first.name_any();
    pods.patch(&released, &merge, &patch).await?;
    let free = async || Ok(pods.get(&released).await?.owner_references().is_empty());
    wait_for("the release", free).await?;
    wait_for("another Pod", async || count_is(&pods, 2).await).await?;
    pods.delete(&released, &DeleteParams::default()).await?;

    objects.delete("sample", &DeleteParams::default()).await?;
    let gone = async || Ok(objects.get_opt("sample").await?.is_none());
    wait_for("the object to be gone", gone).await?;
    operator.stop()
}

async fn is_ready(objects: &Api<Worker>, verdict: &str, replicas: i32) -> Result<bool> {
    let object = objects.get("sample").await?;
    let status = object.status.unwrap_or_default();
    let current = status.observed_generation == object.metadata.generation;
    let ready = status.conditions.find(READY);
    let verdict = ready.is_some_and(|ready| ready.status == verdict);
    Ok(current && verdict && status.ready_replicas == replicas)
}

async fn count_is(pods: &Api<Pod>, number: usize) -> Result<bool> {
    Ok(living(pods).await?.len() == number)
}

/// The Pods of the object that are not being deleted.
async fn living(pods: &Api<Pod>) -> Result<Vec<Pod>> {
    let matching = ListParams::default().labels(SELECTOR);
    let mut living = pods.list(&matching).await?.items;
    living.retain(|pod| pod.metadata.deletion_timestamp.is_none());
    Ok(living)
}

/// Writes the status that the kubelet writes for a ready Pod.
async fn set_ready(pods: &Api<Pod>, pod: &Pod) -> Result<()> {
    let patch = Patch::Merge(json!({ "status": {
        "phase": "Running",
        "conditions": [{ "type": "Ready", "status": "True" }],
    } }));
    let merge = PatchParams::default();
    pods.patch_status(&pod.name_any(), &merge, &patch).await?;
    Ok(())
}

/// The sample with two replicas.
fn object() -> Worker {
    let sample = include_str!("../config/samples/test_v1_worker.yaml");
    let mut object: Worker = from_yaml("sample", sample);
    object.spec.replicas = 2;
    object
}
