//! Jobs: completions, indexes, failures, policies, suspension, deadlines and their time to live.

use kubewright_machinery::time;
use serde_json::{Value, json};

use crate::{
    cluster::{PODS, cluster, condition},
    common::Wire,
};

const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const JOB: &str = "/apis/batch/v1/namespaces/default/jobs/work";

/// Creates a Job with these fields in its spec, and an annotation of its Pods for the kubelet.
async fn make(wire: &Wire, behaviour: &str, spec: Value) {
    let mut job = json!({
        "metadata": {"name": "work"},
        "spec": {"template": {
            "metadata": {"annotations": {"kubewright.dev/kubelet": behaviour}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.com/main:1"}]},
        }},
    });
    for (field, value) in spec.as_object().unwrap() {
        job["spec"][field] = value.clone();
    }
    wire.make(JOBS, &job).await;
}

fn counts(job: &Value) -> [i64; 4] {
    ["active", "terminating", "succeeded", "failed"].map(|field| job["status"][field].as_i64().unwrap_or_default())
}

/// The end of a Job, with its reason.
fn end(job: &Value) -> String {
    let ends = ["Complete", "Failed"].map(|name| {
        let found = condition(job, name);
        found.strip_prefix("True ").map(|reason| format!("{name} {reason}"))
    });
    ends.into_iter().flatten().next().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn a_job_runs_its_pods_by_parallelism_and_is_complete() {
    let wire = cluster();
    make(&wire, "exit-after=10s", json!({"completions": 5, "parallelism": 2})).await;
    wire.pass(1).await;
    let job = wire.object(JOB).await;
    assert_eq!((counts(&job), &job["status"]["ready"]), ([2, 0, 0, 0], &json!(2)));
    wire.pass(20).await;
    assert_eq!(counts(&wire.object(JOB).await), [1, 0, 4, 0]);
    wire.pass(10).await;
    let job = wire.object(JOB).await;
    assert_eq!(
        (counts(&job), end(&job)),
        ([0, 0, 5, 0], "Complete CompletionsReached".into())
    );
    assert_eq!(condition(&job, "SuccessCriteriaMet"), "True CompletionsReached");
    assert!(job["status"]["completionTime"].is_string());
    assert_eq!(job["status"]["uncountedTerminatedPods"], json!({}));
    let pods = wire.items(PODS).await;
    assert_eq!(pods.len(), 5);
    for pod in pods {
        assert_eq!(pod["metadata"]["finalizers"], Value::Null);
        assert_eq!(pod["metadata"]["labels"]["batch.kubernetes.io/job-name"], "work");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_of_a_job_runs_for_a_second_unless_its_annotation_says_otherwise() {
    let wire = cluster();
    make(&wire, "", json!({})).await;
    wire.pass(3).await;
    assert_eq!(end(&wire.object(JOB).await), "Complete CompletionsReached");
    let pod = wire.items(PODS).await.remove(0);
    let run = &pod["status"]["containerStatuses"][0]["state"]["terminated"];
    let [start, end] = ["startedAt", "finishedAt"].map(|field| time::seconds(run[field].as_str().unwrap()).unwrap());
    assert_eq!(end - start, 1);
}

#[tokio::test(start_paused = true)]
async fn each_index_has_a_pod_that_knows_it() {
    let wire = cluster();
    let spec = json!({"completions": 3, "parallelism": 3, "completionMode": "Indexed"});
    make(&wire, "", spec).await;
    wire.pass(5).await;
    let job = wire.object(JOB).await;
    assert_eq!(job["status"]["completedIndexes"], "0-2");
    let mut pods = wire.items(PODS).await;
    pods.sort_by_key(|pod| pod["spec"]["hostname"].to_string());
    for (index, pod) in pods.iter().enumerate() {
        let name = "batch.kubernetes.io/job-completion-index";
        for field in ["labels", "annotations"] {
            assert_eq!(pod["metadata"][field][name], index.to_string());
        }
        assert_eq!(pod["spec"]["hostname"], format!("work-{index}"));
        assert_eq!(pod["metadata"]["generateName"], format!("work-{index}-"));
        let field = &pod["spec"]["containers"][0]["env"][0]["valueFrom"]["fieldRef"]["fieldPath"];
        assert_eq!(field, &format!("metadata.labels['{name}']"));
    }
}

#[tokio::test(start_paused = true)]
async fn failed_pods_are_replaced_with_growing_delays_until_the_limit() {
    let wire = cluster();
    make(&wire, "exit=1", json!({"backoffLimit": 2})).await;
    for (seconds, failed) in [(5, 1), (10, 2), (15, 2), (8, 3)] {
        wire.pass(seconds).await;
        assert_eq!(counts(&wire.object(JOB).await)[3], failed, "after {seconds} s");
    }
    let job = wire.object(JOB).await;
    assert_eq!(end(&job), "Failed BackoffLimitExceeded");
    assert_eq!(condition(&job, "FailureTarget"), "True BackoffLimitExceeded");
    assert_eq!(wire.items(PODS).await.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn restarts_of_containers_count_against_the_limit() {
    let wire = cluster();
    let template = json!({
        "metadata": {"annotations": {"kubewright.dev/kubelet": "exit=1"}},
        "spec": {"restartPolicy": "OnFailure", "containers": [{"name": "main", "image": "example.com/main:1"}]},
    });
    make(&wire, "", json!({"backoffLimit": 2, "template": template})).await;
    wire.pass(60).await;
    assert_eq!(end(&wire.object(JOB).await), "Failed BackoffLimitExceeded");
    assert_eq!(wire.items(PODS).await.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_index_fails_alone() {
    let wire = cluster();
    let spec = json!({
        "completions": 3, "parallelism": 3, "completionMode": "Indexed", "backoffLimitPerIndex": 1,
    });
    make(&wire, "exit=1,exit-after=5s", spec).await;
    wire.pass(1).await;
    // Index 1 succeeds.
    for pod in wire.items(PODS).await {
        if pod["spec"]["hostname"] == "work-1" {
            let path = format!("{PODS}/{}", pod["metadata"]["name"].as_str().unwrap());
            let succeeds = json!({"metadata": {"annotations": {"kubewright.dev/kubelet": "exit-after=5s"}}});
            wire.change(&path, &succeeds).await;
        }
    }
    wire.pass(60).await;
    let job = wire.object(JOB).await;
    assert_eq!(end(&job), "Failed FailedIndexes");
    assert_eq!(
        [&job["status"]["completedIndexes"], &job["status"]["failedIndexes"]],
        ["1", "0,2"]
    );
    assert_eq!(counts(&job), [0, 0, 1, 4]);
    let name = "batch.kubernetes.io/job-index-failure-count";
    let mut failures: Vec<_> = wire.items(PODS).await;
    failures.sort_by_key(|pod| pod["metadata"]["creationTimestamp"].to_string());
    let failures: Vec<_> = failures
        .iter()
        .map(|pod| pod["metadata"]["annotations"][name].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(failures, ["0", "0", "0", "1", "1"]);
}

#[tokio::test(start_paused = true)]
async fn too_many_failed_indexes_end_a_job() {
    let wire = cluster();
    let spec = json!({
        "completions": 4, "parallelism": 1, "completionMode": "Indexed", "backoffLimitPerIndex": 0, "maxFailedIndexes": 1,
    });
    make(&wire, "exit=1", spec).await;
    wire.pass(60).await;
    let job = wire.object(JOB).await;
    assert_eq!(end(&job), "Failed MaxFailedIndexesExceeded");
    assert_eq!(job["status"]["failedIndexes"], "0,1");
}

#[tokio::test(start_paused = true)]
async fn a_failure_policy_ends_a_job_or_ignores_failures() {
    let rule = |action: &str| {
        let codes = json!({"operator": "In", "values": [42]});
        json!({"backoffLimit": 0, "podFailurePolicy": {"rules": [{"action": action, "onExitCodes": codes}]}})
    };
    let wire = cluster();
    make(&wire, "exit=42", rule("FailJob")).await;
    wire.pass(5).await;
    let job = wire.object(JOB).await;
    assert_eq!(end(&job), "Failed PodFailurePolicy");
    let message = job["status"]["conditions"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("Container main for pod default/work-"), "{message}");
    assert!(
        message.ends_with("failed with exit code 42 matching FailJob rule at index 0"),
        "{message}"
    );

    let wire = cluster();
    make(&wire, "exit=42", rule("Ignore")).await;
    wire.pass(60).await;
    let job = wire.object(JOB).await;
    assert_eq!((end(&job), counts(&job)[3]), (String::new(), 0));
    let pods = wire.items(PODS).await.len();
    assert!((3..=5).contains(&pods), "{pods}");
}

#[tokio::test(start_paused = true)]
async fn a_success_policy_ends_a_job_and_its_other_pods() {
    let wire = cluster();
    let spec = json!({
        "completions": 3, "parallelism": 3, "completionMode": "Indexed",
        "successPolicy": {"rules": [{"succeededIndexes": "0"}]},
    });
    make(&wire, "runs", spec).await;
    wire.pass(1).await;
    let mut leader = wire.items(PODS).await.into_iter();
    let leader = leader.find(|pod| pod["spec"]["hostname"] == "work-0").unwrap();
    let path = format!("{PODS}/{}", leader["metadata"]["name"].as_str().unwrap());
    let succeeds = json!({"metadata": {"annotations": {"kubewright.dev/kubelet": "exit=0"}}});
    wire.change(&path, &succeeds).await;
    wire.pass(5).await;
    let job = wire.object(JOB).await;
    assert_eq!(
        (end(&job), counts(&job)),
        ("Complete SuccessPolicy".into(), [0, 0, 1, 0])
    );
    assert_eq!(wire.items(PODS).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_suspended_job_has_no_pods_and_starts_anew() {
    let wire = cluster();
    make(
        &wire,
        "exit-after=50s",
        json!({"suspend": true, "activeDeadlineSeconds": 60}),
    )
    .await;
    wire.pass(100).await;
    let job = wire.object(JOB).await;
    assert_eq!(condition(&job, "Suspended"), "True JobSuspended");
    assert_eq!(
        (&job["status"]["startTime"], wire.items(PODS).await.len()),
        (&Value::Null, 0)
    );
    wire.change(JOB, &json!({"spec": {"suspend": false}})).await;
    wire.pass(30).await;
    wire.change(JOB, &json!({"spec": {"suspend": true}})).await;
    wire.pass(30).await;
    let job = wire.object(JOB).await;
    assert_eq!((counts(&job), wire.items(PODS).await.len()), ([0; 4], 0));
    wire.change(JOB, &json!({"spec": {"suspend": false}})).await;
    wire.pass(55).await;
    let job = wire.object(JOB).await;
    assert_eq!(end(&job), "Complete CompletionsReached");
    assert_eq!(condition(&job, "Suspended"), "False JobResumed");
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_active_for_too_long_fails_once_its_pods_have_stopped() {
    let wire = cluster();
    let spec = json!({"activeDeadlineSeconds": 600, "completions": 2, "parallelism": 2});
    make(&wire, "runs,stop-after=20s", spec).await;
    wire.pass(590).await;
    assert_eq!(counts(&wire.object(JOB).await), [2, 0, 0, 0]);
    wire.pass(15).await;
    let job = wire.object(JOB).await;
    assert_eq!(
        (condition(&job, "FailureTarget"), end(&job)),
        ("True DeadlineExceeded".into(), String::new())
    );
    assert_eq!(counts(&job), [0, 2, 0, 2]);
    wire.pass(20).await;
    let job = wire.object(JOB).await;
    assert_eq!(
        (end(&job), counts(&job)),
        ("Failed DeadlineExceeded".into(), [0, 0, 0, 2])
    );
    assert_eq!(wire.items(PODS).await.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_finished_job_is_deleted_after_its_time_to_live() {
    let wire = cluster();
    make(&wire, "", json!({"ttlSecondsAfterFinished": 300})).await;
    wire.pass(295).await;
    assert_eq!(end(&wire.object(JOB).await), "Complete CompletionsReached");
    wire.pass(10).await;
    assert_eq!(wire.get(JOB).await.code, 404);
    assert_eq!(wire.items(PODS).await.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_pod_counts_as_failed_and_its_replacement_may_wait_for_its_end() {
    for (policy, early, late) in [("TerminatingOrFailed", 2, [1, 0, 0, 1]), ("Failed", 1, [1, 0, 0, 1])] {
        let wire = cluster();
        make(&wire, "runs,stop-after=25s", json!({"podReplacementPolicy": policy})).await;
        wire.pass(1).await;
        let pods = wire.items(PODS).await;
        let path = format!("{PODS}/{}", pods[0]["metadata"]["name"].as_str().unwrap());
        wire.send("DELETE", &path, "").await;
        wire.pass(15).await;
        assert_eq!(wire.items(PODS).await.len(), early, "{policy}");
        wire.pass(60).await;
        assert_eq!(counts(&wire.object(JOB).await), late, "{policy}");
    }
}

#[tokio::test(start_paused = true)]
async fn pods_of_a_deleted_job_go_with_it_or_are_released() {
    for (policy, left) in [("Background", 0), ("Foreground", 0), ("Orphan", 2)] {
        let wire = cluster();
        make(&wire, "runs", json!({"completions": 2, "parallelism": 2})).await;
        wire.pass(1).await;
        wire.send("DELETE", &format!("{JOB}?propagationPolicy={policy}"), "")
            .await;
        wire.pass(5).await;
        assert_eq!(wire.get(JOB).await.code, 404, "{policy}");
        let pods = wire.items(PODS).await;
        assert_eq!(pods.len(), left, "{policy}");
        for pod in pods {
            assert_eq!(pod["metadata"]["finalizers"], Value::Null);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_whose_pods_are_refused_runs_once_they_are_not() {
    let wire = cluster();
    let template = json!({"spec": {
        "restartPolicy": "Never", "priorityClassName": "missing", "containers": [{"name": "main", "image": "example.com/main:1"}],
    }});
    make(&wire, "", json!({"template": template})).await;
    wire.pass(1).await;
    let job = wire.object(JOB).await;
    assert_eq!(counts(&job), [0; 4]);
    assert!(job["status"]["startTime"].is_string());
    let class = json!({"metadata": {"name": "missing"}, "value": 7});
    wire.make("/apis/scheduling.k8s.io/v1/priorityclasses", &class).await;
    wire.pass(120).await;
    assert_eq!(end(&wire.object(JOB).await), "Complete CompletionsReached");
}

#[tokio::test(start_paused = true)]
async fn a_job_that_another_controller_manages_is_left_alone() {
    let wire = cluster();
    make(&wire, "", json!({"managedBy": "example.com/queue"})).await;
    wire.pass(60).await;
    assert_eq!(
        (wire.object(JOB).await["status"].clone(), wire.items(PODS).await.len()),
        (json!({}), 0)
    );
}

#[tokio::test(start_paused = true)]
async fn fewer_parallel_pods_are_deleted_without_counting() {
    let wire = cluster();
    make(&wire, "runs", json!({"completions": 5, "parallelism": 4})).await;
    wire.pass(1).await;
    wire.change(JOB, &json!({"spec": {"parallelism": 1}})).await;
    wire.pass(1).await;
    assert_eq!(
        (counts(&wire.object(JOB).await), wire.items(PODS).await.len()),
        ([1, 0, 0, 0], 1)
    );
}

/// A panic would end the controllers of all workloads.
#[tokio::test(start_paused = true)]
async fn numbers_at_their_limits_end_no_controller() {
    let wire = cluster();
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "b"}]}});
    let limited = |name: &str, field: &str| {
        let mut job = json!({"metadata": {"name": name}, "spec": {"template": template}});
        job["spec"][field] = json!(i64::MAX);
        job
    };
    wire.make(JOBS, &limited("limited", "activeDeadlineSeconds")).await;
    let mut cron = limited("limited", "startingDeadlineSeconds");
    cron["spec"] = json!({
        "schedule": "* * * * *", "startingDeadlineSeconds": i64::MAX, "jobTemplate": {"spec": {"template": template}},
    });
    wire.make("/apis/batch/v1/namespaces/default/cronjobs", &cron).await;
    make(&wire, "exit-after=10s", json!({})).await;
    wire.pass(180).await;
    assert_eq!(end(&wire.object(JOB).await), "Complete CompletionsReached");
    // Go's duration wraps to a negative one.
    let limited = wire.object(&format!("{JOBS}/limited")).await;
    assert_eq!(end(&limited), "Failed DeadlineExceeded");
}
