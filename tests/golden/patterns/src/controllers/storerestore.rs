//! Runs a Job for each StoreRestore, which restores a Store from a backup, while the members are left alone.

use std::sync::Arc;

use api::test::v1::{Store, StoreBackup, StoreRestore};
use k8s_openapi::api::batch::v1::Job;
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Completion, Conditions, Context, Controller, EventType, Manager, ObjectKey, Reconciler,
    Result, job_name,
};

use super::store::backups::{has_succeeded, target};
use super::store::image;
use super::store::jobs::{BackupJob, PAUSE, RESTORE, Step};
use crate::app::App;

/// The condition that reports whether the restore has succeeded.
const READY: &str = "Ready";

/// The suffix of the Job's name.
const JOB: &str = "storerestore";

struct StoreRestoreReconciler {
    image: String,
}

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    let reconciler = StoreRestoreReconciler { image: image() };
    controller().register(manager, reconciler)
}

fn controller() -> Controller<StoreRestore> {
    Controller::new("storerestore")
        .owns::<Job>()
        .watches::<Store>(restoring)
        // Read from the cache. Changes wake nothing.
        .watches::<StoreBackup>(|_| Vec::new())
}

/// The restore that the target is ready for.
fn restoring(object: &Store) -> Vec<ObjectKey> {
    let status = object.status.as_ref();
    let name = status.and_then(|status| status.restoring.as_deref());
    name.iter().map(|name| target(object, name)).collect()
}

/// The next step, as a pure function of what is observed.
fn next(object: &StoreRestore, seen: &Seen, job: Option<&Job>) -> Step {
    let status = object.status.clone().unwrap_or_default();
    let target = seen.target.as_ref().and_then(|it| it.status.clone());
    let backup = seen.backup.as_ref().and_then(|it| has_succeeded(it));
    let obstacle = match (target, backup) {
        (None, _) => Some("the target does not exist yet"),
        (_, None | Some(false)) => Some("the backup has not succeeded"),
        (Some(it), _) if it.restoring != object.metadata.name => Some("the target has other work"),
        _ => None,
    };
    let has_ended = status.completion_time.is_some();
    Step::of(has_ended, job, obstacle.map(str::to_owned))
}

/// The objects that a restore names.
#[derive(Clone, Default)]
struct Seen {
    target: Option<Arc<Store>>,
    backup: Option<Arc<StoreBackup>>,
}

impl Reconciler<StoreRestore> for StoreRestoreReconciler {
    async fn reconcile(
        &self,
        cx: &Context<StoreRestore>,
        object: Arc<StoreRestore>,
    ) -> Result<Action> {
        let seen = Seen {
            target: cx.get(&object.spec.target)?,
            backup: cx.get(&object.spec.backup)?,
        };
        let name = job_name(&object.name_any(), JOB);
        let job = cx.child::<Job>(&name)?;
        let step = next(&object, &seen, job.as_deref());
        match (&step, &seen.target, &seen.backup) {
            (Step::Rest, ..) => return Ok(Action::Done),
            (Step::Run, Some(target), Some(backup)) => {
                let run = BackupJob {
                    name,
                    image: format!("{}:{}", self.image, target.spec.version),
                    command: RESTORE,
                    backup,
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
}

#[cfg(test)]
mod tests {
    use kubewright_runtime::{condition, testing::from_yaml};

    use super::*;

    /// A restore, and a target and a backup that are ready for it.
    fn ready() -> (StoreRestore, Seen) {
        let sample = include_str!("../../config/samples/test_v1_storerestore.yaml");
        let object: StoreRestore = from_yaml("sample", sample);
        let sample = include_str!("../../config/samples/test_v1_store.yaml");
        let mut target: Store = from_yaml("sample", sample);
        let status = target.status.get_or_insert_default();
        status.restoring = object.metadata.name.clone();
        let sample = include_str!("../../config/samples/test_v1_storebackup.yaml");
        let mut backup: StoreBackup = from_yaml("sample", sample);
        let status = backup.status.get_or_insert_default();
        let complete = condition("Ready", true, "Complete", "");
        status.completion_time = Some(complete.last_transition_time.clone());
        status.conditions.set(complete);
        let seen = Seen {
            target: Some(Arc::new(target)),
            backup: Some(Arc::new(backup)),
        };
        (object, seen)
    }

    #[test]
    fn a_restore_waits_for_its_backup_and_until_the_target_is_ready_for_it() {
        let (mut object, seen) = ready();
        assert_eq!(next(&object, &seen, None), Step::Run);
        let no_target = Seen {
            target: None,
            ..seen.clone()
        };
        assert!(matches!(next(&object, &no_target, None), Step::Wait(_)));
        let no_backup = Seen {
            backup: None,
            ..seen.clone()
        };
        assert!(matches!(next(&object, &no_backup, None), Step::Wait(_)));
        object.metadata.name = Some("another".to_owned());
        assert!(matches!(next(&object, &seen, None), Step::Wait(_)));
    }

    #[test]
    fn data_is_restored_once() {
        let (mut object, seen) = ready();
        let job = Job::default();
        let running = Step::Follow(Completion::Running);
        assert_eq!(next(&object, &Seen::default(), Some(&job)), running);
        let status = object.status.get_or_insert_default();
        let ready = condition("Ready", true, "Complete", "");
        status.completion_time = Some(ready.last_transition_time);
        assert_eq!(next(&object, &seen, None), Step::Rest);
    }
}
