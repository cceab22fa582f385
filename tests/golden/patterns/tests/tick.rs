//! The life of an object on an API server that runs Jobs, with the operator's own program and a clock of the test.

use std::{env, time::Duration};

use api::test::v1::Tick;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::{DeleteParams, ListParams, PostParams};
use kubewright_runtime::Result;
use kubewright_runtime::testing::{Program, TestCluster, from_yaml, wait_for};

const OPERATOR: Program = kubewright_runtime::operator!("foobar-operator");
const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn jobs_follow_the_schedule() -> Result<()> {
    if env::var_os("KUBEBUILDER_ASSETS").is_some_and(|it| !it.is_empty()) {
        eprintln!("skipped: KUBEBUILDER_ASSETS has no controllers that run Jobs");
        return Ok(());
    }
    let cluster = TestCluster::builder().workloads().start().await?;
    let now = Timestamp::now();
    let operator = cluster.operator(OPERATOR).clock(now);
    let mut operator = operator.start().await?;
    let (client, namespace) = (cluster.client(), cluster.namespace());
    let objects: Api<Tick> = Api::namespaced(client.clone(), namespace);
    let children: Api<Job> = Api::namespaced(client, namespace);

    let mut object = object();
    // Each hour, half an hour from now: none of these times is between `now` and the creation of the object.
    let minute = (now.as_second() / 60 + 30) % 60;
    object.spec.schedule = format!("{minute} * * * *");
    object.spec.successful_jobs_history_limit = 2;
    objects.create(&PostParams::default(), &object).await?;
    let mut last = None;
    for kept in [1, 2, 2, 2] {
        operator.advance(HOUR)?;
        wait_for("the Job of the hour, and no more old ones", async || {
            let status = objects.get("sample").await?.status.unwrap_or_default();
            let jobs = children.list(&ListParams::default()).await?.items;
            let is_next = status.last_successful_time > last;
            let is_done = is_next && status.active.is_empty() && jobs.len() == kept;
            if is_done {
                last = status.last_successful_time;
            }
            Ok(is_done)
        })
        .await?;
    }

    objects.delete("sample", &DeleteParams::default()).await?;
    let gone = async || Ok(objects.get_opt("sample").await?.is_none());
    wait_for("the object to be gone", gone).await?;
    operator.stop()
}

fn object() -> Tick {
    let sample = include_str!("../config/samples/test_v1_tick.yaml");
    from_yaml("sample", sample)
}
