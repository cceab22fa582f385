//! Deletion of surplus Pods: the same Pods as a real ReplicaSet's, of Pods in the same states. The ReplicaSet has
//! a Deployment, as nearly all have: one without does not count the Pods on a node.

use anyhow::{Context, Result, ensure};
use control_plane::eventually;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Binding, Pod},
};
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::{IMAGE, controller, running};
use crate::stage::{Case, PATIENCE, case};

/// A Pod's state for this choice. Pods of the same name are interchangeable.
struct State {
    name: &'static str,
    node: Option<&'static str>,
    cost: &'static str,
    status: Value,
}

/// Not in the order of their deletion. Any two of different names differ in a rule: if no rule distinguished them, the
/// random uid would decide.
fn states() -> Vec<State> {
    let ready = running(3600);
    let hour = || ready.clone();
    let with = |mut status: Value, field: &str, value: Value| {
        status[field] = value;
        status
    };
    let restarts = json!([{"name": "main", "image": IMAGE, "imageID": "", "ready": true, "restartCount": 5}]);
    let state = |name, node, cost, status| State {
        name,
        node,
        cost,
        status,
    };
    vec![
        state("ready for a day", Some("a"), "", running(86_400)),
        state("without a node", None, "", json!({"phase": "Pending"})),
        state("ready for a minute", Some("b"), "", running(60)),
        state("pending", Some("c"), "", json!({"phase": "Pending"})),
        state(
            "not ready",
            Some("d"),
            "",
            with(hour(), "conditions", json!([{"type": "Ready", "status": "False"}])),
        ),
        state("cheap", Some("e"), "-5", hour()),
        state("dear", Some("f"), "10", hour()),
        state("restarted", Some("g"), "", with(hour(), "containerStatuses", restarts)),
        state("unknown", Some("h"), "", json!({"phase": "Unknown"})),
        state("doubled up", Some("busy"), "", hour()),
        state("doubled up", Some("busy"), "", hour()),
        state("without a node, but dear", None, "100", json!({"phase": "Pending"})),
        // Controllers count ready Pods: if one has counted the last one, it has seen all of them.
        state("ready for a month", Some("i"), "", running(30 * 86_400)),
    ]
}

impl Case<'_> {
    async fn make_deployment(&self, name: &str, replicas: usize) -> Result<()> {
        let labels = json!({"app": name});
        let spec = json!({"containers": [{"name": "main", "image": IMAGE}]});
        let template = json!({"metadata": {"labels": labels}, "spec": spec});
        let spec = json!({"replicas": replicas, "selector": {"matchLabels": labels}, "template": template});
        let made = serde_json::from_value(json!({"metadata": {"name": name}, "spec": spec}))?;
        let deployments: Api<Deployment> = Api::namespaced(self.client.clone(), &self.namespace);
        deployments.create(&PostParams::default(), &made).await?;
        Ok(())
    }

    /// The Pods of one controller, whose name may end in a hash, once there are so many.
    async fn pods_of(&self, owner: &str, count: usize) -> Result<Vec<Pod>> {
        eventually(&format!("{count} Pods of {owner}"), PATIENCE, async || {
            let mut pods = self.active_pods().await?;
            pods.retain(|pod| controller(pod).is_some_and(|of| of.starts_with(owner)));
            ensure!(pods.len() == count, "{} are there", pods.len());
            Ok(Some(pods))
        })
        .await
    }

    /// Sets the Pods of one controller to these states, and records which Pod has which.
    async fn put_into(&self, pods: &[Pod], states: &[State]) -> Result<()> {
        for (pod, state) in pods.iter().zip(states) {
            let name = pod.name_any();
            let mut annotations = json!({"state": state.name});
            if !state.cost.is_empty() {
                annotations["controller.kubernetes.io/pod-deletion-cost"] = json!(state.cost);
            }
            let patch = Patch::Merge(json!({"metadata": {"annotations": annotations}}));
            self.pods().patch(&name, &PatchParams::default(), &patch).await?;
            if let Some(node) = state.node {
                let target = json!({"metadata": {"name": name}, "target": {"kind": "Node", "name": node}});
                let binding: Binding = serde_json::from_value(target)?;
                let body = serde_json::to_vec(&binding)?;
                let path = format!("/api/v1/namespaces/{}/pods/{name}/binding", self.namespace);
                let request = http::Request::post(path)
                    .header("content-type", "application/json")
                    .body(body)?;
                self.client.request_text(request).await.context("not bound")?;
            }
            self.set_status(&name, state.status.clone()).await?;
        }
        Ok(())
    }
}

/// The number of ready Pods, as both controllers report it in a status.
fn ready_replicas(states: &[State]) -> i64 {
    let is_ready = |state: &&State| state.status.pointer("/conditions/0/status") == Some(&json!("True"));
    states.iter().filter(is_ready).count().try_into().unwrap_or(i64::MAX)
}

/// The states of these Pods, sorted.
fn survivors(pods: &[Pod]) -> Vec<&str> {
    let state = |pod| {
        ResourceExt::annotations(pod)
            .get("state")
            .map_or("none", String::as_str)
    };
    let mut all: Vec<_> = pods.iter().map(state).collect::<Vec<_>>();
    all.sort_unstable();
    all
}

#[test]
fn scaling_down_deletes_the_same_pods_as_a_replica_set() -> Result<()> {
    case(async |case| {
        case.deploy_patterns().await?;
        let _operator = case.run_patterns().await?;
        let states = states();
        case.make_deployment("reference", states.len()).await?;
        case.create("Worker", "ours", json!({"target": "world", "replicas": states.len()}))
            .await?;
        for owner in ["ReplicaSet/reference", "Worker/ours"] {
            let pods = case.pods_of(owner, states.len()).await?;
            case.put_into(&pods, &states).await?;
        }
        let deployments: Api<Deployment> = Api::namespaced(case.client.clone(), &case.namespace);
        let workers = case.objects("Worker");
        eventually("both controllers to know the states", PATIENCE, async || {
            let theirs = deployments
                .get("reference")
                .await?
                .status
                .and_then(|it| it.ready_replicas);
            let ours = workers.get("ours").await?.data["status"]["readyReplicas"].as_i64();
            let known = (theirs.map(i64::from), ours);
            ensure!(
                known == (Some(ready_replicas(&states)), Some(ready_replicas(&states))),
                "{known:?}"
            );
            Ok(Some(()))
        })
        .await?;
        for replicas in (1..states.len()).rev() {
            let patch = Patch::Merge(json!({"spec": {"replicas": replicas}}));
            deployments.patch("reference", &PatchParams::default(), &patch).await?;
            case.change("Worker", "ours", json!({"replicas": replicas})).await?;
            let theirs = case.pods_of("ReplicaSet/reference", replicas).await?;
            let ours = case.pods_of("Worker/ours", replicas).await?;
            ensure!(
                survivors(&ours) == survivors(&theirs),
                "of {replicas} we keep {:?}, a ReplicaSet {:?}",
                survivors(&ours),
                survivors(&theirs)
            );
        }
        Ok(())
    })
}
