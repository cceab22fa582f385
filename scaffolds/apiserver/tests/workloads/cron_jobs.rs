//! CronJobs: schedules, concurrency, deadlines and history.

use std::time::{Duration, UNIX_EPOCH};

use kubewright_apiserver::{ApiServer, Clock, Controllers, Options};
use serde_json::{Value, json};

use crate::common::{Wire, to};

const CRON_JOBS: &str = "/apis/batch/v1/namespaces/default/cronjobs";
const CRON_JOB: &str = "/apis/batch/v1/namespaces/default/cronjobs/tick";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
/// 2026-11-28 06:59:30 UTC, half a minute before the hour.
const START: u64 = 1_795_849_170;
const HOUR: u64 = (START + 30) / 60;

/// A server whose clock shows the start.
fn cluster() -> Wire {
    to(ApiServer::new(Options {
        controllers: Controllers {
            workloads: true,
            ..Controllers::default()
        },
        clock: Clock::starting_at(UNIX_EPOCH + Duration::from_secs(START)),
        ..Options::default()
    }))
}

/// Creates a CronJob with these fields in its spec, and an annotation of its Pods for the kubelet.
async fn make(wire: &Wire, behaviour: &str, spec: Value) {
    let mut cron = json!({
        "metadata": {"name": "tick"},
        "spec": {"schedule": "0 * * * *", "jobTemplate": {
            "metadata": {"labels": {"app": "tick"}, "annotations": {"team": "a"}},
            "spec": {"template": {
                "metadata": {"annotations": {"kubewright.dev/kubelet": behaviour}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.com/main:1"}]},
            }},
        }},
    });
    for (field, value) in spec.as_object().unwrap() {
        cron["spec"][field] = value.clone();
    }
    wire.make(CRON_JOBS, &cron).await;
}

async fn names(wire: &Wire) -> Vec<String> {
    let jobs = wire.items(JOBS).await;
    let name = |job: &Value| job["metadata"]["name"].as_str().unwrap().to_owned();
    jobs.iter().map(name).collect()
}

/// The names of the Jobs of these minutes after the full hour.
fn ticks(minutes: &[u64]) -> Vec<String> {
    minutes.iter().map(|minute| format!("tick-{}", HOUR + minute)).collect()
}

#[tokio::test(start_paused = true)]
async fn each_time_of_the_schedule_has_its_job() {
    let wire = cluster();
    make(&wire, "exit-after=10s", json!({"timeZone": "Europe/Berlin"})).await;
    wire.pass(20).await;
    assert_eq!(names(&wire).await, ticks(&[]));
    wire.pass(15).await;
    let job = wire.items(JOBS).await.remove(0);
    assert_eq!(job["metadata"]["name"], ticks(&[0])[0]);
    assert_eq!(job["metadata"]["labels"]["app"], "tick");
    let annotations =
        json!({"team": "a", "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-11-28T08:00:00+01:00"});
    assert_eq!(job["metadata"]["annotations"], annotations);
    assert_eq!(job["metadata"]["ownerReferences"][0]["name"], "tick");
    let status = &wire.object(CRON_JOB).await["status"];
    assert_eq!(status["lastScheduleTime"], "2026-11-28T07:00:00Z");
    assert_eq!(status["active"][0]["uid"], job["metadata"]["uid"]);
    wire.pass(10).await;
    let status = &wire.object(CRON_JOB).await["status"];
    assert_eq!(status["active"], Value::Null);
    assert!(status["lastSuccessfulTime"].is_string());
    wire.pass(3600).await;
    assert_eq!(names(&wire).await, ticks(&[0, 60]));
}

#[tokio::test(start_paused = true)]
async fn finished_jobs_beyond_the_limits_are_deleted() {
    for (behaviour, left) in [("", vec![3, 4]), ("exit=1", vec![4])] {
        let wire = cluster();
        make(
            &wire,
            behaviour,
            json!({"schedule": "* * * * *", "successfulJobsHistoryLimit": 2}),
        )
        .await;
        if !behaviour.is_empty() {
            wire.change(
                CRON_JOB,
                &json!({"spec": {"jobTemplate": {"spec": {"backoffLimit": 0}}}}),
            )
            .await;
        }
        wire.pass(30 + 4 * 60 + 20).await;
        assert_eq!(names(&wire).await, ticks(&left), "{behaviour}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_still_runs_may_be_joined_awaited_or_replaced() {
    for (policy, jobs) in [("Allow", vec![0, 1, 2]), ("Forbid", vec![0]), ("Replace", vec![2])] {
        let wire = cluster();
        make(
            &wire,
            "exit-after=5m",
            json!({"schedule": "* * * * *", "concurrencyPolicy": policy}),
        )
        .await;
        wire.pass(30 + 2 * 60 + 10).await;
        assert_eq!(names(&wire).await, ticks(&jobs), "{policy}");
        let active = wire.object(CRON_JOB).await["status"]["active"]
            .as_array()
            .unwrap()
            .len();
        assert_eq!(active, jobs.len(), "{policy}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_forbidden_run_is_made_up_for_unless_its_deadline_has_passed() {
    for (deadline, jobs) in [(json!(null), vec![0, 1]), (json!(20), vec![0])] {
        let wire = cluster();
        let spec =
            json!({"schedule": "0-1 * * * *", "concurrencyPolicy": "Forbid", "startingDeadlineSeconds": deadline});
        make(&wire, "exit-after=100s", spec).await;
        wire.pass(30 + 150).await;
        assert_eq!(names(&wire).await, ticks(&jobs));
    }
}

#[tokio::test(start_paused = true)]
async fn a_suspended_schedule_has_one_run_for_all_missed_ones_after_it_is_resumed() {
    let wire = cluster();
    make(&wire, "", json!({"schedule": "*/10 * * * *", "suspend": true})).await;
    wire.pass(3600).await;
    assert_eq!(names(&wire).await, ticks(&[]));
    wire.change(CRON_JOB, &json!({"spec": {"suspend": false}})).await;
    wire.pass(5).await;
    assert_eq!(names(&wire).await, ticks(&[50]));
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_created_from_a_cron_job_is_cleaned_up_with_the_others() {
    let wire = cluster();
    make(&wire, "", json!({"suspend": true, "successfulJobsHistoryLimit": 0})).await;
    let cron = wire.object(CRON_JOB).await;
    // As `kubectl create job --from` creates it.
    let owner = json!({
        "apiVersion": "batch/v1", "kind": "CronJob", "name": "tick", "uid": cron["metadata"]["uid"], "controller": true,
    });
    let job = json!({
        "metadata": {"name": "now", "ownerReferences": [owner], "annotations": {"cronjob.kubernetes.io/instantiate": "manual"}},
        "spec": cron["spec"]["jobTemplate"]["spec"],
    });
    wire.make(JOBS, &job).await;
    wire.pass(10).await;
    assert_eq!(names(&wire).await, [""; 0]);
    assert!(wire.object(CRON_JOB).await["status"]["lastSuccessfulTime"].is_string());
}

#[tokio::test(start_paused = true)]
async fn the_jobs_of_a_deleted_cron_job_go_with_it() {
    let wire = cluster();
    make(&wire, "runs", json!({"schedule": "* * * * *"})).await;
    wire.pass(40).await;
    wire.send("DELETE", CRON_JOB, "").await;
    wire.pass(5).await;
    assert_eq!(names(&wire).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn events_say_what_became_of_the_jobs() {
    let wire = cluster();
    make(&wire, "exit-after=600s", json!({"schedule": "* * * * *"})).await;
    wire.pass(35).await;
    let first = names(&wire).await.remove(0);
    wire.send("DELETE", &format!("{JOBS}/{first}"), "").await;
    wire.pass(5).await;
    let events = wire.items("/api/v1/namespaces/default/events").await;
    let said: Vec<(&str, String)> = events
        .iter()
        .map(|event| {
            assert_eq!(event["involvedObject"]["name"], "tick");
            (
                event["reason"].as_str().unwrap(),
                event["message"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    assert!(
        said.contains(&("SuccessfulCreate", format!("Created job {first}"))),
        "{said:?}"
    );
    assert!(
        said.contains(&("MissingJob", format!("Active job went missing: {first}"))),
        "{said:?}"
    );
}
