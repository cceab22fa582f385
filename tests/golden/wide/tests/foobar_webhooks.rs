//! The webhooks of FooBar, in the operator's own program, as clients of an API server observe them.

use api::test::v1::FooBar;
use kube::Api;
use kube::api::PostParams;
use kubewright_runtime::Result;
use kubewright_runtime::testing::{Program, TestCluster, from_yaml, wait_for};

const OPERATOR: Program = kubewright_runtime::operator!("foobar-operator");
const CONTACT: &str = "test.example.com/contact";

#[tokio::test]
async fn the_api_server_calls_the_webhooks() -> Result<()> {
    let cluster = TestCluster::start().await?;
    cluster.require_webhooks()?;
    let operator = cluster.run_operator(OPERATOR).await?;
    let (client, namespace) = (cluster.client(), cluster.namespace());
    let objects: Api<FooBar> = Api::namespaced(client, namespace);
    let post = PostParams::default();
    let dry_run = PostParams {
        dry_run: true,
        ..PostParams::default()
    };

    // kube-apiserver notices a moment later that the operator is ready.
    wait_for("an answer", async || {
        objects.create(&dry_run, &object("world")).await?;
        Ok(true)
    })
    .await?;

    // The objection to an object names its field.
    let refused = objects.create(&post, &object("sample")).await;
    let Err(kube::Error::Api(status)) = refused else {
        panic!("not refused: {refused:?}");
    };
    assert_eq!(status.code, 422);
    assert_eq!(status.details.unwrap().causes[0].field, "spec.target");

    // The contact of an object is the user who creates it.
    let created = objects.create(&post, &object("world")).await?;
    let annotations = created.metadata.annotations.unwrap_or_default();
    assert!(annotations.contains_key(CONTACT));

    operator.stop()
}

/// The sample with this target.
fn object(target: &str) -> FooBar {
    let sample = include_str!("../config/samples/test_v1_foobar.yaml");
    let mut object: FooBar = from_yaml("sample", sample);
    object.spec.target = target.to_owned();
    object
}
