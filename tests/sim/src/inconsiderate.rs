//! More wrong operators: mistakes about other objects of their kind, about optional values, and about what others have added.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams},
};
use kubewright_apiserver::dev::sim::Oracle;
use kubewright_runtime::{Action, Context, Reconciler, Result};
use serde_json::json;

use crate::{
    FooBar,
    right::child,
    wrong::{Wrong, foobars, maps, owned, owning, ready, write, wrong},
};

/// All of them.
pub const ALL: [Wrong; 9] = [
    wrong(
        "keeps what an optional value has asked for",
        |m| owning(m, Merges),
        Oracle::State,
    ),
    wrong(
        "looks at the presence of an optional value, and not at the value",
        |m| owning(m, LooksAtPresence),
        Oracle::State,
    ),
    wrong("expects an optional value", |m| owning(m, Unwraps), Oracle::Panic),
    wrong(
        "deletes the children of other objects",
        |m| owning(m, DeletesSiblings),
        Oracle::HotLoop,
    ),
    wrong(
        "knows its objects by their names alone",
        |m| owning(m, Nameless::default()),
        Oracle::State,
    ),
    wrong("has one child for all objects", |m| owning(m, OneForAll), Oracle::State),
    wrong(
        "replaces the labels of its child",
        |m| owning(m, ReplacesLabels),
        Oracle::Foreign,
    ),
    wrong(
        "replaces the list of finalizers",
        |m| owning(m, ReplacesFinalizers),
        Oracle::Foreign,
    ),
    wrong("reconciles in a loop", |m| owning(m, Spins), Oracle::HotLoop),
];

/// Merges its data into the child: a value that the spec no longer has is left.
struct Merges;

impl Reconciler<FooBar> for Merges {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let wanted = owned(&object, "foobar");
        let merge = Patch::Merge(json!({"data": wanted.data}));
        match cx.child::<ConfigMap>(&wanted.name_any())? {
            Some(_) => drop(
                maps(cx)
                    .patch(&wanted.name_any(), &PatchParams::default(), &merge)
                    .await?,
            ),
            None => drop(cx.apply_child(child(&object, "foobar")).await?),
        }
        ready(cx, &object).await
    }
}

/// Writes its child when the target is another one, or when a type is set or removed.
struct LooksAtPresence;

impl Reconciler<FooBar> for LooksAtPresence {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let wanted = child(&object, "foobar");
        let data = wanted.data.clone().unwrap_or_default();
        let present = cx
            .child::<ConfigMap>(&wanted.name_any())?
            .and_then(|it| it.data.clone());
        let present = present.unwrap_or_default();
        let is_same = present.get("target") == data.get("target") && present.keys().eq(data.keys());
        if !is_same {
            cx.apply_child(wanted).await?;
        }
        ready(cx, &object).await
    }
}

struct Unwraps;

impl Reconciler<FooBar> for Unwraps {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let kind = object.spec.r#type.as_deref().expect("each object has a type");
        let mut wanted = child(&object, "foobar");
        wanted
            .data
            .get_or_insert_default()
            .insert("kind".to_owned(), kind.to_owned());
        cx.apply_child(wanted).await?;
        ready(cx, &object).await
    }
}

/// Takes each ConfigMap with its suffix for one of its own.
struct DeletesSiblings;

impl Reconciler<FooBar> for DeletesSiblings {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let wanted = child(&object, "foobar");
        let name = wanted.name_any();
        for other in maps(cx).list(&ListParams::default()).await?.items {
            if other.name_any().ends_with("-foobar") && other.name_any() != name {
                maps(cx).delete(&other.name_any(), &DeleteParams::default()).await?;
            }
        }
        cx.apply_child(wanted).await?;
        ready(cx, &object).await
    }
}

/// The namespaces of objects, by names: an object of the same name in another namespace counts as a copy.
#[derive(Default)]
struct Nameless(Mutex<BTreeMap<String, Option<String>>>);

impl Reconciler<FooBar> for Nameless {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let known = self.0.lock().ok();
        let this = object.namespace();
        let first = known.map(|mut known| known.entry(object.name_any()).or_insert(this.clone()).clone());
        if first.is_none_or(|first| first == this) {
            cx.apply_child(child(&object, "foobar")).await?;
        }
        ready(cx, &object).await
    }
}

struct OneForAll;

impl Reconciler<FooBar> for OneForAll {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let mut all = owned(&object, "foobar");
        all.metadata.name = Some("foobars".to_owned());
        write(cx, &all).await?;
        ready(cx, &object).await
    }
}

struct ReplacesLabels;

impl Reconciler<FooBar> for ReplacesLabels {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let wanted = child(&object, "foobar");
        let name = wanted.name_any();
        cx.apply_child(wanted).await?;
        let present = maps(cx).get_opt(&name).await?;
        let labels = present.and_then(|present| present.metadata.labels).unwrap_or_default();
        let strange = labels.keys().filter(|label| !label.starts_with("kubewright.dev"));
        let none: BTreeMap<_, _> = strange.map(|label| (label, None::<String>)).collect();
        if !none.is_empty() {
            let merge = Patch::Merge(json!({"metadata": {"labels": none}}));
            maps(cx).patch(&name, &PatchParams::default(), &merge).await?;
        }
        ready(cx, &object).await
    }
}

struct ReplacesFinalizers;

impl Reconciler<FooBar> for ReplacesFinalizers {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        cx.apply_child(child(&object, "foobar")).await?;
        if !object.finalizers().is_empty() {
            let merge = Patch::Merge(json!({"metadata": {"finalizers": []}}));
            foobars(cx)
                .patch(&object.name_any(), &PatchParams::default(), &merge)
                .await?;
        }
        ready(cx, &object).await
    }
}

/// Sends nothing while it waits.
struct Spins;

impl Reconciler<FooBar> for Spins {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        cx.apply_child(child(&object, "foobar")).await?;
        ready(cx, &object).await?;
        Ok(Action::RequeueAfter(Duration::from_millis(20)))
    }
}
