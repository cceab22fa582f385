//! Objects of FooBar written in v2, served by a controller that uses v1. The API server
//! stores each object once, and asks the operator to convert it for clients of another version.

use api::test::{v1, v2};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kubewright_runtime::testing::{Program, TestCluster, from_yaml, wait_for};
use kubewright_runtime::{Conditions, Result};
use serde_json::json;

const OPERATOR: Program = kubewright_runtime::operator!("foobar-operator");
const READY: &str = "Ready";
const DEFINITION: &str = "foobars.test.example.com";

type Served = v1::FooBar;
type Other = v2::FooBar;

#[tokio::test]
async fn an_object_is_the_same_in_both_versions() -> Result<()> {
    let cluster = TestCluster::start().await?;
    let operator = cluster.run_operator(OPERATOR).await?;
    let (client, namespace) = (cluster.client(), cluster.namespace());
    let served: Api<Served> = Api::namespaced(client.clone(), namespace);
    let other: Api<Other> = Api::namespaced(client, namespace);
    cluster.require_webhooks()?;
    let definitions = Api::all(cluster.client());
    wait_for("the conversion", async || is_converted(&definitions).await).await?;

    // An object that is created in one version is served by the controller of the other.
    other.create(&PostParams::default(), &object()).await?;
    wait_for("the same status in both versions", async || {
        let (ours, theirs) = (served.get("sample").await?, other.get("sample").await?);
        let same =
            json!(ours.spec) == json!(theirs.spec) && json!(ours.status) == json!(theirs.status);
        Ok(same && is_served(&theirs))
    })
    .await?;

    // The managed fields name the version that each client wrote in.
    let metadata = other.get("sample").await?.metadata;
    let fields = metadata.managed_fields.unwrap_or_default();
    let versions: Vec<_> = fields
        .iter()
        .filter_map(|entry| entry.api_version.as_deref())
        .collect();
    assert!(versions.iter().any(|it| it.ends_with("/v2")));
    assert!(versions.iter().any(|it| it.ends_with("/v1")));

    // A change in one version shows in the other.
    let patch = Patch::Merge(json!({ "spec": { "target": "moon" } }));
    let merge = PatchParams::default();
    served.patch("sample", &merge, &patch).await?;
    wait_for("the new target", async || {
        let object = other.get("sample").await?;
        Ok(object.spec.target == "moon" && is_served(&object))
    })
    .await?;

    other.delete("sample", &DeleteParams::default()).await?;
    let gone = async || Ok(served.get_opt("sample").await?.is_none());
    wait_for("the object to be gone", gone).await?;
    operator.stop()
}

/// The operator adds its conversion to the CRD once it answers.
async fn is_converted(definitions: &Api<CustomResourceDefinition>) -> Result<bool> {
    let definition = definitions.get(DEFINITION).await?;
    let conversion = definition.spec.conversion;
    Ok(conversion.is_some_and(|it| it.strategy == "Webhook"))
}

/// Whether the controller has set its condition for the current spec.
fn is_served(object: &Other) -> bool {
    let status = object.status.clone().unwrap_or_default();
    let current = status.observed_generation == object.metadata.generation;
    current && status.conditions.find(READY).is_some()
}

/// The sample of this version.
fn object() -> Other {
    let sample = include_str!("../config/samples/test_v2_foobar.yaml");
    from_yaml("sample", sample)
}
