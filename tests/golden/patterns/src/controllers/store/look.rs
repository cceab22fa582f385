//! Reads what a decision needs: Pods and claims from the API server, because they must show the last step; other objects from the
//! cache.

use std::sync::Arc;

use api::test::v1::{StoreBackup, StoreRestore};
use k8s_openapi::api::apps::v1::{StatefulSet, StatefulSetStatus};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::api::ListParams;
use kube::{Resource, ResourceExt};
use kubewright_runtime::{Result, quantity_value};

use super::Work;
use super::backups::{self, BACKUPS, Backups, RESTORES, has_succeeded, restore};
use super::children::Shape;
use super::decide::{Member, Observed, Set, Volume};
use super::members::Members;

/// The label of a Pod with the revision of the StatefulSet that it was made of.
const REVISION: &str = "controller-revision-hash";

impl<M: Members> Work<'_, M> {
    pub async fn look(&self) -> Result<Observed> {
        let list = ListParams::default().labels(&self.selector());
        let pods = self.pods().list(&list).await?.items;
        let claims = self.claims().list(&list).await?.items;
        let key = self.cx.key().to_string();
        let made = self.cx.by_index::<StoreBackup>(BACKUPS, &key)?;
        let restores = self.cx.by_index::<StoreRestore>(RESTORES, &key)?;
        // A restore of another object may need a backup of this one.
        let needed = backups::needed(&self.cx.list::<StoreRestore>()?);
        let now = self.cx.now();
        let mut backups = Backups::of(self.object, &made, &needed, now);
        if let Some(at) = backups.due {
            let name = backups::name(self.object, at);
            let taken = self.cx.get::<StoreBackup>(&name)?;
            backups.due = taken.is_none().then_some(at);
        }
        // Also one of another object.
        let has_data = |name: &str| {
            let backup: Option<Arc<StoreBackup>> = self.cx.get(name).ok().flatten();
            backup.is_some_and(|it| has_succeeded(&it) == Some(true))
        };
        let status = self.object.status.as_ref();
        let restoring = status.and_then(|it| it.restoring.clone());
        let mut started = restores.clone();
        started.retain(|it| Some(it.name_any()) == restoring);
        let after = pods.iter().filter_map(|pod| self.after(pod));
        let mut seen = Observed {
            pods: after.max().unwrap_or(0),
            backups,
            restore: restore(&restores, has_data),
            restoring: restore(&started, has_data),
            ..Observed::default()
        };
        let set = self.cx.child::<StatefulSet>(&self.name)?;
        let set = set.unwrap_or_default();
        let Some(shape) = Shape::of(&set) else {
            return Ok(seen);
        };
        let status = set.status.clone().unwrap_or_default();
        let wanted = &self.object.spec.storage.size;
        seen.set = Some(Set {
            is_observed: status.observed_generation == set.metadata.generation,
            fits_storage: !is_less(Some(shape.storage), wanted),
        });
        for ordinal in 0..shape.members {
            let claim = named(&claims, &self.claim(ordinal));
            let volume = claim.map_or(Volume::Fits, |claim| volume(claim, wanted));
            let pod = named(&pods, &self.pod(ordinal));
            let member = Member {
                ordinal,
                volume,
                ..self.member(ordinal, pod, &status).await
            };
            seen.members.push(match volume {
                Volume::Lost => member.with("has lost its volume"),
                _ => member,
            });
        }
        Ok(seen)
    }

    /// The next ordinal after the Pod of a member.
    fn after(&self, pod: &Pod) -> Option<i32> {
        let (name, ordinal) = pod.metadata.name.as_deref()?.rsplit_once('-')?;
        let ordinal: i32 = ordinal.parse().ok().filter(|_| name == self.name)?;
        ordinal.checked_add(1)
    }

    async fn member(&self, ordinal: i32, pod: Option<&Pod>, status: &StatefulSetStatus) -> Member {
        let Some(pod) = pod else {
            return Member::default().with("has no Pod");
        };
        if pod.metadata.deletion_timestamp.is_some() {
            return Member::default().with("is stopping");
        }
        Member {
            pod: pod.uid(),
            outdated: pod.labels().get(REVISION) != status.update_revision.as_ref(),
            problem: self.members.problem(&self.host(ordinal), pod).await,
            ..Member::default()
        }
    }
}

fn named<'a, K: Resource>(objects: &'a [K], name: &str) -> Option<&'a K> {
    let mut objects = objects.iter();
    objects.find(|object| object.meta().name.as_deref() == Some(name))
}

fn volume(claim: &PersistentVolumeClaim, wanted: &Quantity) -> Volume {
    let status = claim.status.clone().unwrap_or_default();
    let resources = claim.spec.clone().and_then(|spec| spec.resources);
    let requests = resources.and_then(|it| it.requests).unwrap_or_default();
    let capacity = status.capacity.unwrap_or_default();
    match status.phase.as_deref() {
        Some("Lost") => Volume::Lost,
        _ if is_less(requests.get("storage"), wanted) => Volume::Small,
        Some("Bound") if is_less(capacity.get("storage"), wanted) => Volume::Growing,
        _ => Volume::Fits,
    }
}

/// Compares amounts: a size has several forms, as `1Gi` and `1024Mi`.
fn is_less(size: Option<&Quantity>, wanted: &Quantity) -> bool {
    size.and_then(quantity_value) < quantity_value(wanted)
}
