//! The whole life of an object, served by the operator as it ships, on an API server. Where no kubelet runs Pods, the test
//! says that they do.

use api::test::v1::Worker;
use api::test::v1::worker::WorkerSpec;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use kubewright_runtime::testing::{TestCluster, wait_for};
use kubewright_runtime::{Conditions, Result};
use serde_json::json;

const OPERATOR: &str = env!("CARGO_BIN_EXE_foobar-operator");
const READY: &str = "Ready";
const SELECTOR: &str = "test.example.com/worker=sample";

#[tokio::test]
async fn an_object_is_served_from_its_creation_to_its_end() -> Result<()> {
    let cluster = TestCluster::start().await?;
    let operator = cluster.run_operator(OPERATOR).await?;
    let (client, namespace) = (cluster.client(), cluster.namespace());
    let objects: Api<Worker> = Api::namespaced(client.clone(), namespace);
    let pods: Api<Pod> = Api::namespaced(client, namespace);
    let merge = PatchParams::default();

    // The object gets its Pods, and is not ready before they are.
    objects.create(&PostParams::default(), &object()).await?;
    wait_for("two Pods", async || are(&pods, 2).await).await?;
    wait_for("not Ready", async || is_ready(&objects, "False", 0).await).await?;
    let made = living(&pods).await?;
    let [first, second] = &made[..] else {
        panic!("two Pods were there");
    };
    assert_eq!(first.owner_references()[0].controller, Some(true));
    say_ready(&pods, first).await?;
    say_ready(&pods, second).await?;
    wait_for("Ready", async || is_ready(&objects, "True", 2).await).await?;

    // More of them are made; then those go whose loss is the smallest, which are the new ones.
    let patch = Patch::Merge(json!({ "spec": { "replicas": 3 } }));
    objects.patch_scale("sample", &merge, &patch).await?;
    wait_for("a third Pod", async || are(&pods, 3).await).await?;
    let patch = Patch::Merge(json!({ "spec": { "replicas": 2 } }));
    objects.patch_scale("sample", &merge, &patch).await?;
    wait_for("two Pods again", async || are(&pods, 2).await).await?;
    let left = living(&pods).await?;
    let early = |pod: &Pod| pod.uid() == first.uid() || pod.uid() == second.uid();
    assert!(left.iter().all(early));
    wait_for("Ready again", async || is_ready(&objects, "True", 2).await).await?;

    // One that is relabelled is let go, and replaced.
    let patch = Patch::Merge(json!({ "metadata": { "labels": null } }));
    let released = first.name_any();
    pods.patch(&released, &merge, &patch).await?;
    let free = async || Ok(pods.get(&released).await?.owner_references().is_empty());
    wait_for("the release", free).await?;
    wait_for("another Pod", async || are(&pods, 2).await).await?;
    pods.delete(&released, &DeleteParams::default()).await?;

    objects.delete("sample", &DeleteParams::default()).await?;
    let gone = async || Ok(objects.get_opt("sample").await?.is_none());
    wait_for("the end", gone).await?;
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

async fn are(pods: &Api<Pod>, number: usize) -> Result<bool> {
    Ok(living(pods).await?.len() == number)
}

/// Without those on their way out, which take their time where Pods really run.
async fn living(pods: &Api<Pod>) -> Result<Vec<Pod>> {
    let matching = ListParams::default().labels(SELECTOR);
    let mut living = pods.list(&matching).await?.items;
    living.retain(|pod| pod.metadata.deletion_timestamp.is_none());
    Ok(living)
}

/// What the kubelet says once all is well.
async fn say_ready(pods: &Api<Pod>, pod: &Pod) -> Result<()> {
    let patch = Patch::Merge(json!({ "status": {
        "phase": "Running",
        "conditions": [{ "type": "Ready", "status": "True" }],
    } }));
    let merge = PatchParams::default();
    pods.patch_status(&pod.name_any(), &merge, &patch).await?;
    Ok(())
}

fn object() -> Worker {
    let spec = WorkerSpec {
        target: "world".to_owned(),
        r#type: None,
        replicas: 2,
    };
    Worker::new("sample", spec)
}
