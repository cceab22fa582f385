//! Wrong operators: each has one mistake that operators in the wild have had.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use kubewright_apiserver::dev::sim::Oracle;
use kubewright_runtime::{Action, Cleanup, Conditions, Context, Controller, Manager, ObjectKey, Reconciler, Result};
use serde_json::json;

use crate::{FooBar, right::child};

/// A wrong operator.
pub struct Wrong {
    /// Its mistake.
    pub name: &'static str,
    /// Its controllers.
    pub register: crate::Register,
    /// The rule that a simulation finds broken.
    pub oracle: Oracle,
}

/// Those of this file.
pub const ALL: [Wrong; 19] = [
    wrong(
        "remembers instead of observing",
        |m| owning(m, Remembering::default()),
        Oracle::State,
    ),
    wrong("creates without an owner", |m| alone(m, Ownerless), Oracle::Leftover),
    wrong(
        "writes the status before the work",
        |m| owning(m, StatusFirst),
        Oracle::State,
    ),
    wrong(
        "names that are not idempotent",
        |m| alone(m, UnstableName),
        Oracle::State,
    ),
    wrong("swallows errors", |m| owning(m, Swallowing), Oracle::State),
    wrong("does not watch its child", |m| alone(m, Unwatching), Oracle::State),
    wrong(
        "removes the finalizer before the cleanup",
        |m| alone(m, EarlyFinalizer),
        Oracle::Leftover,
    ),
    wrong(
        "writes the time into the status in a loop",
        |m| alone(m, Clock(10)),
        Oracle::HotLoop,
    ),
    wrong(
        "writes the time into the status for ever",
        |m| alone(m, Clock(20_000)),
        Oracle::Quiet,
    ),
    wrong("replaces the whole status", |m| owning(m, Overwriting), Oracle::Foreign),
    wrong(
        "reports a generation that it did not apply",
        |m| owning(m, ClaimsNewer),
        Oracle::State,
    ),
    wrong(
        "reports the first generation for ever",
        |m| owning(m, FirstGeneration),
        Oracle::Generation,
    ),
    wrong(
        "cleans up what it remembers",
        |m| alone(m, ForgetfulCleanup::default()),
        Oracle::Leftover,
    ),
    wrong("deletes by an old list", |m| owning(m, StalePruning), Oracle::State),
    wrong("expects the child to exist", |m| owning(m, Expecting), Oracle::Panic),
    wrong(
        "deletes what begins with its name",
        |m| owning(m, Prefixes),
        Oracle::Foreign,
    ),
    wrong(
        "a cleanup that fails the second time",
        |m| alone(m, CleanupOnce),
        Oracle::Finalizer,
    ),
    wrong("ignores changes of the spec", |m| owning(m, FirstSpec), Oracle::State),
    wrong("two controllers write one field", fighting, Oracle::HotLoop),
];

pub(crate) const fn wrong(name: &'static str, register: crate::Register, oracle: Oracle) -> Wrong {
    Wrong { name, register, oracle }
}

pub(crate) fn owning(manager: &Manager, reconciler: impl Reconciler<FooBar>) -> Result<()> {
    Controller::<FooBar>::new("foobar")
        .owns::<ConfigMap>()
        .register(manager, reconciler)
}

pub(crate) fn alone(manager: &Manager, reconciler: impl Reconciler<FooBar>) -> Result<()> {
    Controller::<FooBar>::new("foobar").register(manager, reconciler)
}

pub(crate) fn maps(cx: &Context<FooBar>) -> Api<ConfigMap> {
    Api::namespaced(cx.client().clone(), cx.namespace())
}

pub(crate) fn foobars(cx: &Context<FooBar>) -> Api<FooBar> {
    Api::namespaced(cx.client().clone(), cx.namespace())
}

/// A child with an owner, for those that write it by themselves.
pub(crate) fn owned(object: &FooBar, suffix: &str) -> ConfigMap {
    let mut child = child(object, suffix);
    child.metadata.owner_references = Some(vec![
        kube::Resource::controller_owner_ref(object, &()).unwrap_or_default(),
    ]);
    child
}

pub(crate) async fn write(cx: &Context<FooBar>, child: &ConfigMap) -> Result<()> {
    let apply = PatchParams::apply("wrong").force();
    maps(cx).patch(&child.name_any(), &apply, &Patch::Apply(child)).await?;
    Ok(())
}

/// Reports the present generation and that all is well.
pub(crate) async fn ready(cx: &Context<FooBar>, object: &FooBar) -> Result<Action> {
    let ready = cx.condition("Ready", true, "Applied", "all is well");
    cx.patch_status(|status| {
        status.observed_generation = object.metadata.generation;
        status.conditions.set(ready);
    })
    .await?;
    Ok(Action::Done)
}

fn is_observed(object: &FooBar) -> bool {
    let status = object.status.as_ref();
    status.is_some_and(|status| status.observed_generation == object.metadata.generation)
}

#[derive(Default)]
struct Remembering(Mutex<BTreeSet<(String, Option<i64>)>>);

impl Reconciler<FooBar> for Remembering {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let this = (object.uid().unwrap_or_default(), object.metadata.generation);
        let is_known = self.0.lock().is_ok_and(|known| known.contains(&this));
        if !is_known {
            cx.apply_child(child(&object, "foobar")).await?;
            if let Ok(mut known) = self.0.lock() {
                known.insert(this);
            }
        }
        ready(cx, &object).await
    }
}

struct Ownerless;

impl Reconciler<FooBar> for Ownerless {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        polling(cx, &object).await
    }
}

struct StatusFirst;

impl Reconciler<FooBar> for StatusFirst {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let exists = cx.child::<ConfigMap>("sample-foobar")?.is_some();
        if is_observed(&object) && (exists || object.status.is_none()) {
            // Repairs a child that was edited.
            cx.apply_child(child(&object, "foobar")).await?;
            return Ok(Action::Done);
        }
        let action = ready(cx, &object).await?;
        if cx.apply_child(child(&object, "foobar")).await.is_err() {
            return Ok(Action::Done);
        }
        Ok(action)
    }
}

struct UnstableName;

impl Reconciler<FooBar> for UnstableName {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let status = object.status.clone().unwrap_or_default();
        if status.note.is_none() {
            let mut child = owned(&object, "foobar");
            child.metadata.name = None;
            child.metadata.generate_name = Some("sample-".to_owned());
            maps(cx).create(&PostParams::default(), &child).await?;
            cx.patch_status(|status| status.note = Some("created".to_owned()))
                .await?;
        }
        Ok(Action::Done)
    }
}

struct Swallowing;

impl Reconciler<FooBar> for Swallowing {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let _ = cx.apply_child(child(&object, "foobar")).await;
        ready(cx, &object).await
    }
}

struct Unwatching;

impl Reconciler<FooBar> for Unwatching {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        write(cx, &owned(&object, "foobar")).await?;
        ready(cx, &object).await
    }
}

struct EarlyFinalizer;

impl Reconciler<FooBar> for EarlyFinalizer {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/cleanup")
    }

    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        polling(cx, &object).await
    }

    async fn cleanup(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Cleanup> {
        let none = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        foobars(cx)
            .patch(&object.name_any(), &PatchParams::default(), &none)
            .await?;
        let _ = maps(cx).delete(&external(&object), &DeleteParams::default()).await;
        Ok(Cleanup::Done)
    }
}

fn external(object: &FooBar) -> String {
    child(object, "external").name_any()
}

/// Keeps something that is not watched, as a system outside of the cluster.
async fn polling(cx: &Context<FooBar>, object: &FooBar) -> Result<Action> {
    let wanted = child(object, "external");
    let present = maps(cx).get_opt(&wanted.name_any()).await?;
    if present.is_none_or(|present| present.data != wanted.data) {
        write(cx, &wanted).await?;
    }
    ready(cx, object).await?;
    Ok(Action::RequeueAfter(Duration::from_secs(30)))
}

/// Writes the status after each of these milliseconds.
struct Clock(u64);

impl Reconciler<FooBar> for Clock {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let now = object.metadata.resource_version.clone();
        cx.patch_status(|status| status.note = now).await?;
        Ok(Action::RequeueAfter(Duration::from_millis(self.0)))
    }
}

struct Overwriting;

impl Reconciler<FooBar> for Overwriting {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        cx.apply_child(child(&object, "foobar")).await?;
        if is_observed(&object) {
            return Ok(Action::Done);
        }
        let mut changed = FooBar::clone(&object);
        let status = changed.status.insert(Default::default());
        status.observed_generation = object.metadata.generation;
        status.conditions = vec![cx.condition("Ready", true, "Applied", "all is well")];
        foobars(cx)
            .replace_status(&object.name_any(), &PostParams::default(), &changed)
            .await?;
        Ok(Action::Done)
    }
}

struct ClaimsNewer;

impl Reconciler<FooBar> for ClaimsNewer {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let exists = cx.child::<ConfigMap>("sample-foobar")?;
        let is_same = exists.is_some_and(|exists| exists.data == child(&object, "foobar").data);
        if is_observed(&object) && is_same {
            return Ok(Action::Done);
        }
        cx.apply_child(child(&object, "foobar")).await?;
        // By now the spec may be another one.
        let newest = cx.live().await?;
        let generation = newest.and_then(|newest| newest.metadata.generation);
        cx.patch_status(|status| {
            status.observed_generation = generation;
            status.note = Some(object.spec.target.clone());
        })
        .await?;
        Ok(Action::Done)
    }
}

struct FirstGeneration;

impl Reconciler<FooBar> for FirstGeneration {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        cx.apply_child(child(&object, "foobar")).await?;
        cx.patch_status(|status| {
            status
                .observed_generation
                .get_or_insert(object.metadata.generation.unwrap_or_default());
        })
        .await?;
        Ok(Action::Done)
    }
}

#[derive(Default)]
struct ForgetfulCleanup(Mutex<BTreeSet<String>>);

impl Reconciler<FooBar> for ForgetfulCleanup {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/cleanup")
    }

    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        if let Ok(mut names) = self.0.lock() {
            names.insert(external(&object));
        }
        polling(cx, &object).await
    }

    async fn cleanup(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Cleanup> {
        let names = self.0.lock().map(|names| names.clone()).unwrap_or_default();
        for name in names {
            let _ = maps(cx).delete(&name, &DeleteParams::default()).await;
        }
        Ok(Cleanup::Done)
    }

    fn deleted(&self, _: &ObjectKey) {
        if let Ok(mut names) = self.0.lock() {
            names.clear();
        }
    }
}

struct StalePruning;

impl Reconciler<FooBar> for StalePruning {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let wanted = child(&object, &object.spec.target);
        let name = wanted.name_any();
        cx.apply_child(wanted).await?;
        for other in maps(cx).list(&ListParams::default()).await?.items {
            let is_its = other
                .owner_references()
                .iter()
                .any(|owner| owner.name == object.name_any());
            if is_its && other.name_any() != name {
                let _ = maps(cx).delete(&other.name_any(), &DeleteParams::default()).await;
            }
        }
        ready(cx, &object).await
    }
}

struct Expecting;

impl Reconciler<FooBar> for Expecting {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let wanted = child(&object, "foobar");
        if is_observed(&object) {
            let present = cx.child::<ConfigMap>(&wanted.name_any())?.expect("it was created");
            if present.data == wanted.data {
                return Ok(Action::Done);
            }
        }
        cx.apply_child(wanted).await?;
        ready(cx, &object).await
    }
}

struct Prefixes;

impl Reconciler<FooBar> for Prefixes {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let wanted = child(&object, "foobar");
        let name = wanted.name_any();
        cx.apply_child(wanted).await?;
        for other in maps(cx).list(&ListParams::default()).await?.items {
            if other.name_any().starts_with(&object.name_any()) && other.name_any() != name {
                maps(cx).delete(&other.name_any(), &DeleteParams::default()).await?;
            }
        }
        ready(cx, &object).await
    }
}

struct CleanupOnce;

impl Reconciler<FooBar> for CleanupOnce {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/cleanup")
    }

    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        polling(cx, &object).await
    }

    async fn cleanup(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Cleanup> {
        maps(cx).delete(&external(&object), &DeleteParams::default()).await?;
        Ok(Cleanup::Done)
    }
}

struct FirstSpec;

impl Reconciler<FooBar> for FirstSpec {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        if cx.child::<ConfigMap>("sample-foobar")?.is_none() {
            cx.apply_child(child(&object, "foobar")).await?;
        }
        ready(cx, &object).await
    }
}

/// Writes its own value into one field.
struct Insisting(&'static str);

fn fighting(manager: &Manager) -> Result<()> {
    for name in ["one", "two"] {
        Controller::<FooBar>::new(name).register(manager, Insisting(name))?;
    }
    Ok(())
}

impl Reconciler<FooBar> for Insisting {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        let merge = Patch::Merge(json!({"metadata": {"annotations": {"test.example.com/by": self.0}}}));
        foobars(cx)
            .patch(cx.key().name(), &PatchParams::default(), &merge)
            .await?;
        Ok(Action::Done)
    }
}
