//! The testing kit on an existing cluster, with `USE_EXISTING_CLUSTER=true`: it uses the cluster of the kubeconfig, and
//! removes what it created. Environment variables apply to a whole process, so a process of its own uses each kind of
//! cluster.

use std::process::Command;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{Api, ResourceExt, api::ListParams};
use kubewright_runtime::testing::TestCluster;

#[tokio::test]
#[ignore = "needs KUBEBUILDER_ASSETS"]
async fn an_existing_cluster_is_used_and_left_without_test_objects() {
    let cluster = TestCluster::start().await.expect("a cluster");
    let kubeconfig = cluster.kubeconfig().expect("a cluster of this test's own");
    let used = Command::new(std::env::current_exe().expect("this program"))
        .args(["--ignored", "--exact", "on_the_cluster_of_the_kubeconfig"])
        .env("USE_EXISTING_CLUSTER", "true")
        .env("KUBECONFIG", kubeconfig)
        .output()
        .expect("this program runs");
    let said = String::from_utf8_lossy(&used.stdout);
    assert!(used.status.success() && said.contains("1 passed"), "{said}");

    let namespaces: Api<Namespace> = Api::all(cluster.client());
    let found = namespaces.list(&ListParams::default()).await.expect("namespaces").items;
    let of_tests = found
        .iter()
        .filter(|namespace| namespace.name_any().starts_with("test-"));
    // There is no controller that would delete it.
    let left: Vec<_> = of_tests
        .filter(|namespace| namespace.metadata.deletion_timestamp.is_none())
        .map(ResourceExt::name_any)
        .collect();
    assert_eq!(left, [cluster.namespace()], "this test's own");
    let maps: Api<ConfigMap> = Api::all(cluster.client());
    let made = maps.list(&ListParams::default()).await.expect("ConfigMaps").items;
    assert!(
        made.iter().any(|map| map.name_any() == "made-on-an-existing-cluster"),
        "the test used this cluster"
    );
}

#[tokio::test]
#[ignore = "the test above runs it, with its variables"]
async fn on_the_cluster_of_the_kubeconfig() {
    if std::env::var_os("USE_EXISTING_CLUSTER").is_none() {
        return;
    }
    let cluster = TestCluster::start().await.expect("the cluster of the kubeconfig");
    assert!(cluster.kubeconfig().is_none(), "it is the user's own cluster");
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: made-on-an-existing-cluster}}";
    cluster.apply(map).await.expect("applied");
}
