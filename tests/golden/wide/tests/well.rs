//! The life of an object with the annotation that requests a ConfigMap, on an API server.

use api::water_example_org::v1::Well;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kubewright_runtime::Result;
use kubewright_runtime::testing::{Program, TestCluster, wait_for};
use serde_json::{from_value, json};

const OPERATOR: Program = kubewright_runtime::operator!("foobar-operator");
const CHILD: &str = "sample-well";
const GREETING: &str = "foobar-operator.example.com/greeting";

#[tokio::test]
async fn an_annotated_object_gets_a_config_map() -> Result<()> {
    let cluster = TestCluster::start().await?;
    let operator = cluster.run_operator(OPERATOR).await?;
    let (client, namespace) = (cluster.client(), cluster.namespace());
    let objects: Api<Well> = Api::namespaced(client.clone(), namespace);
    let children: Api<ConfigMap> = Api::namespaced(client, namespace);
    let merge = PatchParams::default();

    let created = objects.create(&PostParams::default(), &object()).await?;
    let greets = async || {
        let child = children.get(CHILD).await?;
        Ok(child.data.unwrap_or_default()["greeting"] == "hello")
    };
    wait_for("the ConfigMap", greets).await?;
    let child = children.get(CHILD).await?;
    let owner = &child.metadata.owner_references.unwrap_or_default()[0];
    assert_eq!(Some(&owner.uid), created.metadata.uid.as_ref());

    // Without the annotation the ConfigMap is deleted.
    let patch = Patch::Merge(json!({ "metadata": { "annotations": { GREETING: null } } }));
    objects.patch("sample", &merge, &patch).await?;
    let gone = async || Ok(children.get_opt(CHILD).await?.is_none());
    wait_for("the ConfigMap to be gone", gone).await?;

    objects.delete("sample", &DeleteParams::default()).await?;
    operator.stop()
}

fn object() -> Well {
    let object = json!({
        "apiVersion": "water.example.org/v1",
        "kind": "Well",
        "metadata": { "name": "sample", "annotations": { GREETING: "hello" } },
        "spec": {"depth":1,"pump":{"port":1},"self":"x","type":"dug"},
    });
    from_value(object).unwrap()
}
