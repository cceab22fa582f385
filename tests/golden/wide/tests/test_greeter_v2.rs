//! Objects of Greeter in v2, served by the controller of v1. The API server keeps each object once and
//! changes nothing but `apiVersion` for those who ask for the other version, so both types have to fit all objects.

use api::test::v2::greeter::GreeterSpec;
use api::test::{v1, v2};
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kubewright_runtime::testing::{TestCluster, wait_for};
use kubewright_runtime::{Conditions, Result};
use serde_json::json;

const OPERATOR: &str = env!("CARGO_BIN_EXE_foobar-operator");
const READY: &str = "Ready";

type Old = v1::Greeter;
type New = v2::Greeter;

#[tokio::test]
async fn an_object_is_the_same_in_both_versions() -> Result<()> {
    let cluster = TestCluster::start().await?;
    let operator = cluster.run_operator(OPERATOR).await?;
    let old: Api<Old> = Api::namespaced(cluster.client(), cluster.namespace());
    let new: Api<New> = Api::namespaced(cluster.client(), cluster.namespace());

    // Written in one version, served by the controller of the other.
    new.create(&PostParams::default(), &object()).await?;
    wait_for("one verdict in both versions", async || {
        let (in_old, in_new) = (old.get("sample").await?, new.get("sample").await?);
        let same = (json!(in_old.spec), json!(in_old.status))
            == (json!(in_new.spec), json!(in_new.status));
        Ok(same && is_served(&in_new))
    })
    .await?;

    // Who wrote what is recorded in the version that they wrote.
    let metadata = new.get("sample").await?.metadata;
    let fields = metadata.managed_fields.unwrap_or_default();
    let versions: Vec<_> = fields
        .iter()
        .filter_map(|entry| entry.api_version.as_deref())
        .collect();
    assert!(versions.iter().any(|it| it.ends_with("/v2")));
    assert!(versions.iter().any(|it| it.ends_with("/v1")));

    // Changed in the other version.
    let patch = Patch::Merge(json!({ "spec": { "target": "moon" } }));
    old.patch("sample", &PatchParams::default(), &patch).await?;
    wait_for("the new target", async || {
        let object = new.get("sample").await?;
        Ok(object.spec.target == "moon" && is_served(&object))
    })
    .await?;

    new.delete("sample", &DeleteParams::default()).await?;
    let gone = async || Ok(old.get_opt("sample").await?.is_none());
    wait_for("the end", gone).await?;
    operator.stop()
}

/// Whether the controller has said something about the object as it is.
fn is_served(object: &New) -> bool {
    let status = object.status.clone().unwrap_or_default();
    let current = status.observed_generation == object.metadata.generation;
    current && status.conditions.find(READY).is_some()
}

fn object() -> New {
    let spec = GreeterSpec {
        target: "world".to_owned(),
        r#type: None,
        replicas: 1,
    };
    New::new("sample", spec)
}
