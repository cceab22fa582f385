//! The life of an object on an API server, from creation to deletion, with the operator's own program. The test
//! acts as the Deployment controller where there is none.

use api::test::v1::FooBar;
use k8s_openapi::api::apps::v1::Deployment;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kubewright_runtime::testing::{Program, TestCluster, from_yaml, wait_for};
use kubewright_runtime::{Conditions, Result};
use serde_json::json;

const OPERATOR: Program = kubewright_runtime::operator!("foobar-operator");
const CHILD: &str = "sample-foobar";
const READY: &str = "Ready";

#[tokio::test]
async fn an_object_is_reconciled_from_creation_to_deletion() -> Result<()> {
    let cluster = TestCluster::start().await?;
    let operator = cluster.run_operator(OPERATOR).await?;
    let (client, namespace) = (cluster.client(), cluster.namespace());
    let objects: Api<FooBar> = Api::namespaced(client.clone(), namespace);
    let children: Api<Deployment> = Api::namespaced(client, namespace);
    let merge = PatchParams::default();

    // The object gets its Deployment, and is ready only after the Deployment is.
    objects.create(&PostParams::default(), &object()).await?;
    wait_for("a Deployment", async || is_asked_for(&children, 1).await).await?;
    let child = children.get(CHILD).await?;
    let owner = &child.metadata.owner_references.unwrap_or_default()[0];
    assert_eq!(owner.kind, "FooBar");
    assert_eq!(owner.controller, Some(true));
    wait_for("not Ready", async || is_ready(&objects, "False", 0).await).await?;
    roll_out(&children, 1).await?;
    wait_for("Ready", async || is_ready(&objects, "True", 1).await).await?;

    // The object can be scaled.
    let patch = Patch::Merge(json!({ "spec": { "replicas": 3 } }));
    objects.patch_scale("sample", &merge, &patch).await?;
    wait_for("more replicas", async || is_asked_for(&children, 3).await).await?;
    roll_out(&children, 3).await?;
    wait_for("Ready again", async || is_ready(&objects, "True", 3).await).await?;

    // A Deployment that somebody changes is repaired.
    let patch = Patch::Merge(json!({ "spec": { "replicas": 7 } }));
    children.patch(CHILD, &merge, &patch).await?;
    wait_for("the repair", async || is_asked_for(&children, 3).await).await?;

    objects.delete("sample", &DeleteParams::default()).await?;
    let gone = async || Ok(objects.get_opt("sample").await?.is_none());
    wait_for("the object to be gone", gone).await?;
    operator.stop()
}

async fn is_ready(objects: &Api<FooBar>, verdict: &str, replicas: i32) -> Result<bool> {
    let object = objects.get("sample").await?;
    let status = object.status.unwrap_or_default();
    let current = status.observed_generation == object.metadata.generation;
    let ready = status.conditions.find(READY);
    let verdict = ready.is_some_and(|ready| ready.status == verdict);
    Ok(current && verdict && status.ready_replicas == replicas)
}

async fn is_asked_for(children: &Api<Deployment>, replicas: i32) -> Result<bool> {
    let spec = children.get(CHILD).await?.spec;
    Ok(spec.replicas == Some(replicas))
}

/// Writes the status that the Deployment controller writes after a rollout.
async fn roll_out(children: &Api<Deployment>, replicas: i32) -> Result<()> {
    let generation = children.get(CHILD).await?.metadata.generation;
    let merge = PatchParams::default();
    let patch = Patch::Merge(json!({ "status": {
        "observedGeneration": generation,
        "replicas": replicas,
        "updatedReplicas": replicas,
        "readyReplicas": replicas,
        "availableReplicas": replicas,
    } }));
    children.patch_status(CHILD, &merge, &patch).await?;
    Ok(())
}

/// The sample with one replica.
fn object() -> FooBar {
    let sample = include_str!("../config/samples/test_v1_foobar.yaml");
    let mut object: FooBar = from_yaml("sample", sample);
    object.spec.replicas = 1;
    object
}
