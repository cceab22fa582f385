//! The webhooks of Deployment, in the operator's own program, as clients of an API server observe them.

use k8s_openapi::api::apps::v1::Deployment;
use kube::Api;
use kube::api::PostParams;
use kubewright_runtime::Result;
use kubewright_runtime::testing::{Program, TestCluster, wait_for};
use serde_json::{from_value, json};

const OPERATOR: Program = kubewright_runtime::operator!("foobar-operator");
const CONTACT: &str = "foobar-operator.example.com/contact";

#[tokio::test]
async fn the_api_server_calls_the_webhooks() -> Result<()> {
    let cluster = TestCluster::start().await?;
    cluster.require_webhooks()?;
    let operator = cluster.run_operator(OPERATOR).await?;
    let (client, namespace) = (cluster.client(), cluster.namespace());
    let objects: Api<Deployment> = Api::namespaced(client, namespace);
    // Nothing is stored.
    let post = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    // The API server ignores the webhook until it notices that the operator is ready.
    wait_for("an objection to a contact", async || {
        let refused = objects.create(&post, &object(" ")).await;
        Ok(matches!(refused, Err(kube::Error::Api(status)) if status.code == 422))
    })
    .await?;
    wait_for("the contact", async || {
        let created = objects.create(&post, &object("")).await?;
        let annotations = created.metadata.annotations.unwrap_or_default();
        Ok(!annotations[CONTACT].is_empty())
    })
    .await?;

    // Another contact is kept.
    let created = objects.create(&post, &object("jane")).await?;
    let annotations = created.metadata.annotations.unwrap_or_default();
    assert_eq!(annotations[CONTACT], "jane");

    operator.stop()
}

fn object(contact: &str) -> Deployment {
    let object = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "sample", "annotations": { CONTACT: contact } },
        "spec": {"selector":{"matchLabels":{"app":"sample"}},"template":{"metadata":{"labels":{"app":"sample"}},"spec":{"containers":[{"image":"registry.k8s.io/pause:3.10","name":"main"}]}}},
    });
    from_value(object).unwrap()
}
