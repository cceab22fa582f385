//! Keeps one ConfigMap for each FooBar: applies it in each reconcile, as kube-rs' examples do.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use k8s_openapi::{
    api::core::v1::ConfigMap,
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{ObjectMeta, Patch, PatchParams},
    runtime::{
        controller::Action,
        events::{Event, EventType, Recorder},
        finalizer::{Event as Finalizer, finalizer},
    },
};
use serde_json::json;

use crate::foobar::FooBar;

const FINALIZER: &str = "test.example.com/cleanup";
const MANAGER: &str = "kube-rs-operator";

pub struct Context {
    pub client: Client,
    pub recorder: Recorder,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Kube(#[from] kube::Error),
    #[error("finalizer: {0}")]
    Finalizer(#[source] Box<kube::runtime::finalizer::Error<Error>>),
}

pub async fn reconcile(foobar: Arc<FooBar>, context: Arc<Context>) -> Result<Action, Error> {
    let foobars: Api<FooBar> = Api::namespaced(context.client.clone(), &foobar.namespace().unwrap_or_default());
    finalizer(&foobars, FINALIZER, foobar, async |event| match event {
        Finalizer::Apply(foobar) => apply(&foobars, &foobar, &context).await,
        Finalizer::Cleanup(foobar) => cleanup(&foobar, &context).await,
    })
    .await
    .map_err(|error| Error::Finalizer(Box::new(error)))
}

pub fn on_error(_: Arc<FooBar>, error: &Error, _: Arc<Context>) -> Action {
    tracing::warn!("{error}");
    Action::requeue(Duration::from_secs(1))
}

async fn apply(foobars: &Api<FooBar>, foobar: &FooBar, context: &Context) -> Result<Action, Error> {
    let apply = PatchParams::apply(MANAGER).force();
    let namespace = foobar.namespace().unwrap_or_default();
    let children: Api<ConfigMap> = Api::namespaced(context.client.clone(), &namespace);
    let child = child(foobar);
    children.patch(&child.name_any(), &apply, &Patch::Apply(&child)).await?;

    let status = foobar.status.clone().unwrap_or_default();
    let before = status
        .conditions
        .into_iter()
        .find(|condition| condition.type_ == "Ready");
    let since = before
        .filter(|ready| ready.status == "True")
        .map(|ready| ready.last_transition_time);
    if since.is_none() {
        let note = Some("the ConfigMap was applied".to_owned());
        context
            .recorder
            .publish(&event("Applied", "Apply", note), &foobar.object_ref(&()))
            .await?;
    }
    let ready = Condition {
        type_: "Ready".to_owned(),
        status: "True".to_owned(),
        reason: "Applied".to_owned(),
        message: "the ConfigMap is up to date".to_owned(),
        observed_generation: foobar.metadata.generation,
        last_transition_time: since.unwrap_or_else(|| Time(Timestamp::now())),
    };
    let status = json!({
        "apiVersion": FooBar::api_version(&()),
        "kind": FooBar::kind(&()),
        "status": {"observedGeneration": foobar.metadata.generation, "conditions": [ready]},
    });
    foobars
        .patch_status(&foobar.name_any(), &apply, &Patch::Apply(&status))
        .await?;
    Ok(Action::await_change())
}

async fn cleanup(foobar: &FooBar, context: &Context) -> Result<Action, Error> {
    let note = Some("nothing is left outside the cluster".to_owned());
    context
        .recorder
        .publish(&event("CleanedUp", "Cleanup", note), &foobar.object_ref(&()))
        .await?;
    Ok(Action::await_change())
}

fn child(foobar: &FooBar) -> ConfigMap {
    let mut data = BTreeMap::from([("target".to_owned(), foobar.spec.target.clone())]);
    data.extend(
        foobar
            .spec
            .r#type
            .iter()
            .map(|value| ("type".to_owned(), value.clone())),
    );
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(format!("{}-foobar", foobar.name_any())),
            namespace: foobar.namespace(),
            owner_references: Some(foobar.controller_owner_ref(&()).into_iter().collect()),
            ..ObjectMeta::default()
        },
        data: Some(data),
        ..ConfigMap::default()
    }
}

fn event(reason: &str, action: &str, note: Option<String>) -> Event {
    Event {
        type_: EventType::Normal,
        reason: reason.into(),
        action: action.into(),
        note,
        secondary: None,
    }
}
