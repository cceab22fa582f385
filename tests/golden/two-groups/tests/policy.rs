// Copyright 2026 The FooBar authors
// SPDX-License-Identifier: MIT

//! The life of an object, served by the operator as it ships, on an API server.

use api::test::v1beta1::Policy;
use api::test::v1beta1::policy::PolicySpec;
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use kubewright_runtime::testing::{TestCluster, wait_for};
use kubewright_runtime::{Conditions, Result};

const OPERATOR: &str = env!("CARGO_BIN_EXE_foobar-operator");

#[tokio::test]
async fn an_object_becomes_ready() -> Result<()> {
    let cluster = TestCluster::start().await?;
    let operator = cluster.run_operator(OPERATOR).await?;
    let (client, namespace) = (cluster.client(), cluster.namespace());
    let objects: Api<Policy> = Api::namespaced(client, namespace);
    let post = PostParams::default();

    // What breaks the schema is not even stored.
    let refused = objects.create(&post, &object("")).await;
    assert!(matches!(refused, Err(kube::Error::Api(status)) if status.code == 422));

    objects.create(&post, &object("world")).await?;
    wait_for("Ready", async || {
        let object = objects.get("sample").await?;
        let status = object.status.unwrap_or_default();
        let current = status.observed_generation == object.metadata.generation;
        Ok(current && status.conditions.is_true("Ready"))
    })
    .await?;

    objects.delete("sample", &DeleteParams::default()).await?;
    operator.stop()
}

fn object(target: &str) -> Policy {
    let spec = PolicySpec {
        target: target.to_owned(),
        r#type: None,
    };
    Policy::new("sample", spec)
}
