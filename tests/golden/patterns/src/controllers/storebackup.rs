//! Runs a Job for each StoreBackup, which backs up a Store. When the object is deleted, a second Job deletes
//! the data.

use std::sync::Arc;

use api::test::v1::{Store, StoreBackup};
use k8s_openapi::api::batch::v1::Job;
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Cleanup, Completion, Conditions, Context, Controller, EventType, Manager, Reconciler,
    Result, job_name,
};

use super::store::image;
use super::store::jobs::{BACK_UP, BackupJob, DELETE, PAUSE, Step, image_of};
use crate::app::App;

/// Keeps a deleted object until `cleanup` is done.
const FINALIZER: &str = "test.example.com/cleanup";

/// The condition that reports whether the backup has succeeded.
const READY: &str = "Ready";

/// The suffixes of the names of the Jobs.
const JOB: &str = "storebackup";
const DELETION: &str = "storebackup-delete";

struct StoreBackupReconciler {
    image: String,
}

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    let reconciler = StoreBackupReconciler { image: image() };
    controller().register(manager, reconciler)
}

fn controller() -> Controller<StoreBackup> {
    Controller::new("storebackup")
        .owns::<Job>()
        // Read from the cache. Changes wake nothing.
        .watches::<Store>(|_| Vec::new())
}

/// The next step, as a pure function of what is observed.
fn next(object: &StoreBackup, target: Option<&Store>, job: Option<&Job>) -> Step {
    let status = object.status.clone().unwrap_or_default();
    let members = target.and_then(|it| it.status.clone());
    let obstacle = match members {
        None => Some("the target does not exist yet"),
        Some(it) if it.restoring.is_some() => Some("the target is being restored"),
        Some(it) if !it.conditions.is_true("Available") => Some("the target is not available"),
        Some(_) => None,
    };
    let has_ended = status.completion_time.is_some();
    Step::of(has_ended, job, obstacle.map(str::to_owned))
}

impl Reconciler<StoreBackup> for StoreBackupReconciler {
    fn finalizer(&self) -> Option<&str> {
        Some(FINALIZER)
    }

    async fn reconcile(
        &self,
        cx: &Context<StoreBackup>,
        object: Arc<StoreBackup>,
    ) -> Result<Action> {
        let target = cx.get::<Store>(&object.spec.target)?;
        let name = job_name(&object.name_any(), JOB);
        let job = cx.child::<Job>(&name)?;
        let step = next(&object, target.as_deref(), job.as_deref());
        match (&step, &target) {
            (Step::Rest, _) => return Ok(Action::Done),
            (Step::Run, Some(target)) => {
                let run = BackupJob {
                    name,
                    image: format!("{}:{}", self.image, target.spec.version),
                    command: BACK_UP,
                    backup: &object,
                    object: Some(target),
                    r#type: object.spec.r#type.as_deref(),
                };
                cx.create_once(run.manifest()?).await?;
                cx.event(EventType::Normal, "Created", "created the Job");
            }
            _ => {}
        }
        let (reason, text) = step.reason();
        let has_succeeded = step == Step::Follow(Completion::Complete);
        let ready = cx.condition(READY, has_succeeded, reason, text);
        let end = ready.last_transition_time.clone();
        let change = cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.completion_time = step.is_final().then_some(end);
            status.conditions.set(ready);
        });
        change.await?;
        match step {
            Step::Wait(_) => Ok(Action::At(cx.now() + PAUSE)),
            _ => Ok(Action::Done),
        }
    }

    // Runs instead of `reconcile` once the object is deleted.
    async fn cleanup(
        &self,
        cx: &Context<StoreBackup>,
        object: Arc<StoreBackup>,
    ) -> Result<Cleanup> {
        let name = job_name(&object.name_any(), JOB);
        let Some(job) = cx.child::<Job>(&name)? else {
            // There is no data.
            return Ok(Cleanup::Done);
        };
        let name = job_name(&object.name_any(), DELETION);
        let deletion = cx.child::<Job>(&name)?;
        match deletion.map(|it| Completion::of(&it)) {
            Some(Completion::Complete) => return Ok(Cleanup::Done),
            Some(Completion::Failed { message, .. }) => {
                let text = format!("{message}; delete the Job {name} to try again");
                cx.event(EventType::Warning, "DataNotDeleted", text);
            }
            // A backup that still runs would write after the deletion.
            None if Completion::of(&job).is_final() => {
                let run = BackupJob {
                    name,
                    image: image_of(&job).unwrap_or_default(),
                    command: DELETE,
                    backup: &object,
                    object: None,
                    r#type: None,
                };
                cx.create_once(run.manifest()?).await?;
            }
            _ => {}
        }
        Ok(Cleanup::Pending(PAUSE))
    }
}

#[cfg(test)]
mod tests {
    use kubewright_runtime::{condition, testing::from_yaml};

    use super::*;

    fn object() -> StoreBackup {
        let sample = include_str!("../../config/samples/test_v1_storebackup.yaml");
        from_yaml("sample", sample)
    }

    /// The target, available.
    fn target() -> Store {
        let sample = include_str!("../../config/samples/test_v1_store.yaml");
        let mut target: Store = from_yaml("sample", sample);
        let status = target.status.get_or_insert_default();
        let available = condition("Available", true, "Members", "");
        status.conditions.set(available);
        target
    }

    #[test]
    fn a_backup_waits_for_members_that_serve_and_are_not_being_restored() {
        let (object, mut target) = (object(), target());
        assert!(matches!(next(&object, None, None), Step::Wait(_)));
        assert_eq!(next(&object, Some(&target), None), Step::Run);
        let status = target.status.get_or_insert_default();
        status.restoring = Some("restore".to_owned());
        assert!(matches!(next(&object, Some(&target), None), Step::Wait(_)));
        target.status = None;
        assert!(matches!(next(&object, Some(&target), None), Step::Wait(_)));
    }

    #[test]
    fn a_backup_is_made_once_whatever_becomes_of_its_target() {
        let mut object = object();
        let job = Job::default();
        let running = Step::Follow(Completion::Running);
        assert_eq!(next(&object, None, Some(&job)), running);
        let status = object.status.get_or_insert_default();
        let ready = condition("Ready", true, "Complete", "");
        status.completion_time = Some(ready.last_transition_time);
        assert_eq!(next(&object, Some(&target()), None), Step::Rest);
    }
}
