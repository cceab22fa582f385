//! The tests of the controller in kubebuilder's tutorial, as they stand: a CronJob counts a Job that the test itself creates, with a
//! controller reference. Where that waits in vain, the log says why.

use std::sync::Arc;

use k8s_openapi::api::batch::v1::Job;
use kube::{CustomResource, CustomResourceExt};
use kubewright_runtime::{Action, Context, Controller, Manager, Reconciler, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::{
    World,
    kinds::{Running, seconds},
    page::Page,
};

/// The kind of the tutorial, without fields that its tests do not look at.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "batch.tutorial.kubebuilder.io",
    version = "v1",
    kind = "CronJob",
    namespaced,
    status = "CronJobStatus"
)]
pub struct CronJobSpec {
    pub schedule: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CronJobStatus {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    active: Vec<String>,
}

const CRON_JOB: &str = "/apis/batch.tutorial.kubebuilder.io/v1/namespaces/default/cronjobs/test-cronjob";
const JOB: &str = "/apis/batch/v1/namespaces/default/jobs/test-job";

/// Writes the names of its active Jobs into the status.
struct Counts;

impl Reconciler<CronJob> for Counts {
    async fn reconcile(&self, cx: &Context<CronJob>, _: Arc<CronJob>) -> Result<Action> {
        let jobs = cx.children::<Job>()?;
        let is_active = |job: &&Arc<Job>| job.status.as_ref().is_some_and(|status| status.active > Some(0));
        let active = jobs
            .iter()
            .filter(is_active)
            .filter_map(|job| job.metadata.name.clone())
            .collect();
        cx.patch_status(|status| status.active = active).await?;
        Ok(Action::Done)
    }
}

fn start(world: &World, controller: Controller<CronJob>) -> Running {
    let builder = Manager::builder(world.client()).name("test").namespace("default");
    let manager = builder.report_unseen(true).build();
    controller.register(&manager, Counts).unwrap();
    Running::start(manager)
}

fn active(world: &World) -> Value {
    world.object(CRON_JOB).unwrap()["status"]["active"].clone()
}

/// The test of the tutorial: the names of the active Jobs, and the log.
async fn story(controller: Controller<CronJob>, labels: Value) -> (World, Running, Value, String) {
    let page = Page::default();
    let writer = page.clone();
    let log = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
    // All tasks of this test run on this thread.
    let guard = tracing::subscriber::set_default(log);
    let world = World::new(&[CronJob::crd()]);
    let running = start(&world, controller);
    seconds(1).await;
    // "By creating a new CronJob"
    let cron_job = json!({"apiVersion": "batch.tutorial.kubebuilder.io/v1", "kind": "CronJob", "metadata": {},
        "spec": {"schedule": "1 * * * *"}});
    world.put(CRON_JOB, cron_job);
    // "By checking that the CronJob has zero active Jobs": consistently.
    for _ in 0..10 {
        seconds(1).await;
        assert_eq!(active(&world), Value::Null);
    }
    // "By creating a new Job"
    let uid = world.object(CRON_JOB).unwrap()["metadata"]["uid"].clone();
    let owner = json!({"apiVersion": "batch.tutorial.kubebuilder.io/v1", "kind": "CronJob", "name": "test-cronjob",
        "uid": uid, "controller": true});
    let pod = json!({"spec": {"containers": [{"name": "test-container", "image": "test-image"}], "restartPolicy": "OnFailure"}});
    world.put(
        JOB,
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"ownerReferences": [owner], "labels": labels},
            "spec": {"template": pod}}),
    );
    world.edit_status(JOB, |job| {
        job["status"] = json!({"active": 2, "startTime": "2026-01-01T00:00:00Z"})
    });
    // "By checking that the CronJob has one active Job": eventually, within ten seconds.
    seconds(10).await;
    let found = active(&world);
    drop(guard);
    (world, running, found, page.text())
}

#[tokio::test(start_paused = true)]
async fn a_job_of_a_test_is_counted_with_the_label_or_if_all_jobs_are_cached() {
    let (_, running, found, log) = story(
        Controller::new("cronjob").owns::<Job>(),
        json!({"kubewright.dev/operator": "test"}),
    )
    .await;
    assert_eq!(found, json!(["test-job"]), "with the label");
    assert!(!log.contains("not seen"), "{log}");
    running.stop().await.unwrap();
    let all = Controller::new("cronjob").owns::<Job>().caches_all::<Job>();
    let (_, running, found, log) = story(all, Value::Null).await;
    assert_eq!(found, json!(["test-job"]), "as with controller-runtime");
    assert!(!log.contains("not seen"), "{log}");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_test_that_waits_in_vain_finds_the_reason_in_the_log_before_it_gives_up() {
    let (world, running, found, log) = story(Controller::new("cronjob").owns::<Job>(), Value::Null).await;
    assert_eq!(found, Value::Null, "the operator sees only objects with its label");
    let lines: Vec<_> = log.lines().filter(|line| line.contains("not seen by `owns`")).collect();
    let [line] = lines[..] else { panic!("{log}") };
    for part in [
        "default/test-job",
        "CronJob/test-cronjob",
        "`apply_child`",
        "`.caches_all::<Job>()`",
        "kubewright.dev/operator=test",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    running.stop().await.unwrap();
    // The next process does not label it: another client has created it.
    let running = start(&world, Controller::new("cronjob").owns::<Job>());
    seconds(10).await;
    assert_eq!(active(&world), Value::Null);
    running.stop().await.unwrap();
}
