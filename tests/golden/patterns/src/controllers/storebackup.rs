//! Runs a Job for each StoreBackup, which backs up a Store. When the object is deleted, a second Job deletes
//! the data, whatever has become of the first one.

use std::sync::Arc;

use api::test::v1::{Store, StoreBackup};
use k8s_openapi::api::batch::v1::Job;
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Cleanup, Completion, Conditions, Context, Controller, EventType, Manager, Reconciler,
    Result, job_name,
};

use super::store::image;
use super::store::jobs::{BACK_UP, BackupJob, DELETE, PAUSE, Step, data_of};
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
        .applies_unowned::<Job>()
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
                let image = format!("{}:{}", self.image, target.spec.version);
                // Before the Job is created: once it may have written data, the cleanup knows how to delete them.
                let change = cx.patch_status(|status| status.image = Some(image.clone()));
                change.await?;
                let run = BackupJob {
                    name,
                    image,
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
        let status = object.status.clone().unwrap_or_default();
        let Some(image) = status.image else {
            // No Job was created: there is no data.
            return Ok(Cleanup::Done);
        };
        let job = cx.child::<Job>(&job_name(&object.name_any(), JOB))?;
        if job.is_some_and(|it| !Completion::of(&it).is_final()) {
            // It would write after the deletion.
            return Ok(Cleanup::Pending(PAUSE));
        }
        let name = job_name(&data_of(&object), DELETION);
        let jobs = cx.unowned_objects::<Job>()?;
        let deletion = jobs.iter().find(|it| it.name_any() == name);
        match deletion.map(|it| Completion::of(it)) {
            Some(Completion::Complete) => return Ok(Cleanup::Done),
            Some(Completion::Failed { message, .. }) => {
                let text = format!("{message}; delete the Job {name} to try again at once");
                cx.event(EventType::Warning, "DataNotDeleted", text);
            }
            Some(_) => {}
            None => {
                let run = BackupJob {
                    name,
                    image,
                    command: DELETE,
                    backup: &object,
                    object: None,
                    r#type: None,
                };
                // Without an owner: a deletion in the foreground deletes all that the object owns at once.
                match cx.apply_unowned(run.manifest()?).await {
                    // Nothing can be created any more, so the data stays.
                    Err(error) if error.is_namespace_terminating() => return Ok(Cleanup::Done),
                    applied => drop(applied?),
                }
            }
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
