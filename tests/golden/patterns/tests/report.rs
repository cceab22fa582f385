//! The life of an object on an API server, from creation to deletion, with the operator's own program. The test acts as
//! the Job controller.

use api::test::v1::Report;
use k8s_openapi::api::batch::v1::Job;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kubewright_runtime::testing::{Program, TestCluster, from_yaml, wait_for};
use kubewright_runtime::{Conditions, Result};
use serde_json::json;

const OPERATOR: Program = kubewright_runtime::operator!("foobar-operator");
const CHILD: &str = "sample-report";
const READY: &str = "Ready";

#[tokio::test]
async fn an_object_is_run_once() -> Result<()> {
    let cluster = TestCluster::start().await?;
    let operator = cluster.run_operator(OPERATOR).await?;
    let (client, namespace) = (cluster.client(), cluster.namespace());
    let objects: Api<Report> = Api::namespaced(client.clone(), namespace);
    let children: Api<Job> = Api::namespaced(client, namespace);

    // The object gets its Job, and is ready once that has succeeded.
    objects.create(&PostParams::default(), &object()).await?;
    wait_for("Running", async || is(&objects, "Running").await).await?;
    let child = children.get(CHILD).await?;
    let owner = &child.metadata.owner_references.unwrap_or_default()[0];
    assert_eq!(owner.kind, "Report");
    assert_eq!(owner.controller, Some(true));
    complete(&children).await?;
    wait_for("Complete", async || is(&objects, "Complete").await).await?;

    // The run cannot be changed.
    let merge = PatchParams::default();
    let patch = Patch::Merge(json!({ "spec": { "target": "moon" } }));
    let refused = objects.patch("sample", &merge, &patch).await;
    assert!(matches!(refused, Err(kube::Error::Api(status)) if status.code == 422));

    objects.delete("sample", &DeleteParams::default()).await?;
    let gone = async || Ok(objects.get_opt("sample").await?.is_none());
    wait_for("the object to be gone", gone).await?;
    operator.stop()
}

/// Whether the condition has this reason.
async fn is(objects: &Api<Report>, reason: &str) -> Result<bool> {
    let status = objects.get("sample").await?.status.unwrap_or_default();
    let ready = status.conditions.find(READY);
    Ok(ready.is_some_and(|ready| ready.reason == reason))
}

/// Writes the status that the Job controller writes after a successful run.
async fn complete(children: &Api<Job>) -> Result<()> {
    let now = "2026-01-01T00:00:00Z";
    let condition =
        |type_: &str| json!({ "type": type_, "status": "True", "lastTransitionTime": now });
    let patch = Patch::Merge(json!({ "status": {
        "succeeded": 1,
        "startTime": now,
        "completionTime": now,
        "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
    } }));
    let merge = PatchParams::default();
    children.patch_status(CHILD, &merge, &patch).await?;
    Ok(())
}

fn object() -> Report {
    let sample = include_str!("../config/samples/test_v1_report.yaml");
    from_yaml("sample", sample)
}
