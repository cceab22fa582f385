//! Jobs on the in-process API server and with kube-controller-manager, with the same kubelet: each ends in the same state.

use anyhow::Result;
use futures::future::BoxFuture;
use kube::Client;
use serde_json::{Value, json};

use super::workloads::{Both, PODS, items};

const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// The state of Jobs and their Pods without generated names, uids and times.
pub(super) fn state(client: &Client) -> BoxFuture<'_, Result<Value>> {
    Box::pin(async {
        let mut jobs: Vec<Value> = items(client, JOBS).await?.iter().map(job).collect();
        let mut pods = items(client, PODS).await?;
        pods.retain(|pod| pod["metadata"]["labels"]["job-name"].is_string());
        let mut pods: Vec<Value> = pods.iter().map(pod).collect();
        jobs.sort_by_key(Value::to_string);
        pods.sort_by_key(Value::to_string);
        Ok(json!({"jobs": jobs, "pods": pods}))
    })
}

fn job(job: &Value) -> Value {
    let mut status = job["status"].clone();
    let conditions = status["conditions"].as_array().into_iter().flatten();
    let mut conditions: Vec<Value> = conditions.map(|it| condition(it, job)).collect();
    conditions.sort_by_key(Value::to_string);
    status["conditions"] = json!(conditions);
    for field in ["startTime", "completionTime"] {
        status[field] = json!(status[field].is_string());
    }
    json!({"name": job["metadata"]["name"], "suspend": job["spec"]["suspend"], "status": status})
}

/// A condition without times and without the names of Pods.
fn condition(condition: &Value, job: &Value) -> Value {
    let name = format!("default/{}-", job["metadata"]["name"].as_str().unwrap_or_default());
    let message = condition["message"].as_str().unwrap_or_default().split(' ');
    let words: Vec<&str> = message
        .map(|word| if word.starts_with(&name) { "NAME" } else { word })
        .collect();
    json!([
        condition["type"],
        condition["status"],
        condition["reason"],
        words.join(" ")
    ])
}

fn pod(pod: &Value) -> Value {
    let mut labels = pod["metadata"]["labels"].clone();
    for name in ["controller-uid", "batch.kubernetes.io/controller-uid"] {
        if labels[name].is_string() {
            labels[name] = json!("uid");
        }
    }
    json!({
        "prefix": pod["metadata"]["generateName"], "labels": labels, "annotations": pod["metadata"]["annotations"],
        "finalizers": pod["metadata"]["finalizers"], "hostname": pod["spec"]["hostname"],
        "env": pod["spec"]["containers"][0]["env"], "phase": pod["status"]["phase"],
        "owner": pod["metadata"]["ownerReferences"][0]["kind"],
    })
}

/// A Job with these fields in its spec, and an annotation of its Pods for the kubelet.
fn new(name: &str, behaviour: &str, spec: Value) -> Value {
    let mut job = json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
        "spec": {"template": {
            "metadata": {"annotations": {"kubewright.dev/kubelet": behaviour}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.com/main:1"}]},
        }},
    });
    for (field, value) in spec.as_object().into_iter().flatten() {
        job["spec"][field] = value.clone();
    }
    job
}

#[tokio::test]
async fn jobs_end_as_with_kube_controller_manager() -> Result<()> {
    let lives = async |both: &Both| {
        ends(both).await?;
        policies(both).await?;
        changes(both).await
    };
    Both::with(state, lives).await
}

/// Completions, limits and deadlines.
async fn ends(both: &Both) -> Result<()> {
    let create = ["POST", JOBS];
    let several = json!({"completions": 5, "parallelism": 2});
    both.step("completed", create, new("several", "exit-after=1s", several))
        .await?;
    let queue = json!({"parallelism": 2});
    both.step("a work queue", create, new("queue", "", queue)).await?;
    both.step("nothing to do", create, new("empty", "", json!({"completions": 0})))
        .await?;
    let indexed = json!({"completions": 7, "parallelism": 3, "completionMode": "Indexed"});
    both.step("indexed", create, new("indexed", "", indexed)).await?;
    let failed = both
        .step("failed", create, new("failed", "exit=3", json!({"backoffLimit": 0})))
        .await?;
    assert!(failed.to_string().contains("BackoffLimitExceeded"), "{failed}");
    let late = json!({"activeDeadlineSeconds": 2, "completions": 3, "parallelism": 2});
    let late = both.step("late", create, new("late", "runs", late)).await?;
    assert!(late.to_string().contains("DeadlineExceeded"), "{late}");
    let short = json!({"ttlSecondsAfterFinished": 1});
    let gone = both
        .step("deleted when it has ended", create, new("short", "", short))
        .await?;
    assert!(!gone.to_string().contains("short"), "{gone}");
    Ok(())
}

/// Failures of indexes, and what policies make of them and of successes.
async fn policies(both: &Both) -> Result<()> {
    let create = ["POST", JOBS];
    let indexed = |more: Value| {
        let mut spec = json!({"completions": 3, "parallelism": 3, "completionMode": "Indexed"});
        for (field, value) in more.as_object().into_iter().flatten() {
            spec[field] = value.clone();
        }
        spec
    };
    let each = indexed(json!({"backoffLimitPerIndex": 0}));
    let each = both
        .step("each index fails", create, new("each", "exit=1", each))
        .await?;
    assert!(each.to_string().contains("FailedIndexes"), "{each}");
    let most = indexed(json!({"backoffLimitPerIndex": 0, "maxFailedIndexes": 0, "parallelism": 1}));
    both.step("too many indexes fail", create, new("most", "exit=1", most))
        .await?;
    let codes = json!({"operator": "In", "values": [42]});
    let rules = json!({"rules": [{"action": "FailJob", "onExitCodes": codes}]});
    let fails = json!({"podFailurePolicy": rules});
    both.step("failed by policy", create, new("policy", "exit=42", fails))
        .await?;
    let rules = json!({"rules": [{"action": "FailIndex", "onExitCodes": codes}]});
    let index = indexed(json!({"podFailurePolicy": rules, "backoffLimitPerIndex": 5}));
    both.step("indexes fail by policy", create, new("index", "exit=42", index))
        .await?;
    let rules = json!({"rules": [{"succeededCount": 1}]});
    let success = indexed(json!({"successPolicy": rules, "parallelism": 1}));
    both.step("enough indexes have succeeded", create, new("enough", "", success))
        .await?;
    Ok(())
}

/// Changes of a Job, and of its Pods by others.
async fn changes(both: &Both) -> Result<()> {
    let create = ["POST", JOBS];
    let path = format!("{JOBS}/long");
    let long = json!({"completions": 4, "parallelism": 2, "suspend": true});
    both.step("suspended from the start", create, new("long", "runs", long))
        .await?;
    let patch = ["PATCH", &path];
    both.step("resumed", patch, json!({"spec": {"suspend": false}})).await?;
    both.step("more at once", patch, json!({"spec": {"parallelism": 4}}))
        .await?;
    both.step("fewer at once", patch, json!({"spec": {"parallelism": 1}}))
        .await?;
    both.step("suspended", patch, json!({"spec": {"suspend": true}}))
        .await?;
    both.step("resumed again", patch, json!({"spec": {"suspend": false}}))
        .await?;
    let foreground = format!("{path}?propagationPolicy=Foreground");
    both.step("deleted with its Pods", ["DELETE", &foreground], Value::Null)
        .await?;
    let indexed = json!({"completions": 2, "parallelism": 2, "completionMode": "Indexed"});
    both.step("created", create, new("long", "runs", indexed)).await?;
    let grown = json!({"spec": {"completions": 3, "parallelism": 3}});
    let grown = both.step("more indexes", patch, grown).await?;
    assert!(grown.to_string().contains(&format!(r#""{INDEX}":"2""#)), "{grown}");
    let orphan = format!("{path}?propagationPolicy=Orphan");
    let left = both.step("orphaned", ["DELETE", &orphan], Value::Null).await?;
    assert!(left.to_string().contains(r#""phase":"Running""#), "{left}");
    Ok(())
}
