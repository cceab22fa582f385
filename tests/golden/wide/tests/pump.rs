//! The life of an object on an API server, with the operator's own program.

use api::water::v1::Pump;
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use kubewright_runtime::testing::{Program, TestCluster, wait_for};
use kubewright_runtime::{Conditions, Result};
use serde_json::{from_value, json};

const OPERATOR: Program = kubewright_runtime::operator!("foobar-operator");
const READY: &str = "Ready";

#[tokio::test]
async fn an_object_is_reconciled_from_creation_to_deletion() -> Result<()> {
    let cluster = TestCluster::start().await?;
    let operator = cluster.run_operator(OPERATOR).await?;
    let (client, namespace) = (cluster.client(), cluster.namespace());
    let objects: Api<Pump> = Api::namespaced(client, namespace);

    objects.create(&PostParams::default(), &object()).await?;
    wait_for("Ready", async || {
        let object = objects.get("sample").await?;
        Ok(object.status.unwrap_or_default().conditions.is_true(READY))
    })
    .await?;

    objects.delete("sample", &DeleteParams::default()).await?;
    let gone = async || Ok(objects.get_opt("sample").await?.is_none());
    wait_for("the object to be gone", gone).await?;
    operator.stop()
}

fn object() -> Pump {
    let object = json!({
        "apiVersion": "water.example.com/v1",
        "kind": "Pump",
        "metadata": { "name": "sample" },
        "spec": {"mustBeNull":"x","name":"a","speed":"fast"},
    });
    from_value(object).unwrap()
}
