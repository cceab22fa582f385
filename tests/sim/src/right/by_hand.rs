//! Operators that send their requests with kube alone.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions},
};
use kubewright_runtime::{Action, Cleanup, Context, Controller, Error, Manager, Reconciler, Result};
use serde_json::json;

use super::child;
use crate::{
    FooBar,
    wrong::{alone, maps, owned, ready, write},
};

/// The cache has all ConfigMaps, because these operators write children without the runtime's label.
fn caching(manager: &Manager, reconciler: impl Reconciler<FooBar>) -> Result<()> {
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .caches_all::<ConfigMap>()
        .register(manager, reconciler)
}

pub(super) fn replaces(manager: &Manager) -> Result<()> {
    caching(manager, Replaces)
}

struct Replaces;

impl Reconciler<FooBar> for Replaces {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        keep(cx, owned(&object, "foobar")).await?;
        ready(cx, &object).await
    }
}

/// Creates a child, or replaces what differs and keeps the rest. A child of an earlier object of the name is about to be
/// deleted.
async fn keep(cx: &Context<FooBar>, wanted: ConfigMap) -> Result<()> {
    let (maps, name) = (maps(cx), wanted.name_any());
    match maps.get_opt(&name).await? {
        None => drop(maps.create(&PostParams::default(), &wanted).await?),
        Some(present) if present.owner_references() != wanted.owner_references() => {
            return Err(Error::retry(format!("`{name}` has another owner")));
        }
        Some(mut present) if present.data != wanted.data => {
            present.data = wanted.data;
            maps.replace(&name, &PostParams::default(), &present).await?;
        }
        Some(_) => {}
    }
    Ok(())
}

pub(super) fn merges(manager: &Manager) -> Result<()> {
    caching(manager, Merges)
}

struct Merges;

impl Reconciler<FooBar> for Merges {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let wanted = owned(&object, "foobar");
        let (maps, name) = (maps(cx), wanted.name_any());
        match maps.create(&PostParams::default(), &wanted).await {
            Err(kube::Error::Api(status)) if status.code == 409 => {
                // The uid of the owner makes sure that it is not the child of an earlier object.
                let present = maps.get(&name).await?;
                if present.owner_references() != wanted.owner_references() {
                    return Err(Error::retry(format!("`{name}` has another owner")));
                }
                let merge = json!({"metadata": {"uid": present.uid()}, "data": data_patch(&present, &wanted)});
                maps.patch(&name, &PatchParams::default(), &Patch::Merge(merge)).await?;
            }
            created => drop(created?),
        }
        ready(cx, &object).await
    }
}

/// The wanted data as a merge patch, which also removes what is there in addition.
fn data_patch(present: &ConfigMap, wanted: &ConfigMap) -> BTreeMap<String, Option<String>> {
    let surplus = present.data.iter().flatten().map(|(name, _)| (name.clone(), None));
    let kept = wanted.data.iter().flatten();
    let kept = kept.map(|(name, text)| (name.clone(), Some(text.clone())));
    surplus.chain(kept).collect()
}

pub(super) fn polls(manager: &Manager) -> Result<()> {
    alone(manager, Polls)
}

struct Polls;

impl Reconciler<FooBar> for Polls {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        keep(cx, owned(&object, "foobar")).await?;
        ready(cx, &object).await?;
        Ok(Action::RequeueAfter(Duration::from_secs(30)))
    }
}

pub(super) fn skips(manager: &Manager) -> Result<()> {
    caching(manager, Skips)
}

struct Skips;

impl Reconciler<FooBar> for Skips {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let wanted = child(&object, "foobar");
        let status = object.status.clone().unwrap_or_default();
        let is_observed = status.observed_generation == object.metadata.generation && !status.conditions.is_empty();
        let present = cx.child::<ConfigMap>(&wanted.name_any())?;
        if is_observed && present.is_some_and(|present| present.data == wanted.data) {
            return Ok(Action::Done);
        }
        cx.apply_child(wanted).await?;
        ready(cx, &object).await
    }
}

pub(super) fn generated(manager: &Manager) -> Result<()> {
    caching(manager, Generated)
}

/// Looks for its child by its owner, on the API server. A create whose answer is lost may leave two children, of which the
/// first one stays.
struct Generated;

impl Reconciler<FooBar> for Generated {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let (maps, mut wanted) = (maps(cx), owned(&object, "foobar"));
        let is_its = |map: &ConfigMap| {
            map.owner_references()
                .iter()
                .any(|owner| Some(&owner.uid) == object.uid().as_ref())
        };
        let mut present = maps.list(&ListParams::default()).await?.items;
        present.retain(|map| is_its(map) && map.metadata.deletion_timestamp.is_none());
        for surplus in present.iter().skip(1) {
            delete(&maps, surplus).await?;
        }
        match present.first() {
            None => {
                wanted.metadata.name = None;
                wanted.metadata.generate_name = Some(format!("{}-", object.name_any()));
                maps.create(&PostParams::default(), &wanted).await?;
            }
            Some(first) if first.data != wanted.data => {
                let merge = Patch::Merge(json!({"data": data_patch(first, &wanted)}));
                maps.patch(&first.name_any(), &PatchParams::default(), &merge).await?;
            }
            Some(_) => {}
        }
        ready(cx, &object).await
    }
}

/// Deletes this object, if it is still the same one.
async fn delete(maps: &Api<ConfigMap>, map: &ConfigMap) -> Result<()> {
    let params = DeleteParams::default().preconditions(Preconditions {
        uid: map.uid(),
        ..Preconditions::default()
    });
    match maps.delete(&map.name_any(), &params).await {
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        deleted => deleted.map(drop).map_err(Into::into),
    }
}

pub(super) fn external(manager: &Manager) -> Result<()> {
    alone(manager, External)
}

/// An unwatched object without an owner stands for what is outside of the cluster.
struct External;

impl Reconciler<FooBar> for External {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/cleanup")
    }

    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        // After a restart the cache may contain an object that is gone.
        let Some(object) = cx.live().await? else {
            return Ok(Action::Done);
        };
        let wanted = child(&object, "external");
        let present = maps(cx).get_opt(&wanted.name_any()).await?;
        if present.is_none_or(|present| present.data != wanted.data) {
            write(cx, &wanted).await?;
        }
        ready(cx, &object).await?;
        Ok(Action::RequeueAfter(Duration::from_secs(30)))
    }

    async fn cleanup(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Cleanup> {
        let name = child(&object, "external").name_any();
        match maps(cx).delete(&name, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(Cleanup::Done),
            deleted => deleted.map(|_| Cleanup::Done).map_err(Into::into),
        }
    }
}
