// Copyright 2026 The FooBar authors
// SPDX-License-Identifier: MIT

//! The life of an object on an API server, with the operator's own program.

use api::test::v1beta1::Policy;
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use kubewright_runtime::testing::{Program, TestCluster, from_yaml, wait_for};
use kubewright_runtime::{Conditions, Result};

const OPERATOR: Program = kubewright_runtime::operator!("foobar-operator");
const READY: &str = "Ready";

#[tokio::test]
async fn an_object_becomes_ready() -> Result<()> {
    let cluster = TestCluster::start().await?;
    let operator = cluster.run_operator(OPERATOR).await?;
    let (client, namespace) = (cluster.client(), cluster.namespace());
    let objects: Api<Policy> = Api::namespaced(client, namespace);
    let post = PostParams::default();

    // The API server refuses an object that violates the schema.
    let refused = objects.create(&post, &object("")).await;
    assert!(matches!(refused, Err(kube::Error::Api(status)) if status.code == 422));

    objects.create(&post, &object("world")).await?;
    wait_for("Ready", async || {
        let object = objects.get("sample").await?;
        let status = object.status.unwrap_or_default();
        let current = status.observed_generation == object.metadata.generation;
        Ok(current && status.conditions.is_true(READY))
    })
    .await?;

    objects.delete("sample", &DeleteParams::default()).await?;
    let gone = async || Ok(objects.get_opt("sample").await?.is_none());
    wait_for("the object to be gone", gone).await?;
    operator.stop()
}

/// The sample with this target.
fn object(target: &str) -> Policy {
    let sample = include_str!("../config/samples/test_v1beta1_policy.yaml");
    let mut object: Policy = from_yaml("sample", sample);
    object.spec.target = target.to_owned();
    object
}
