//! The life of an object on an API server, from creation to deletion, with the operator's own program.

use api::test::v1::{Crew, Worker};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kubewright_runtime::testing::{Program, TestCluster, from_yaml, wait_for};
use kubewright_runtime::{Conditions, Result};
use serde_json::json;

const OPERATOR: Program = kubewright_runtime::operator!("foobar-operator");
const CHILD: &str = "sample";
const READY: &str = "Ready";

#[tokio::test]
async fn an_object_is_reconciled_from_creation_to_deletion() -> Result<()> {
    let cluster = TestCluster::start().await?;
    let operator = cluster.run_operator(OPERATOR).await?;
    let (client, namespace) = (cluster.client(), cluster.namespace());
    let objects: Api<Crew> = Api::all(client.clone());
    let children: Api<Worker> = Api::namespaced(client, namespace);
    let (post, merge) = (PostParams::default(), PatchParams::default());

    // The object gets its internal object.
    objects.create(&post, &object("world")).await?;
    wait_for("a child", async || asks_for(&children, "world").await).await?;
    let child = children.get(CHILD).await?;
    let owner = &child.metadata.owner_references.unwrap_or_default()[0];
    assert_eq!(owner.kind, "Crew");
    assert_eq!(owner.controller, Some(true));

    // The internal object follows the spec, and is repaired when somebody changes it.
    let patch = Patch::Merge(json!({ "spec": { "target": "moon" } }));
    objects.patch("sample", &merge, &patch).await?;
    wait_for("the new target", async || asks_for(&children, "moon").await).await?;
    let patch = Patch::Merge(json!({ "spec": { "target": "mars" } }));
    children.patch(CHILD, &merge, &patch).await?;
    wait_for("the repair", async || asks_for(&children, "moon").await).await?;

    // The object repeats the readiness of the internal one.
    let agree = async || {
        let made = children.get(CHILD).await?.status.unwrap_or_default();
        let status = objects.get("sample").await?.status.unwrap_or_default();
        let theirs = made.conditions.find("Ready");
        let ours = status.conditions.find(READY);
        let verdict = |ready: &Condition| (ready.status.clone(), ready.message.clone());
        Ok(theirs.is_some() && theirs.map(verdict) == ours.map(verdict))
    };
    wait_for("the same readiness", agree).await?;

    objects.delete("sample", &DeleteParams::default()).await?;
    let gone = async || Ok(objects.get_opt("sample").await?.is_none());
    wait_for("the object to be gone", gone).await?;
    operator.stop()
}

async fn asks_for(children: &Api<Worker>, target: &str) -> Result<bool> {
    Ok(children.get(CHILD).await?.spec.target == target)
}

/// The sample with this target.
fn object(target: &str) -> Crew {
    let sample = include_str!("../config/samples/test_v1_crew.yaml");
    let mut object: Crew = from_yaml("sample", sample);
    object.spec.target = target.to_owned();
    object
}
