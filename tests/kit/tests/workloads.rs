//! Workloads of a `TestCluster`. The API server follows from the environment of the process, so each case runs this program
//! again.

use std::process::Command;

use k8s_openapi::api::apps::v1::Deployment;
use kube::{Api, api::PostParams};
use kubewright_runtime::{
    Result, Rollout,
    testing::{TestCluster, wait_for},
};
use serde_json::json;

/// Runs an ignored test of this program in a process, with a folder of programs or on the API server of `dev/`.
fn passes(test: &str, assets: Option<&str>) {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command
        .args(["--ignored", "--exact", test])
        .env_remove("USE_EXISTING_CLUSTER");
    match assets {
        Some(assets) => command.env("KUBEBUILDER_ASSETS", assets),
        None => command.env_remove("KUBEBUILDER_ASSETS"),
    };
    let output = command.output().expect("this program runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn deployments_are_rolled_out_where_a_test_asks_for_it() {
    passes("with_workloads", None);
    passes("without_workloads", None);
}

#[test]
fn workloads_on_kube_apiserver_alone_are_refused() {
    passes("on_programs_without_controllers", Some("/nowhere"));
}

fn deployment(name: &str, annotation: &str) -> Deployment {
    let deployment = json!({
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}, "annotations": {"kubewright.dev/kubelet": annotation}},
                "spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]},
            },
        },
    });
    serde_json::from_value(deployment).expect("a Deployment")
}

#[tokio::test]
#[ignore = "cases run it"]
async fn with_workloads() -> Result<()> {
    // ANCHOR: workloads
    let cluster = TestCluster::builder().workloads().start().await?;
    // ANCHOR_END: workloads
    let deployments: Api<Deployment> = Api::namespaced(cluster.client(), cluster.namespace());
    let options = PostParams::default();
    deployments.create(&options, &deployment("fine", "")).await?;
    deployments
        .create(&options, &deployment("stuck", "never-ready"))
        .await?;
    let complete = async || Ok(Rollout::of(&deployments.get("fine").await?) == Rollout::Complete);
    wait_for("the rollout", complete).await?;
    let stuck = Rollout::of(&deployments.get("stuck").await?);
    assert!(matches!(stuck, Rollout::Progressing(_)), "{stuck:?}");
    Ok(())
}

#[tokio::test]
#[ignore = "cases run it"]
async fn without_workloads() -> Result<()> {
    let cluster = TestCluster::start().await?;
    let deployments: Api<Deployment> = Api::namespaced(cluster.client(), cluster.namespace());
    deployments
        .create(&PostParams::default(), &deployment("fine", ""))
        .await?;
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(
        deployments.get("fine").await?.status.unwrap_or_default(),
        Default::default()
    );
    Ok(())
}

#[tokio::test]
#[ignore = "cases run it"]
async fn on_programs_without_controllers() -> Result<()> {
    let error = TestCluster::builder()
        .workloads()
        .start()
        .await
        .err()
        .expect("an error");
    assert!(error.to_string().contains("contain no controllers"), "{error}");
    Ok(())
}
