//! More wrong operators: mistakes about memory, about writes to children, and about objects of others.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use kubewright_apiserver::dev::sim::Oracle;
use kubewright_runtime::{Action, Context, Reconciler, Result};
use serde_json::json;

use crate::{
    FooBar,
    right::child,
    wrong::{Wrong, alone, foobars, maps, owned, owning, ready, write, wrong},
};

/// All of them.
pub const ALL: [Wrong; 12] = [
    wrong(
        "takes an existing child for a correct one",
        |m| owning(m, CreatesOnly),
        Oracle::State,
    ),
    wrong(
        "marks each object of its namespace",
        |m| alone(m, MarksAll),
        Oracle::Foreign,
    ),
    wrong(
        "deletes what has no owner",
        |m| alone(m, DeletesOwnerless),
        Oracle::Foreign,
    ),
    wrong(
        "removes annotations that it does not know",
        |m| alone(m, TidiesAnnotations),
        Oracle::Foreign,
    ),
    wrong(
        "replaces its child as a whole",
        |m| owning(m, Replaces),
        Oracle::Foreign,
    ),
    wrong("reads in a loop", |m| alone(m, Polls), Oracle::HotLoop),
    wrong(
        "remembers the names of its children",
        |m| owning(m, RemembersNames::default()),
        Oracle::State,
    ),
    wrong(
        "names its child after the time",
        |m| owning(m, NamesByTime),
        Oracle::State,
    ),
    wrong(
        "remembers the uid of its owner",
        |m| alone(m, RemembersUid::default()),
        Oracle::State,
    ),
    wrong(
        "keeps children of earlier specs",
        |m| owning(m, KeepsEarlier),
        Oracle::State,
    ),
    wrong(
        "writes the status once for each generation",
        |m| owning(m, StatusOnce::default()),
        Oracle::State,
    ),
    wrong(
        "counts its writes in the status",
        |m| owning(m, CountsWrites),
        Oracle::State,
    ),
];

struct CreatesOnly;

impl Reconciler<FooBar> for CreatesOnly {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let outcome = maps(cx).create(&PostParams::default(), &owned(&object, "foobar")).await;
        match outcome {
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            outcome => drop(outcome?),
        }
        ready(cx, &object).await
    }
}

struct MarksAll;

impl Reconciler<FooBar> for MarksAll {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let mark = Patch::Merge(json!({"metadata": {"annotations": {"test.example.com/seen": "true"}}}));
        for map in maps(cx).list(&ListParams::default()).await?.items {
            maps(cx).patch(&map.name_any(), &PatchParams::default(), &mark).await?;
        }
        Ok(Action::Done)
    }
}

struct DeletesOwnerless;

impl Reconciler<FooBar> for DeletesOwnerless {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        write(cx, &owned(&object, "foobar")).await?;
        for map in maps(cx).list(&ListParams::default()).await?.items {
            if map.owner_references().is_empty() {
                maps(cx).delete(&map.name_any(), &DeleteParams::default()).await?;
            }
        }
        Ok(Action::RequeueAfter(Duration::from_secs(30)))
    }
}

struct TidiesAnnotations;

impl Reconciler<FooBar> for TidiesAnnotations {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        if !object.annotations().is_empty() {
            let mut tidy = FooBar::clone(&object);
            tidy.metadata.annotations = None;
            foobars(cx)
                .replace(&object.name_any(), &PostParams::default(), &tidy)
                .await?;
        }
        Ok(Action::RequeueAfter(Duration::from_secs(30)))
    }
}

struct Replaces;

impl Reconciler<FooBar> for Replaces {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let mut wanted = owned(&object, "foobar");
        let name = wanted.name_any();
        match maps(cx).get_opt(&name).await? {
            None => drop(maps(cx).create(&PostParams::default(), &wanted).await?),
            Some(present) if present.data != wanted.data || !present.annotations().is_empty() => {
                wanted.metadata.resource_version = present.resource_version();
                maps(cx).replace(&name, &PostParams::default(), &wanted).await?;
            }
            Some(_) => {}
        }
        ready(cx, &object).await?;
        Ok(Action::RequeueAfter(Duration::from_secs(30)))
    }
}

struct Polls;

impl Reconciler<FooBar> for Polls {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        cx.live().await?;
        Ok(Action::RequeueAfter(Duration::from_millis(1)))
    }
}

#[derive(Default)]
struct RemembersNames(Mutex<BTreeMap<String, String>>);

impl Reconciler<FooBar> for RemembersNames {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let uid = object.uid().unwrap_or_default();
        let known = self.0.lock().ok().and_then(|names| names.get(&uid).cloned());
        let mut wanted = owned(&object, "foobar");
        let name = match known {
            Some(name) => {
                wanted.metadata.name = Some(name.clone());
                write(cx, &wanted).await?;
                name
            }
            None => {
                wanted.metadata.name = None;
                wanted.metadata.generate_name = Some("sample-".to_owned());
                maps(cx).create(&PostParams::default(), &wanted).await?.name_any()
            }
        };
        if let Ok(mut names) = self.0.lock() {
            names.insert(uid, name);
        }
        ready(cx, &object).await
    }
}

struct NamesByTime;

impl Reconciler<FooBar> for NamesByTime {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let uid = object.uid().unwrap_or_default();
        let maps = maps(cx);
        let present = maps.list(&ListParams::default()).await?.items;
        let is_its = |map: &&ConfigMap| map.owner_references().iter().any(|owner| owner.uid == uid);
        let name = present.iter().find(is_its).map(ResourceExt::name_any);
        let name = name.unwrap_or_else(|| format!("sample-{}", cx.now().as_second()));
        let mut wanted = owned(&object, "foobar");
        wanted.metadata.name = Some(name);
        write(cx, &wanted).await?;
        ready(cx, &object).await
    }
}

#[derive(Default)]
struct RemembersUid(Mutex<BTreeMap<String, String>>);

impl Reconciler<FooBar> for RemembersUid {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let uid = object.uid().unwrap_or_default();
        let known = self.0.lock().ok();
        let known = known.map(|mut uids| uids.entry(object.name_any()).or_insert(uid).clone());
        let mut wanted = owned(&object, "foobar");
        for owner in wanted.metadata.owner_references.iter_mut().flatten() {
            owner.uid = known.clone().unwrap_or_default();
        }
        write(cx, &wanted).await?;
        ready(cx, &object).await
    }
}

struct KeepsEarlier;

impl Reconciler<FooBar> for KeepsEarlier {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        cx.apply_child(child(&object, &object.spec.target)).await?;
        ready(cx, &object).await
    }
}

#[derive(Default)]
struct StatusOnce(Mutex<BTreeMap<String, Option<i64>>>);

impl Reconciler<FooBar> for StatusOnce {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        cx.apply_child(child(&object, "foobar")).await?;
        let (uid, generation) = (object.uid().unwrap_or_default(), object.metadata.generation);
        let is_written = self
            .0
            .lock()
            .is_ok_and(|written| written.get(&uid) == Some(&generation));
        if !is_written {
            ready(cx, &object).await?;
            if let Ok(mut written) = self.0.lock() {
                written.insert(uid, generation);
            }
        }
        Ok(Action::Done)
    }
}

struct CountsWrites;

impl Reconciler<FooBar> for CountsWrites {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        if cx.apply_child(child(&object, "foobar")).await?.changed() {
            cx.patch_status(|status| {
                let writes = status.note.as_deref().and_then(|note| note.parse().ok());
                status.note = Some((writes.unwrap_or(0_u32) + 1).to_string());
            })
            .await?;
        }
        Ok(Action::Done)
    }
}
