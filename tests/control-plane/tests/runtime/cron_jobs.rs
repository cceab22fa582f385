//! CronJobs on the in-process API server and with kube-controller-manager: each creates the same Jobs. Their last time is
//! set to one in the past, so that a Job is due at once.

use anyhow::Result;
use futures::future::BoxFuture;
use kube::Client;
use serde_json::{Value, json};

use super::workloads::{Both, items, send};

const CRON_JOBS: &str = "/apis/batch/v1/namespaces/default/cronjobs";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";

/// The last time of a CronJob, three years ago.
pub(super) const LONG_AGO: &str = "2023-11-15T10:20:30Z";

/// Schedules, time zones and last times. No time of the schedules passes while the test runs.
const SCHEDULES: [[&str; 3]; 16] = [
    ["0 0 1 1 *", "UTC", LONG_AGO],
    ["0 0 1 1 *", "Asia/Kolkata", LONG_AGO],
    // The clocks skip this time on the 29th.
    ["30 2 29,30 3 *", "Europe/Berlin", "2026-03-28T12:00:00Z"],
    // The clocks repeat these times.
    ["30 2 25 10 *", "Europe/Berlin", "2026-10-25T00:45:00Z"],
    ["15-45/15 1 1 11 *", "America/New_York", "2026-11-01T06:30:00Z"],
    ["0 5 7 9 *", "America/Santiago", "2026-09-06T12:00:00Z"],
    ["0 12 29 FEB ?", "Pacific/Auckland", LONG_AGO],
    ["59 23 30 4,6 *", "America/Sao_Paulo", "2026-05-01T12:00:00Z"],
    ["10 5 13 2 fri", "UTC", "2026-02-25T00:00:00Z"],
    ["10 5 */20 2 *", "UTC", "2026-02-10T00:00:00Z"],
    ["10 5 */20 2 6", "UTC", "2026-02-22T00:00:00Z"],
    ["10 5 * 3 SUN-tue", "Australia/Lord_Howe", "2026-03-30T12:00:00Z"],
    ["7/20 3 2 7 *", "UTC", "2026-07-02T03:30:00Z"],
    // Several times of an irregular schedule were missed: upstream finds none of them.
    ["30 2 28-31 3 *", "Europe/Berlin", LONG_AGO],
    ["@yearly", "Pacific/Chatham", LONG_AGO],
    ["@every 26280h", "UTC", LONG_AGO],
];

pub(super) fn state(client: &Client) -> BoxFuture<'_, Result<Value>> {
    Box::pin(async {
        let mut crons: Vec<Value> = items(client, CRON_JOBS).await?.iter().map(cron).collect();
        let mut jobs: Vec<Value> = items(client, JOBS).await?.iter().map(job).collect();
        crons.sort_by_key(Value::to_string);
        jobs.sort_by_key(Value::to_string);
        Ok(json!({"crons": crons, "jobs": jobs}))
    })
}

fn cron(cron: &Value) -> Value {
    let status = &cron["status"];
    let active = status["active"].as_array().into_iter().flatten();
    let active: Vec<Value> = active
        .map(|it| {
            json!([
                it["apiVersion"],
                it["kind"],
                it["namespace"],
                it["name"],
                it["uid"].is_string()
            ])
        })
        .collect();
    json!({
        "name": cron["metadata"]["name"], "active": active, "last": status["lastScheduleTime"],
        "succeeded": status["lastSuccessfulTime"].is_string(),
    })
}

fn job(job: &Value) -> Value {
    let metadata = &job["metadata"];
    let mut labels = metadata["labels"].clone();
    for name in ["controller-uid", "batch.kubernetes.io/controller-uid"] {
        if labels[name].is_string() {
            labels[name] = json!("uid");
        }
    }
    let owner = &metadata["ownerReferences"][0];
    json!({
        "name": metadata["name"], "labels": labels, "annotations": metadata["annotations"],
        "owner": [owner["kind"], owner["name"], owner["controller"], owner["blockOwnerDeletion"]],
        "succeeded": job["status"]["succeeded"], "failed": job["status"]["failed"],
    })
}

/// A CronJob, suspended, with an annotation of its Pods for the kubelet.
fn new(name: &str, [schedule, zone]: [&str; 2], behaviour: &str) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name},
        "spec": {"schedule": schedule, "timeZone": zone, "suspend": true, "jobTemplate": {
            "metadata": {"labels": {"app": "tick"}, "annotations": {"team": "a"}},
            "spec": {"backoffLimit": 0, "template": {
                "metadata": {"annotations": {"kubewright.dev/kubelet": behaviour}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.com/main:1"}]},
            }},
        }},
    })
}

/// Creates a CronJob with this last time on both servers.
async fn create(both: &Both, cron: &Value, last: &str) -> Result<String> {
    let path = format!("{CRON_JOBS}/{}", cron["metadata"]["name"].as_str().unwrap_or_default());
    let last = json!({"status": {"lastScheduleTime": last}});
    for client in [&both.ours, &both.real] {
        send(client, "POST", CRON_JOBS, cron).await?;
        send(client, "PATCH", &format!("{path}/status"), &last).await?;
    }
    Ok(path)
}

#[tokio::test]
async fn cron_jobs_create_the_jobs_that_kube_controller_manager_creates() -> Result<()> {
    let lives = async |both: &Both| {
        schedules(both).await?;
        changes(both).await
    };
    Both::with(state, lives).await
}

async fn schedules(both: &Both) -> Result<()> {
    let resumed = json!({"spec": {"suspend": false}});
    let mut path = String::new();
    for (at, [schedule, zone, last]) in SCHEDULES.into_iter().enumerate() {
        path = create(both, &new(&format!("schedule-{at}"), [schedule, zone], "runs"), last).await?;
        for client in [&both.ours, &both.real] {
            send(client, "PATCH", &path, &resumed).await?;
        }
    }
    let all = both.step("schedules", ["PATCH", &path], resumed).await?;
    assert_eq!(all["jobs"].as_array().map(Vec::len), Some(SCHEDULES.len() - 1), "{all}");
    Ok(())
}

/// Ends of Jobs, the limits of history, and deletion.
async fn changes(both: &Both) -> Result<()> {
    let resumed = json!({"spec": {"suspend": false}});
    for (name, behaviour, field) in [
        ("kept", "", "failedJobsHistoryLimit"),
        ("succeeded", "", "successfulJobsHistoryLimit"),
        ("failed", "exit=1", "failedJobsHistoryLimit"),
    ] {
        let mut cron = new(name, ["0 0 1 1 *", "UTC"], behaviour);
        cron["spec"][field] = json!(0);
        let path = create(both, &cron, LONG_AGO).await?;
        both.step(name, ["PATCH", &path], resumed.clone()).await?;
    }
    let mut late = new("late", ["0 0 1 1 *", "UTC"], "");
    late["spec"]["startingDeadlineSeconds"] = json!(600);
    let path = create(both, &late, LONG_AGO).await?;
    both.step("too late", ["PATCH", &path], resumed).await?;
    let kept = format!("{CRON_JOBS}/kept");
    let end = both.step("deleted", ["DELETE", &kept], Value::Null).await?;
    assert!(!end.to_string().contains("\"kept"), "{end}");
    Ok(())
}
