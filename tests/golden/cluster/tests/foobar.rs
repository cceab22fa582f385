//! The life of an object on an API server, from creation to deletion, with the operator's own program.

use api::test::v1::FooBar;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use kubewright_runtime::testing::{Program, TestCluster, from_yaml, wait_for};
use kubewright_runtime::{Conditions, Result};
use serde_json::json;

const OPERATOR: Program = kubewright_runtime::operator!("foobar-operator");
const CHILD: &str = "sample-foobar";
const READY: &str = "Ready";

/// Keeps a deleted object until `cleanup` is done.
const FINALIZER: &str = "test.example.com/cleanup";

#[tokio::test]
async fn an_object_is_reconciled_from_creation_to_deletion() -> Result<()> {
    let cluster = TestCluster::start().await?;
    let operator = cluster.run_operator(OPERATOR).await?;
    let (client, namespace) = (cluster.client(), cluster.namespace());
    let objects: Api<FooBar> = Api::all(client.clone());
    let children: Api<ConfigMap> = Api::namespaced(client, namespace);
    let (post, merge) = (PostParams::default(), PatchParams::default());

    // The API server refuses an object that violates the schema.
    let refused = objects.create(&post, &object("")).await;
    assert!(matches!(refused, Err(kube::Error::Api(status)) if status.code == 422));

    // A ConfigMap that the operator did not create is not changed, and the status reports it.
    children.create(&post, &config_map("foreign")).await?;
    objects.create(&post, &object("world")).await?;
    wait_for("ChildNotOwned", async || is_ready(&objects, "False").await).await?;
    assert_eq!(children.get(CHILD).await?.data, config_map("foreign").data);

    // Once that ConfigMap is deleted, the object gets its own.
    children.delete(CHILD, &DeleteParams::default()).await?;
    wait_for("Ready", async || is_ready(&objects, "True").await).await?;
    let child = children.get(CHILD).await?;
    assert_eq!(child.data.unwrap_or_default()["target"], "world");
    let owner = &child.metadata.owner_references.unwrap_or_default()[0];
    assert_eq!(owner.kind, "FooBar");
    assert_eq!(owner.controller, Some(true));

    // The ConfigMap follows the spec.
    let patch = Patch::Merge(json!({ "spec": { "target": "moon" } }));
    objects.patch("sample", &merge, &patch).await?;
    wait_for("the new target", async || targets(&children, "moon").await).await?;

    // A ConfigMap that somebody changes is repaired.
    let patch = Patch::Merge(json!({ "data": { "target": "mars" } }));
    children.patch(CHILD, &merge, &patch).await?;
    wait_for("the repair", async || targets(&children, "moon").await).await?;

    // The finalizer keeps a deleted object until `cleanup` is done.
    let object = objects.get("sample").await?;
    let finalizers = object.metadata.finalizers.unwrap_or_default();
    assert!(finalizers.contains(&FINALIZER.to_owned()));
    objects.delete("sample", &DeleteParams::default()).await?;
    let gone = async || Ok(objects.get_opt("sample").await?.is_none());
    wait_for("the object to be gone", gone).await?;
    operator.stop()
}

async fn is_ready(objects: &Api<FooBar>, verdict: &str) -> Result<bool> {
    let object = objects.get("sample").await?;
    let status = object.status.unwrap_or_default();
    let current = status.observed_generation == object.metadata.generation;
    let ready = status.conditions.find(READY);
    Ok(current && ready.is_some_and(|ready| ready.status == verdict))
}

async fn targets(children: &Api<ConfigMap>, target: &str) -> Result<bool> {
    let data = children.get(CHILD).await?.data.unwrap_or_default();
    Ok(data.get("target").is_some_and(|set| set == target))
}

/// The sample with this target.
fn object(target: &str) -> FooBar {
    let sample = include_str!("../config/samples/test_v1_foobar.yaml");
    let mut object: FooBar = from_yaml("sample", sample);
    object.spec.target = target.to_owned();
    object
}

fn config_map(target: &str) -> ConfigMap {
    let metadata = ObjectMeta {
        name: Some(CHILD.to_owned()),
        ..ObjectMeta::default()
    };
    ConfigMap {
        metadata,
        data: Some([("target".to_owned(), target.to_owned())].into()),
        ..ConfigMap::default()
    }
}
