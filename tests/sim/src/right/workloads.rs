//! Operators that run something.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        batch::v1::{Job, JobSpec},
        core::v1::{Container, EnvVar, PodSpec, PodTemplateSpec},
    },
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};
use kube::{ResourceExt, api::ObjectMeta};
use kubewright_runtime::{Action, Completion, Conditions, Context, Controller, Manager, Reconciler, Result, Rollout};

use super::named;
use crate::{FooBar, wrong::ready};

/// Pods with these labels, which get the target of the spec.
fn pods(object: &FooBar, labels: Option<BTreeMap<String, String>>) -> PodTemplateSpec {
    let target = EnvVar {
        name: "TARGET".to_owned(),
        value: Some(object.spec.target.clone()),
        ..EnvVar::default()
    };
    let container = Container {
        name: "main".to_owned(),
        image: Some("image".to_owned()),
        env: Some(vec![target]),
        ..Container::default()
    };
    PodTemplateSpec {
        metadata: Some(ObjectMeta {
            labels: labels.clone(),
            ..ObjectMeta::default()
        }),
        spec: Some(PodSpec {
            containers: vec![container],
            restart_policy: labels.is_none().then(|| "Never".to_owned()),
            ..PodSpec::default()
        }),
    }
}

fn job(object: &FooBar, suffix: &str) -> Job {
    Job {
        metadata: named(&object.name_any(), suffix),
        spec: Some(JobSpec {
            backoff_limit: Some(2),
            template: pods(object, None),
            ..JobSpec::default()
        }),
        ..Job::default()
    }
}

pub(super) fn deploys(manager: &Manager) -> Result<()> {
    Controller::<FooBar>::new("foobar")
        .owns::<Deployment>()
        .register(manager, Deploys)
}

struct Deploys;

impl Reconciler<FooBar> for Deploys {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let labels = BTreeMap::from([("app".to_owned(), object.name_any())]);
        let wanted = Deployment {
            metadata: named(&object.name_any(), "main"),
            spec: DeploymentSpec {
                replicas: Some(2),
                selector: LabelSelector {
                    match_labels: Some(labels.clone()),
                    ..LabelSelector::default()
                },
                template: pods(&object, Some(labels)),
                ..DeploymentSpec::default()
            },
            ..Deployment::default()
        };
        let name = wanted.name_any();
        cx.apply_child(wanted).await?;
        let deployment = cx.child::<Deployment>(&name)?;
        let rollout = deployment.map(|deployment| Rollout::of(&*deployment));
        let is_done = matches!(rollout, Some(Rollout::Complete));
        let condition = cx.condition("Ready", is_done, if is_done { "Available" } else { "Progressing" }, "");
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.conditions.set(condition);
        })
        .await?;
        Ok(Action::Done)
    }
}

pub(super) fn runs(manager: &Manager) -> Result<()> {
    let controller = Controller::<FooBar>::new("foobar").owns::<Job>().prunes::<Job>();
    controller.register(manager, Runs)
}

/// Names its Job after the spec: another spec is another run.
struct Runs;

impl Reconciler<FooBar> for Runs {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let wanted = job(&object, &object.spec.target);
        let name = wanted.name_any();
        cx.create_once(wanted).await?;
        cx.prune_children::<Job>(&[&name]).await?;
        let completion = cx.child::<Job>(&name)?.map(|job| Completion::of(&job));
        let is_done = completion == Some(Completion::Complete);
        let condition = cx.condition("Ready", is_done, if is_done { "Complete" } else { "Running" }, "");
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.conditions.set(condition);
        })
        .await?;
        Ok(Action::Done)
    }
}

pub(super) fn runs_once(manager: &Manager) -> Result<()> {
    let controller = Controller::<FooBar>::new("foobar").owns::<Job>();
    controller.register(manager, RunsOnce)
}

/// What has ended is not run again, also if its Job is deleted or the spec is another one.
struct RunsOnce;

impl Reconciler<FooBar> for RunsOnce {
    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        let has_ended = object.status.as_ref().is_some_and(|status| status.note.is_some());
        if has_ended {
            return ready(cx, &object).await;
        }
        let mut wanted = job(&object, "run");
        wanted.spec.get_or_insert_default().template = pods(&FooBar::new("", Default::default()), None);
        let name = wanted.name_any();
        cx.create_once(wanted).await?;
        let completion = cx.child::<Job>(&name)?.map(|job| Completion::of(&job));
        if completion != Some(Completion::Complete) {
            return Ok(Action::Done);
        }
        cx.patch_status(|status| status.note = Some("Complete".to_owned()))
            .await?;
        ready(cx, &object).await
    }
}
