//! The cost of rollouts among more and more Pods. The objects that are read are counted, and the figures of
//! `docs/src/reference/performance.md` are printed on request.

use std::time::Instant;

use serde_json::json;

use crate::{
    cluster::{DEPLOYMENTS, cluster, deployment, image},
    common::Wire,
};

const SERVICES: &str = "/api/v1/namespaces/default/services";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

/// A Deployment with a Service and a budget.
async fn make_workload(wire: &Wire, name: &str, replicas: i64) {
    let selector = json!({"app": name});
    let service = json!({"metadata": {"name": name}, "spec": {"selector": selector, "ports": [{"port": 80}]}});
    wire.make(SERVICES, &service).await;
    let spec = json!({"selector": {"matchLabels": selector}, "maxUnavailable": 1});
    wire.make(BUDGETS, &json!({"metadata": {"name": name}, "spec": spec}))
        .await;
    wire.make(DEPLOYMENTS, &deployment(name, replicas, "")).await;
}

/// The time for each Pod, in milliseconds, and the objects that are read for a rollout of ten Pods among so many others.
async fn rollout(others: i64) -> [f64; 2] {
    let wire = cluster();
    for number in 0..others / 100 {
        make_workload(&wire, &format!("other-{number}"), 100).await;
        wire.pass(1).await;
    }
    make_workload(&wire, "web", 10).await;
    wire.pass(10).await;
    let (before, since) = (wire.server.looked(), Instant::now());
    wire.change(&format!("{DEPLOYMENTS}/web"), &image(2)).await;
    wire.pass(60).await;
    let took = since.elapsed().as_secs_f64() * 100.0;
    let sizes = wire.sizes().await;
    assert!(sizes.contains(&("example.com/main:2".to_owned(), 10, 10)), "{sizes:?}");
    [took, (wire.server.looked() - before) as f64]
}

/// The time for each Pod, in milliseconds, and the writes and the objects that are read for each, until all Pods of one
/// Deployment are available.
async fn growth(replicas: i64) -> [f64; 3] {
    let wire = cluster();
    let (looked, since) = (wire.server.looked(), Instant::now());
    let before = revision(&wire).await;
    make_workload(&wire, "web", replicas).await;
    wire.pass(60).await;
    let took = since.elapsed().as_secs_f64() * 1000.0;
    let counts = [revision(&wire).await - before, (wire.server.looked() - looked) as f64];
    assert_eq!(
        wire.sizes().await,
        [("example.com/main:1".to_owned(), replicas, replicas)]
    );
    [took, counts[0], counts[1]].map(|all| all / replicas as f64)
}

/// The number of writes so far.
async fn revision(wire: &Wire) -> f64 {
    let path = "/api/v1/namespaces/default/configmaps";
    let version = wire.object(path).await["metadata"]["resourceVersion"].clone();
    version.as_str().unwrap().parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_thousand_pods_need_no_more_writes_each_than_a_hundred() {
    let ([_, few, _], [_, many, _]) = (growth(100).await, growth(1_000).await);
    assert!(many <= few + 0.5, "{many} instead of {few}");
}

#[tokio::test(start_paused = true)]
async fn a_rollout_with_a_service_and_a_budget_reads_no_other_pods() {
    let ([_, few], [_, many]) = (rollout(100).await, rollout(400).await);
    assert!(many <= few + 20.0, "{many} instead of {few}");
}

#[tokio::test(start_paused = true)]
#[ignore = "prints figures, and takes minutes"]
async fn figures() {
    for others in [100, 1_000, 10_000] {
        let [time, read] = rollout(others).await;
        println!("a rollout of ten Pods among {others}: {time:.2} ms for each Pod, {read} objects read");
    }
    for replicas in [100, 1_000, 10_000] {
        let [time, writes, read] = growth(replicas).await;
        println!("a Deployment of {replicas} Pods: for each {time:.2} ms, {writes:.2} writes, {read:.1} objects read");
    }
}
