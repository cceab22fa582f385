//! Runs an image with storage for each Store: members of a StatefulSet, which are upgraded and scaled one by one.
//!
//! A reconcile applies the children, looks at the members, decides on one step, and takes it. Every state is in the
//! cluster and none in this process, so the operator may be killed between any two lines.

pub mod backups;
mod children;
mod decide;
pub mod jobs;
mod look;
mod members;
mod take;

use std::{env, sync::Arc, time::Duration};

use api::test::v1::{Store, StoreBackup, StoreRestore};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Cleanup, Conditions, Context, Controller, Error, Manager, Reconciler, Result,
    stateful_set_name,
};

use self::backups::{BACKUPS, RESTORES, indexed, target};
use self::decide::{Observed, Step};
use self::members::{Members, ReadyPods};
use crate::app::App;

/// Keeps a deleted object until `cleanup` is done.
const FINALIZER: &str = "test.example.com/cleanup";

/// The default image, tested with this release of the operator. The tag is the version of the spec.
const IMAGE: &str = "registry.k8s.io/pause";

/// The environment variable that replaces the image, for example by one from a mirror.
const IMAGE_VARIABLE: &str = "STORE_IMAGE";

/// The plural of backups.
const BACKUP_KINDS: &[&str] = &["storebackups"];

/// The condition that reports whether the cluster matches the spec.
const READY: &str = "Ready";

/// The condition that reports whether most members are healthy.
const AVAILABLE: &str = "Available";

/// The intervals at which members are polled, during work and without: members send no notifications.
const WORKING: Duration = Duration::from_secs(5);
const STEADY: Duration = Duration::from_secs(60);

struct StoreReconciler<M> {
    image: String,
    members: M,
}

pub fn register(manager: &Manager, _app: &App) -> Result<()> {
    let reconciler = StoreReconciler {
        image: image(),
        members: ReadyPods,
    };
    controller().register(manager, reconciler)
}

/// The image of the members, without its tag.
pub fn image() -> String {
    env::var(IMAGE_VARIABLE).unwrap_or_else(|_| IMAGE.to_owned())
}

/// The name of the StatefulSet and of most other children.
pub fn name_of(object: &Store) -> String {
    stateful_set_name(&object.name_any(), "store")
}

fn controller() -> Controller<Store> {
    Controller::new("store")
        .owns::<StatefulSet>()
        .owns::<Service>()
        .owns::<ConfigMap>()
        .owns::<Secret>()
        .owns::<PodDisruptionBudget>()
        // Pods and claims belong to the StatefulSet. They are listed in each reconcile, and not cached.
        .rule(&[""], &["pods"], &["list", "delete"])
        .rule(&[""], &["persistentvolumeclaims"], &["list", "patch"])
        .rule(&[""], &["persistentvolumeclaims"], &["delete"])
        // Claim templates cannot be changed: to grow claims, the StatefulSet is deleted without its Pods, and created again.
        .rule(&["apps"], &["statefulsets"], &["delete"])
        // Backups and restores outlive the object, so it does not own them.
        .watches::<StoreBackup>(|it| vec![target(it, &it.spec.target)])
        .watches::<StoreRestore>(|it| vec![target(it, &it.spec.target)])
        .index(BACKUPS, |it: &StoreBackup| indexed(it, &it.spec.target))
        .index(RESTORES, |it: &StoreRestore| indexed(it, &it.spec.target))
        .rule(&["test.example.com"], BACKUP_KINDS, &["create", "delete"])
}

impl<M: Members> Reconciler<Store> for StoreReconciler<M> {
    fn finalizer(&self) -> Option<&str> {
        Some(FINALIZER)
    }

    async fn reconcile(&self, cx: &Context<Store>, object: Arc<Store>) -> Result<Action> {
        let work = self.work(cx, &object);
        if !object.spec.paused {
            work.apply_children().await?;
        }
        let seen = work.look().await?;
        let step = decide::next(&object.spec, &seen);
        // A step that fails must not hide the state of the members.
        let taken = work.take(&step, &seen).await;
        work.report(&step, &seen, taken.as_ref().err()).await?;
        taken?;
        let pause = if step.is_work() { WORKING } else { STEADY };
        Ok(Action::At(cx.now() + pause))
    }

    // Runs instead of `reconcile` once the object is deleted. Its children are still there, unless it was deleted in the
    // foreground.
    async fn cleanup(&self, cx: &Context<Store>, object: Arc<Store>) -> Result<Cleanup> {
        let Some(mut text) = backups::last(cx, &object).await? else {
            return Ok(Cleanup::Done);
        };
        // The backup waits until the status says that it can be made.
        let work = self.work(cx, &object);
        let seen = work.look().await?;
        if seen.set.is_none() {
            text = "its members are gone: set spec.backups.onDeletion to false";
        }
        let ready = cx.condition(READY, false, "BackingUp", text);
        let available = work.available(&seen);
        let change = cx.patch_status(|status| {
            status.restoring = seen.restoring.clone();
            status.conditions.set(ready);
            status.conditions.set(available);
        });
        change.await?;
        Ok(Cleanup::Pending(WORKING))
    }
}

impl<M> StoreReconciler<M> {
    fn work<'a>(&'a self, cx: &'a Context<Store>, object: &'a Store) -> Work<'a, M> {
        Work {
            cx,
            object,
            name: name_of(object),
            image: &self.image,
            members: &self.members,
        }
    }
}

/// One reconcile of one object.
struct Work<'a, M> {
    cx: &'a Context<Store>,
    object: &'a Store,
    /// The name of the StatefulSet and of most other children.
    name: String,
    image: &'a str,
    members: &'a M,
}

impl<M> Work<'_, M> {
    async fn report(&self, step: &Step, seen: &Observed, failure: Option<&Error>) -> Result<()> {
        let ready = match step {
            Step::Done => Some(true),
            Step::Paused => None,
            _ => Some(false),
        };
        let text = match failure {
            Some(failure) => format!("{step}: {failure}"),
            None => step.to_string(),
        };
        let ready = self.cx.condition(READY, ready, step.phase(), text);
        let available = self.available(seen);
        let (healthy, all) = (seen.healthy(), seen.members.len());
        // The patch is sent only if it changes something.
        let change = self.cx.patch_status(|status| {
            status.observed_generation = self.object.metadata.generation;
            status.phase = Some(step.phase().to_owned());
            if *step == Step::Done {
                status.version = Some(self.object.spec.version.clone());
            }
            status.members = all as i32;
            status.ready_members = healthy as i32;
            status.selector = Some(self.selector());
            status.restoring = match step {
                Step::Restore(name) => Some(name.clone()),
                _ => seen.restoring.clone(),
            };
            status.conditions.set(ready);
            status.conditions.set(available);
        });
        change.await?;
        Ok(())
    }

    fn available(&self, seen: &Observed) -> Condition {
        let (healthy, all) = (seen.healthy(), seen.members.len());
        let text = format!("{healthy} of {all} members are healthy");
        let most = healthy * 2 > all;
        self.cx.condition(AVAILABLE, most, "Members", text)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use k8s_openapi::api::apps::v1::StatefulSetStatus;
    use k8s_openapi::api::core::v1::Pod;
    use kube::api::ObjectMeta;
    use kubewright_runtime::testing::{Rehearsal, Rehearsed, from_yaml};

    use super::*;

    const NAME: &str = "sample-store";

    /// Healthy members that cannot leave.
    struct Bound;

    impl Members for Bound {
        async fn problem(&self, _: &str, _: &Pod) -> Option<String> {
            None
        }

        async fn add(&self, _: &str) -> Result<()> {
            Ok(())
        }

        async fn remove(&self, host: &str) -> Result<()> {
            assert!(host.starts_with(&format!("{NAME}-2.{NAME}-members.")));
            Err(Error::retry("its data has not been moved"))
        }
    }

    async fn reconcile(rehearsal: Rehearsal, object: Store) -> Result<Rehearsed> {
        let reconciler = StoreReconciler {
            image: "image".to_owned(),
            members: Bound,
        };
        rehearsal.reconcile(controller(), reconciler, object).await
    }

    fn pod(ordinal: i32, labels: Option<BTreeMap<String, String>>) -> Pod {
        Pod {
            metadata: ObjectMeta {
                name: Some(format!("{NAME}-{ordinal}")),
                labels,
                ..ObjectMeta::default()
            },
            ..Pod::default()
        }
    }

    #[tokio::test]
    async fn a_member_that_cannot_leave_is_not_stopped() -> Result<()> {
        let sample = include_str!("../../config/samples/test_v1_store.yaml");
        let played = reconcile(Rehearsal::new(), from_yaml("sample", sample)).await?;
        let mut set: StatefulSet = played.object(NAME).expect("a StatefulSet");
        set.status = Some(StatefulSetStatus {
            observed_generation: set.metadata.generation,
            ..StatefulSetStatus::default()
        });
        let mut object: Store = played.object("sample").expect("it is there");
        object.spec.members = 2;
        let template = set.spec.template.clone();
        let labels = template.metadata.unwrap_or_default().labels;
        let mut later = played.later(WORKING).with(set);
        for ordinal in 0..3 {
            later = later.with(pod(ordinal, labels.clone()));
        }
        let played = reconcile(later, object).await?;
        assert!(played.result.is_err());
        let object: Store = played.object("sample").expect("it is there");
        let conditions = object.status.expect("a status").conditions;
        let ready = conditions.find(READY).expect("a condition");
        assert!(ready.message.ends_with("its data has not been moved"));
        let set: StatefulSet = played.object(NAME).expect("a StatefulSet");
        assert_eq!(set.spec.replicas, Some(3));
        Ok(())
    }
}
