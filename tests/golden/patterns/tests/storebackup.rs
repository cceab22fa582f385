//! Backups and restores on an API server that runs Pods and Jobs, with the operator's own program.

use std::{env, time::Duration};

use api::test::v1::storerestore::StoreRestoreSpec;
use api::test::v1::{Store, StoreBackup, StoreRestore};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use kubewright_runtime::testing::{Program, RunningOperator, TestCluster, from_yaml, wait_for};
use kubewright_runtime::{Conditions, Result};
use serde_json::{Value, json};

const OPERATOR: Program = kubewright_runtime::operator!("foobar-operator");
const DAY: Duration = Duration::from_secs(24 * 3600);

#[tokio::test]
async fn backups_follow_the_schedule_and_a_deletion_waits_for_a_final_one() -> Result<()> {
    let Some(world) = World::start().await? else {
        return Ok(());
    };
    // Half a day from now: the short steps below must not reach a further time of the schedule.
    let hour = (Timestamp::now().as_second() / 3600 + 12) % 24;
    let backups = json!({ "schedule": format!("0 {hour} * * *"), "keep": 2, "onDeletion": true });
    let mut operator = world.operator(backups).await?;
    let mut oldest = String::new();
    for day in 1..=3 {
        let before = world.names().await?;
        operator.advance(DAY)?;
        let another = async || Ok(world.names().await? != before);
        wait_for("another backup", another).await?;
        let made = day.min(2);
        world.settles(&mut operator, made).await?;
        let names = world.names().await?;
        match day {
            1 => oldest.clone_from(&names[0]),
            _ => assert_eq!(names.contains(&oldest), day < 3),
        }
    }
    // The data of the surplus backup is deleted with it, by a Job.
    assert!(!world.names().await?.contains(&oldest));

    let objects = &world.objects;
    objects.delete("sample", &DeleteParams::default()).await?;
    wait_for("the object to be gone", async || {
        operator.advance(Duration::from_secs(5))?;
        Ok(objects.get_opt("sample").await?.is_none())
    })
    .await?;
    assert_eq!(world.succeeded().await?, 3);
    operator.stop()
}

#[tokio::test]
async fn a_backup_and_a_restore_end_the_same_wherever_the_operator_is_killed() -> Result<()> {
    let Some(world) = World::start().await? else {
        return Ok(());
    };
    world.operator(Value::Null).await?.stop()?;
    let sample = include_str!("../config/samples/test_v1_storebackup.yaml");
    let mut backup: StoreBackup = from_yaml("backup", sample);
    backup.spec.target = "sample".to_owned();
    let new = PostParams::default();
    world.backups.create(&new, &backup).await?;
    let operator = world.cluster.operator(OPERATOR);
    let made = async || Ok(world.succeeded().await? == 1);
    let killed = operator.killed_between_writes("the backup", made);
    assert!(killed.await? > 1);

    let spec = StoreRestoreSpec {
        target: "sample".to_owned(),
        r#type: None,
        backup: "backup".to_owned(),
    };
    let restore = StoreRestore::new("restore", spec);
    world.restores.create(&new, &restore).await?;
    let operator = world.cluster.operator(OPERATOR);
    let restored = async || {
        let status = world.restores.get("restore").await?.status;
        Ok(status.unwrap_or_default().completion_time.is_some() && world.is_free().await?)
    };
    let killed = operator.killed_between_writes("the restore", restored);
    assert!(killed.await? > 1);

    // One Job for each of them.
    let jobs = world.jobs.list(&ListParams::default()).await?;
    assert_eq!(jobs.items.len(), 2);

    // The Job of the backup goes at once, and the data still go.
    let foreground = DeleteParams::foreground();
    world.backups.delete("backup", &foreground).await?;
    let operator = world.cluster.operator(OPERATOR);
    let gone = async || Ok(world.backups.get_opt("backup").await?.is_none());
    let killed = operator.killed_between_writes("the deletion", gone);
    assert!(killed.await? > 0);
    let jobs = world.jobs.list(&ListParams::default()).await?;
    let unowned = jobs.iter().filter(|it| it.owner_references().is_empty());
    let succeeded = unowned.filter_map(|it| it.status.as_ref()?.succeeded);
    assert_eq!(succeeded.sum::<i32>(), 1);
    Ok(())
}

struct World {
    cluster: TestCluster,
    objects: Api<Store>,
    backups: Api<StoreBackup>,
    restores: Api<StoreRestore>,
    jobs: Api<Job>,
}

impl World {
    /// A new cluster that runs Pods.
    async fn start() -> Result<Option<Self>> {
        if env::var_os("KUBEBUILDER_ASSETS").is_some_and(|it| !it.is_empty()) {
            eprintln!("skipped: KUBEBUILDER_ASSETS has no controllers that create Pods");
            return Ok(None);
        }
        let cluster = TestCluster::builder().workloads().start().await?;
        let (client, namespace) = (cluster.client(), cluster.namespace());
        Ok(Some(Self {
            objects: Api::namespaced(client.clone(), namespace),
            backups: Api::namespaced(client.clone(), namespace),
            restores: Api::namespaced(client.clone(), namespace),
            jobs: Api::namespaced(client, namespace),
            cluster,
        }))
    }

    /// Runs the operator with a clock of the test, and creates the object of which there will be backups.
    async fn operator(&self, backups: Value) -> Result<RunningOperator> {
        let operator = self.cluster.operator(OPERATOR).clock(Timestamp::now());
        let mut operator = operator.start().await?;
        let sample = include_str!("../config/samples/test_v1_store.yaml");
        let object: Store = from_yaml("sample", sample);
        self.objects.create(&PostParams::default(), &object).await?;
        let patch = Patch::Merge(json!({ "spec": { "backups": backups } }));
        let merge = PatchParams::default();
        self.objects.patch("sample", &merge, &patch).await?;
        self.settles(&mut operator, 0).await?;
        Ok(operator)
    }

    /// Waits until the object is ready and has this many backups, which have all succeeded.
    async fn settles(&self, operator: &mut RunningOperator, backups: usize) -> Result<()> {
        wait_for("a steady state", async || {
            operator.advance(Duration::from_secs(5))?;
            let all = self.names().await?.len();
            let are_made = all == backups && self.succeeded().await? == backups;
            Ok(are_made && self.is_free().await?)
        })
        .await
    }

    /// Whether the object is ready, and no restore is running.
    async fn is_free(&self) -> Result<bool> {
        let status = self.objects.get("sample").await?.status;
        let status = status.unwrap_or_default();
        Ok(status.restoring.is_none() && status.conditions.is_true("Ready"))
    }

    async fn names(&self) -> Result<Vec<String>> {
        let backups = self.backups.list(&ListParams::default()).await?;
        Ok(backups.iter().map(ResourceExt::name_any).collect())
    }

    async fn succeeded(&self) -> Result<usize> {
        let backups = self.backups.list(&ListParams::default()).await?;
        let statuses = backups.into_iter().filter_map(|it| it.status);
        let succeeded = statuses.filter(|status| status.conditions.is_true("Ready"));
        Ok(succeeded.count())
    }
}
