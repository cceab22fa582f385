//! More wrong operators: mistakes about permissions, clocks, labels and errors that do not clear.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use kubewright_apiserver::dev::sim::Oracle;
use kubewright_runtime::{Action, Class, Context, Reconciler, Result};

use crate::{
    FooBar,
    right::child,
    wrong::{Wrong, alone, maps, owned, owning, ready, write, wrong},
};

/// All of them.
pub const ALL: [Wrong; 5] = [
    wrong(
        "takes a refused permission for success",
        |m| owning(m, GivesUp),
        Oracle::State,
    ),
    wrong(
        "waits for a time in a status",
        |m| owning(m, WaitsForTime),
        Oracle::State,
    ),
    wrong(
        "never repairs the labels of its child",
        |m| alone(m, IgnoresLabels),
        Oracle::State,
    ),
    wrong(
        "requires an object that does not exist",
        |m| owning(m, Requires),
        Oracle::Failing,
    ),
    wrong(
        "repairs a constant child only when the spec changes",
        |m| owning(m, SkipsConstant),
        Oracle::State,
    ),
];

struct GivesUp;

impl Reconciler<FooBar> for GivesUp {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let outcome = async {
            cx.apply_child(child(&object, "foobar")).await?;
            ready(cx, &object).await
        };
        match outcome.await {
            Err(error) if error.class() == Class::Forbidden => Ok(Action::Done),
            outcome => outcome,
        }
    }
}

struct WaitsForTime;

impl Reconciler<FooBar> for WaitsForTime {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let note = object.status.clone().unwrap_or_default().note;
        let until = note.as_ref().and_then(|note| note.parse().ok()).unwrap_or(cx.now());
        if let Ok(wait) = Duration::try_from(until - cx.now())
            && !wait.is_zero()
        {
            return Ok(Action::RequeueAfter(wait));
        }
        let applied = cx.apply_child(child(&object, "foobar")).await?;
        if applied.changed() || note.is_none() {
            let minute = Duration::from_secs(60);
            cx.patch_status(|status| status.note = Some((cx.now() + minute).to_string()))
                .await?;
        }
        Ok(Action::Done)
    }
}

struct IgnoresLabels;

impl Reconciler<FooBar> for IgnoresLabels {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let mut wanted = owned(&object, "foobar");
        wanted.metadata.labels = Some(BTreeMap::from([("app".to_owned(), object.name_any())]));
        let present: Option<ConfigMap> = maps(cx).get_opt(&wanted.name_any()).await?;
        if present.is_none_or(|present| present.data != wanted.data) {
            write(cx, &wanted).await?;
        }
        ready(cx, &object).await?;
        Ok(Action::RequeueAfter(Duration::from_secs(30)))
    }
}

struct Requires;

impl Reconciler<FooBar> for Requires {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        cx.apply_child(child(&object, "foobar")).await?;
        maps(cx).get("settings").await?;
        ready(cx, &object).await
    }
}

/// Looks whether its child exists, and not what it contains.
struct SkipsConstant;

impl Reconciler<FooBar> for SkipsConstant {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let mut wanted = child(&object, "foobar");
        wanted.data = Some(BTreeMap::from([("mode".to_owned(), "strict".to_owned())]));
        let observed = object.status.as_ref().and_then(|status| status.observed_generation);
        let is_there = cx.child::<ConfigMap>(&wanted.name_any())?.is_some();
        if is_there && observed == object.metadata.generation {
            return Ok(Action::Done);
        }
        cx.apply_child(wanted).await?;
        ready(cx, &object).await
    }
}
